"""Researches as results, cut to fit into an answer; the whole report is kept as a file."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from vr_kernel import Call, VrError, fit

from vr_plugin_research.interactions.interaction import Interaction
from vr_plugin_research.results.web import WebResearch

MOST_TOKENS = 3_800
SHORTER = (14_000, 12_000, 10_000, 8_000, 6_000, 4_000, 2_000, 1_000)
"""Characters of a report that is cut, the most that fit."""
MOST_SOURCES = 12
"""Pages of a report that is cut."""


async def result_of(call: Call, interaction: Interaction) -> WebResearch:
    """Return the result of a tool, with the address of the whole report where it was cut."""
    whole = WebResearch(
        interaction_id=interaction.id,
        status=interaction.state,
        topic=interaction.topic,
        created=interaction.created,
        follows=interaction.follows,
        report=interaction.text,
        report_uri=interaction.whole_uri,
        sources=interaction.sources,
        problem=interaction.problem,
        model=interaction.model,
        usage=interaction.usage,
    )
    cut = await asyncio.to_thread(fit, whole, _shorter(whole), MOST_TOKENS)
    if cut is whole and interaction.chars <= len(whole.report):
        return whole
    uri = whole.report_uri or await asyncio.to_thread(_kept, call, whole)
    return cut.model_copy(update={"report_uri": uri, "limits": _limits(interaction, cut, uri)})


def _shorter(whole: WebResearch) -> Iterator[WebResearch]:
    topic = whole.topic[:500]
    short = whole.model_copy(update={"sources": whole.sources[:MOST_SOURCES], "topic": topic})
    yield short
    for chars in SHORTER:
        if chars < len(whole.report):
            yield short.model_copy(update={"report": _beginning(whole.report, chars)})


def _beginning(text: str, chars: int) -> str:
    """The beginning of a text, up to the end of a paragraph if one is near, or of a word."""
    head = text[:chars]
    for end in ("\n\n", "\n", " "):
        at = head.rfind(end)
        if at > chars // 2:
            return head[:at].rstrip()
    return head


def _limits(whole: Interaction, cut: WebResearch, uri: str) -> list[str]:
    parts = [
        f"{name}: {shown:,} of {there:,}"
        for name, shown, there in (
            ("characters of the report", len(cut.report), whole.chars),
            ("sources", len(cut.sources), len(whole.sources)),
        )
        if shown < there
    ]
    where = "; all of it is in report_uri" if uri else ""
    return [f"Shortened ({', '.join(parts) or 'topic'}){where}."]


def _kept(call: Call, whole: WebResearch) -> str:
    """The address of a file with the report and its sources; empty when it cannot be kept."""
    listed = "".join(f"{n}. [{it.title}]({it.url})\n" for n, it in enumerate(whole.sources, 1))
    sources = f"\n\n## Sources\n\n{listed}" if listed else ""
    try:
        return call.artifact(f"{whole.report}{sources}".encode(), "text/markdown").uri
    except VrError as error:
        call.note(f"The whole report was not kept as a file: {error.told}")
        return ""
