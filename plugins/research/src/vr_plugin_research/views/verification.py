"""The view of a report that was checked again: what still stands, and what changed."""

from __future__ import annotations

from collections.abc import Iterator

from vr_kernel import Services
from vr_kernel.views import Action, Block, Cell, Prose, Table, View, view

from vr_plugin_research.results.claims import Verdict
from vr_plugin_research.results.verification import CitationCheck, Verification
from vr_plugin_research.views.parts import counted, score_words, told

UNCHANGED = "Every check came out as it did when the report was written."
WORDS: dict[Verdict, str] = {
    "verified": "found",
    "moved": "found elsewhere",
    "not_found": "not found",
    "unchecked": "not checked",
}
"""The result of the check of a quote, in a word or two."""


@view(tool="research_verify")
async def show_verification(services: Services, checked: Verification) -> View:
    """Show the checks of a report that were made again."""
    return View(
        checked.topic.strip() or "Report",
        list(_blocks(checked)),
        _about(checked),
        notes=checked.limits,
    )


def _about(checked: Verification) -> list[str]:
    return told(
        [
            "fetched and checked again" if checked.refreshed else "checked again",
            f"{checked.stand:,} of {counted(checked.claims, 'claim')} stand",
            score_words(checked.score),
        ]
    )


def _blocks(checked: Verification) -> Iterator[Block]:
    if not (checked.changed_claims or checked.changed_citations):
        yield Prose(UNCHANGED)
    claims: list[list[Cell]] = [
        [f"{each.claim}: {each.text}", each.change, each.tier_before, each.tier_now]
        for each in checked.changed_claims
    ]
    if claims:
        columns = ["Claim", "Evidence", "Tier before", "Tier now"]
        yield Table(columns, claims, title="Claims that changed")
    quotes = [_row(each) for each in checked.changed_citations]
    if quotes:
        columns = ["Claim", "Source", "Quote", "Before", "Now", "Reason"]
        yield Table(columns, quotes, title="Quotes that changed", detail=bool(claims))
    if not checked.refreshed:
        again = {"report_id": checked.report_id, "refresh": True}
        yield Action("research_verify", again, title="Fetch the sources again")


def _row(check: CitationCheck) -> list[Cell]:
    place = f" {check.place}" if check.place else ""
    return [
        check.claim,
        f"S{check.source}{place}",
        check.quote,
        WORDS[check.before],
        WORDS[check.now],
        check.reason,
    ]
