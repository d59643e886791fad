"""Checks claims against the passages that they cite."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel
from vr_kernel import Passage, QuoteIndex, find_in

from vr_plugin_knowledge.answering.passages import SourcePassage
from vr_plugin_knowledge.answering.results import AnswerCitation, AnswerClaim, AnswerSource
from vr_plugin_knowledge.excerpts import cut

MOST_CLAIMS = 12
MOST_CITATIONS = 4
CLAIM_CHARS = 800
QUOTE_CHARS = 400
SHORTEST_QUOTE = 8
"""Letters and digits; a shorter quote is found in nearly any text and proves nothing."""
UNSUPPORTED = "[unsupported]"
_SAME = 0.5


class DraftCitation(BaseModel):
    """A quote as the model gives it."""

    passage: int
    quote: str


class DraftClaim(BaseModel):
    """A sentence as the model gives it."""

    text: str
    citations: list[DraftCitation]


class PassageCheck:
    """Passages, indexed to look quotes up. Building it takes a moment: use a thread."""

    def __init__(self, passages: Sequence[SourcePassage]) -> None:
        # One index each, so that no quote spans two records.
        self._indexes = [
            QuoteIndex([Passage(p.text, p.source.number, p.source.number)]) for p in passages
        ]

    def check(self, drafts: Sequence[DraftClaim]) -> list[AnswerClaim]:
        """The claims, each with its citations checked; empty ones are left out."""
        said = [draft for draft in drafts if draft.text.strip()][:MOST_CLAIMS]
        return [self._claim(draft) for draft in said]

    def _claim(self, draft: DraftClaim) -> AnswerClaim:
        citations = [self._citation(cited) for cited in draft.citations[:MOST_CITATIONS]]
        return AnswerClaim(
            text=cut(draft.text.strip(), CLAIM_CHARS),
            supported=any(cited.verdict in ("verified", "moved") for cited in citations),
            citations=citations,
        )

    def _citation(self, cited: DraftCitation) -> AnswerCitation:
        shown = cut(cited.quote, QUOTE_CHARS)
        if sum(map(str.isalnum, cited.quote)) < SHORTEST_QUOTE:
            return AnswerCitation(source=cited.passage, quote=shown, verdict="unchecked", score=0.0)
        found = find_in(self._indexes, cited.quote, cited.passage, _SAME)
        moved = found.verdict == "moved"
        return AnswerCitation(
            source=found.index + 1 if moved else cited.passage,
            quote=shown,
            verdict=found.verdict,
            score=round(found.score, 3),
        )


def compose(claims: Sequence[AnswerClaim]) -> str:
    """The answer as text, each claim with the numbers of its sources."""
    return " ".join(f"{claim.text} {_marks(claim)}" for claim in claims)


def cited_sources(
    claims: Sequence[AnswerClaim], passages: Sequence[SourcePassage]
) -> list[AnswerSource]:
    """The records in which a quote was found, by their numbers."""
    numbers = {number for claim in claims for number in _found(claim)}
    return [passage.source for passage in passages if passage.source.number in numbers]


def _marks(claim: AnswerClaim) -> str:
    return "".join(f"[{number}]" for number in _found(claim)) or UNSUPPORTED


def _found(claim: AnswerClaim) -> list[int]:
    found = (cited for cited in claim.citations if cited.verdict in ("verified", "moved"))
    return sorted({cited.source for cited in found})
