"""Records that models wrote: shown after the sources they are derived from, and never evidence."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel
from vr_kernel import RecordKind, StoredRecord

from vr_plugin_knowledge.excerpts import cut

Derived = Literal["after", "mixed", "exclude"]
MOST_SOURCES = 3
QUOTE_CHARS = 160
LIKE = 1 / 3
_WORD = re.compile(r"\w{3,}")


class DerivedSource(BaseModel):
    """Words of a source that a derived record rests on; `link` opens it there."""

    quote: str = ""
    link: str = ""


def place_derived(
    kinds: Sequence[RecordKind], named: Collection[str] | None, how: Derived
) -> tuple[list[RecordKind], frozenset[str]]:
    """The kinds to search, and the names of those whose hits come last.

    A derived kind that was asked for by name is ranked with the sources.
    """
    if how == "exclude":
        return sources_among(kinds), frozenset()
    last = {kind.name for kind in kinds if kind.derived} if how == "after" else set()
    return list(kinds), frozenset(last.difference(named or ()))


def sources_among(kinds: Sequence[RecordKind]) -> list[RecordKind]:
    """The kinds whose records a claim may be quoted from."""
    return [kind for kind in kinds if not kind.derived]


def evidence_among(
    kinds: Sequence[RecordKind], named: Collection[str] | None, notes: list[str]
) -> list[RecordKind]:
    """The sources among the kinds to answer from; derived ones that were named are noted."""
    if vain := [kind.name for kind in kinds if kind.derived and kind.name in (named or ())]:
        notes.append(f"Not read: {', '.join(vain)}. What a model wrote is no evidence.")
    return sources_among(kinds)


def sources_of(record: StoredRecord) -> list[DerivedSource]:
    """The first sources that a derived record names."""
    return [
        DerivedSource(quote=str(cut(each.quote, QUOTE_CHARS)), link=each.link)
        for each in named_sources(record.provenance)[:MOST_SOURCES]
    ]


def named_sources(provenance: Mapping[str, Any]) -> tuple[DerivedSource, ...]:
    """All sources that the provenance of a derived record names."""
    named = provenance.get("sources")
    entries = named if isinstance(named, list) else []
    return tuple(
        DerivedSource(quote=str(entry.get("quote") or ""), link=str(entry.get("link") or ""))
        for entry in entries
        if isinstance(entry, dict)
    )


def nearest_source(sources: Sequence[DerivedSource], text: str) -> DerivedSource | None:
    """The source most similar to a text in words; None when none shares a third of its words."""
    words = _words(text)
    scores = [(len(words & _words(each.quote)), each) for each in sources]
    most, best = max(scores, key=lambda score: score[0], default=(0, None))
    return best if words and most >= len(words) * LIKE else None


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
