"""Trials of the quote check: what becomes of true quotes, of moved ones and of invented ones."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from quote_damage import Damage, damaged
from quote_inventions import Invention, Text, invented
from vr_kernel.quoting.quotes import Passage, QuoteIndex

PASSAGE_S, TOLERANCE_S = 100.0, 110.0
"""Seconds of a passage, and those between a claim in its middle and a quote that runs over it."""
FAR = 100_000.0
TRIED = 30
"""Sentences that are tried for one invention; few have a number or a negation."""
_JOINED = 3
_COLUMNS = (Damage.COLUMNS, Damage.UNBROKEN, Damage.ACROSS)


@dataclass
class Tally:
    """Counts of one kind, and the quotes that were judged wrongly."""

    tried: int = 0
    refused: int = 0
    unmoved: int = 0
    believed: int = 0
    wrong: list[str] = field(default_factory=list)


def try_true(kind: Damage, texts: Sequence[Text], count: int, rng: random.Random) -> Tally:
    """Look up true quotes with damage, at their place and claimed to be far away."""
    tally = Tally()
    while tally.tried < count:
        sentences = rng.choice(texts).sentences
        size = _JOINED + (kind in _COLUMNS)
        first, other = sorted(rng.sample(range(len(sentences) - size), 2))
        if other - first < size:
            continue
        words, beside = (" ".join(sentences[at : at + size]).split() for at in (first, other))
        quote = damaged(kind, words, beside, rng)
        # The column beside is on the same page, and so it is nowhere else.
        column = range(other, other + size) if kind in _COLUMNS else ()
        rest = [
            it for at, it in enumerate(sentences[first + size :], first + size) if at not in column
        ]
        pages = [*sentences[:first], quote.text, *rest]
        index = QuoteIndex(in_order(pages))
        middle = (first + 0.5) * PASSAGE_S
        found = index.find(quote.quote, middle, TOLERANCE_S)
        moved = index.find(quote.quote, middle + FAR, TOLERANCE_S)
        # It may stand in two places of a real text, and be as good in either.
        right = moved.passage is not None and (
            abs(moved.passage - first) <= 1 or moved.score >= found.score
        )
        tally.tried += 1
        tally.refused += found.verdict != "verified"
        tally.unmoved += found.verdict == "verified" and not (moved.verdict == "moved" and right)
        if found.verdict != "verified":
            tally.wrong.append(f"{quote.quote} | {quote.text}")
    return tally


def try_invented(kind: Invention, texts: Sequence[Text], count: int, rng: random.Random) -> Tally:
    """Look up quotes that nobody said, claimed to be anywhere; fewer when texts have no more."""
    tally = Tally()
    indexes: dict[int, QuoteIndex] = {}
    for _ in range(count * TRIED):
        if tally.tried == count:
            break
        at = rng.randrange(len(texts))
        quote = invented(kind, texts[at], rng)
        if quote is None:
            continue
        index = indexes.get(at) or indexes.setdefault(at, QuoteIndex(in_order(texts[at].sentences)))
        claimed = rng.randrange(len(texts[at].sentences)) * PASSAGE_S
        found = index.find(quote, claimed, TOLERANCE_S)
        tally.tried += 1
        if found.verdict in ("verified", "moved"):
            tally.believed += 1
            tally.wrong.append(f"{quote} | {found.text}")
    return tally


def in_order(texts: Sequence[str]) -> list[Passage]:
    """Texts as passages of equal length."""
    return [Passage(it, n * PASSAGE_S, (n + 1) * PASSAGE_S) for n, it in enumerate(texts)]
