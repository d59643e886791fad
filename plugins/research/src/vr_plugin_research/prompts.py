"""Prompts that start a piece of research."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import prompt


@prompt
def research_question(
    question: Annotated[str, Field(description="What you want to know")],
    documents: Annotated[str, Field(description="Paths or addresses, one a line, if any")] = "",
) -> str:
    """Research a question, and show how well each answer stands."""
    given = f" Give these as documents:\n{documents}\n" if documents.strip() else " "
    return (
        f"Research this with research_deep: {question}{given}"
        "Show me its plan first with research_plan, with what it may cost, and wait until I agree"
        " or change it; then pass the plan on. Report the claims by their tier, the quote and the"
        " place of each, what contradicts, and what could not be established. Say of a quote that"
        " was not found that it was not, and never repeat its claim as a fact."
    )


@prompt
def research_claim(
    claim: Annotated[str, Field(description="The statement to hold against sources")],
    sources: Annotated[str, Field(description="Paths, addresses or ids of records, one a line")],
) -> str:
    """Hold a claim against sources."""
    return (
        f"Hold this claim against its sources with research_assess_evidence: {claim}\n"
        f"Sources:\n{sources}\n"
        "Give the tier, then what supports it and what contradicts it, each with its quote and its"
        " place, and what would have to be known to be sure."
    )


@prompt
def research_check(
    report_id: Annotated[str, Field(description="The report that is checked again")],
) -> str:
    """Check a report again, first by its kept sources, then by the sources as they are now."""
    return (
        f"Check the report {report_id} with research_verify, and then with refresh=true. Tell me"
        " which claims still stand, which changed or went stale, and which sources are gone."
    )
