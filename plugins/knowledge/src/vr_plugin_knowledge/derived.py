"""What models wrote: shown behind the sources that it is made of, and never evidence."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal

from pydantic import BaseModel
from vr_kernel import RecordKind, StoredRecord

from vr_plugin_knowledge.excerpts import cut

Derived = Literal["after", "mixed", "exclude"]
MOST_SOURCES = 3
QUOTE_CHARS = 160


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
    """The sources among the kinds to answer from; those that were named in vain are noted."""
    if vain := [kind.name for kind in kinds if kind.derived and kind.name in (named or ())]:
        notes.append(f"Not read: {', '.join(vain)}. What a model wrote is no evidence.")
    return sources_among(kinds)


def sources_of(record: StoredRecord) -> list[DerivedSource]:
    """The first sources that a derived record names."""
    named: Any = record.provenance.get("sources")
    entries = named if isinstance(named, list) else []
    return [
        DerivedSource(
            quote=str(cut(str(entry.get("quote") or ""), QUOTE_CHARS)),
            link=str(entry.get("link") or ""),
        )
        for entry in entries[:MOST_SOURCES]
        if isinstance(entry, dict)
    ]
