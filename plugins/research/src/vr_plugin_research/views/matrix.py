"""Claims against sources: what each source says of each claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vr_kernel import visible_line
from vr_kernel.views import Block, Link, Matrix

from vr_plugin_research.results.claims import Citation
from vr_plugin_research.results.report import ResearchReport
from vr_plugin_research.views.claims import claim_words, ordered
from vr_plugin_research.views.places import address_of

MOST_CELLS = 5_000
CLAIM_CHARS = 100


def matrix(report: ResearchReport) -> list[Block]:
    """Claims in rows, and in columns the sources that they quote; nothing when it is too large."""
    numbers = sorted({each.source for claim in report.findings for each in claim.citations})
    if not numbers or len(numbers) * len(report.findings) > MOST_CELLS:
        return []
    known = {source.number: source.source for source in report.sources}
    claims = [claim for claim in ordered(report.findings) if claim.citations]
    return [
        Matrix(
            [visible_line(claim_words(claim), CLAIM_CHARS) for claim in claims],
            [Link(address_of(known.get(number, "")), f"S{number}") for number in numbers],
            [[_cell(claim.citations, number) for number in numbers] for claim in claims],
            title="Claims and sources",
            detail=True,
        )
    ]


def _cell(citations: Sequence[Citation], number: int) -> str:
    of_source = [each for each in citations if each.source == number]
    return ", ".join(dict.fromkeys(_words(of_source)))


def _words(citations: Sequence[Citation]) -> Iterator[str]:
    for each in citations:
        unchecked = " (unchecked)" if each.status == "unchecked" else ""
        yield "not found" if each.status == "not_found" else f"{each.stance}{unchecked}"
