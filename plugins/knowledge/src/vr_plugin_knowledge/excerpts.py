"""Records cut down to what a client can read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vr_kernel import RecordField, RecordKind

FULL_CHARS = 600
"""Longest value in a search result."""
TIGHT_CHARS = 200
RECORD_CHARS = 3000
"""Above this all values of a record are cut to `TIGHT_CHARS`."""
BLOB_CHARS = 300
"""From this length on a value that no search looks into is left out."""
_CHARS_PER_TOKEN = 2.7


def shorten(kind: RecordKind, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a search result: long ones cut, data that is not for reading left out."""
    shown = {name: value for name, value in fields.items() if not is_blob(kind, name, value)}
    short = {name: cut(value, FULL_CHARS) for name, value in shown.items()}
    if len(json.dumps(short, ensure_ascii=False)) <= RECORD_CHARS:
        return short
    return {name: cut(value, TIGHT_CHARS) for name, value in shown.items()}


def cut(value: Any, limit: int) -> Any:
    """A text or list of at most about `limit` characters; other values as they are."""
    if isinstance(value, str):
        return value if len(value) <= limit else f"{value[:limit].rstrip()}…"
    if not isinstance(value, list):
        return value
    kept: list[Any] = []
    for position, element in enumerate(value):
        if limit <= 0:
            return [*kept, f"… {len(value) - position} more"]
        kept.append(cut(element, limit))
        limit -= len(str(element))
    return kept


def locate(kind: RecordKind, fields: Mapping[str, Any]) -> dict[str, Any] | None:
    """Where in its source a record stands: seconds, page, lines; None when it does not say."""
    return {name: fields[name] for name in kind.locator if name in fields} or None


def value_of(fields: Mapping[str, Any], name: str | None) -> str | None:
    """The text of a field that a kind may not have or a record may lack."""
    value = fields.get(name) if name else None
    return None if value is None else str(value)


def estimate_tokens(value: Any) -> int:
    """About how many tokens the JSON of a value costs, rather too many than too few."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    ascii_chars = sum(map(str.isascii, text))
    return int(ascii_chars / _CHARS_PER_TOKEN) + len(text) - ascii_chars


def is_blob(kind: RecordKind, name: str, value: Any) -> bool:
    """Whether a value is long, and no search looks into it: data that is not for reading."""
    if not isinstance(value, str | list) or len(str(value)) < BLOB_CHARS:
        return False
    spec = next((field for field in kind.all_fields if field.name == name), RecordField(name))
    placed = name in (kind.source, kind.link, *kind.locator)
    return not (spec.searchable or spec.vectorised or spec.filterable or placed)
