"""The collections of all plugins, as the tools name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vr_kernel import Code, RecordField, RecordKind, VrError, did_you_mean

ALL = "all"
_EXAMPLES: Mapping[str, Any] = {
    "int": 1,
    "number": 0.5,
    "date": "2026-01-31T12:00:00Z",
    "bool": True,
}


def find_kinds(kinds: Mapping[str, RecordKind], names: Sequence[str] | None) -> list[RecordKind]:
    """The named collections in the order given, each once; all of them for none or `all`.

    Raises:
        VrError: INVALID_INPUT for an unknown name, with the nearest and the known ones.
    """
    if not names or ALL in names:
        return list(kinds.values())
    return [find_kind(kinds, name) for name in dict.fromkeys(names)]


def find_kind(kinds: Mapping[str, RecordKind], name: str) -> RecordKind:
    """The collection of that name.

    Raises:
        VrError: INVALID_INPUT for an unknown name, with the nearest and the known ones.
    """
    if name in kinds:
        return kinds[name]
    known = f"Collections: {', '.join(kinds)}." if kinds else "No plugin declares a collection."
    raise VrError(
        f"No collection {name[:100]!r}.",
        Code.INVALID_INPUT,
        hint=did_you_mean(name, kinds) + known,
    )


def flags_of(kind: RecordKind, field: RecordField) -> list[str]:
    """Name the ways in which a field is indexed."""
    flags = {
        "vectorised": field.vectorised,
        "searchable": field.searchable,
        "filterable": field.filterable,
        "range": field.range,
        "rerank": kind.rerank == field.name,
    }
    return [name for name, is_set in flags.items() if is_set]


def build_example(kind: RecordKind) -> dict[str, Any]:
    """An object that `knowledge_ingest` takes for this collection."""
    return {field.name: _example(field) for field in kind.fields}


def _example(field: RecordField) -> Any:
    text = field.description or field.name
    return [text] if field.type == "text[]" else _EXAMPLES.get(field.type, text)
