"""Records cut down to what a client can read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from vr_kernel import RecordField, RecordKind, estimate_tokens, fit
from vr_kernel.text import tokens_of

VALUE_TOKENS = 150
"""Tokens of the longest value in a search result."""
_SHORTER = (VALUE_TOKENS, 60, 30, 15)
"""Tokens of a value, from the longest to the shortest that still says something."""
TELLING = 3
"""The most telling value of a record may be this many times as long as the others."""
CHARS_A_TOKEN = 4
"""Characters per token of plain English; other texts have fewer."""
BLOB_CHARS = 300
"""From this length on a value that no search looks into is left out."""


def shorten(kind: RecordKind, fields: Mapping[str, Any], room: int) -> dict[str, Any]:
    """The fields of a search result in about `room` tokens.

    Data that is not for reading is left out, and long values are cut, all alike except the most
    telling one. When even the shortest are too many, only searchable fields stay.
    """
    shown = {name: value for name, value in fields.items() if not is_blob(kind, name, value)}

    def trimmed(tokens: int) -> dict[str, Any]:
        telling = min(VALUE_TOKENS, TELLING * tokens)
        return {
            name: trim(value, telling if name == kind.rerank else tokens)
            for name, value in shown.items()
        }

    longest, *shorter = _SHORTER
    short = fit(trimmed(longest), map(trimmed, shorter), room, json_tokens)
    return short if json_tokens(short) <= room else _most_telling(kind, short, room)


def _most_telling(kind: RecordKind, fields: Mapping[str, Any], room: int) -> dict[str, Any]:
    """As many fields as there is room for, at least one."""
    searched = {field.name for field in kind.all_fields if field.searchable or field.vectorised}
    kept: set[str] = set()
    for name in sorted(fields, key=lambda name: (name != kind.rerank, name not in searched)):
        room -= json_tokens({name: fields[name]})
        if kept and room < 0:
            break
        kept.add(name)
    return {name: value for name, value in fields.items() if name in kept}


def trim(value: Any, tokens: int) -> Any:
    """A text or list of at most about so many tokens; other values as they are."""
    if isinstance(value, str):
        return _trimmed(value, tokens)
    if not isinstance(value, list):
        return value
    kept: list[Any] = []
    for position, element in enumerate(value):
        if tokens <= 0:
            return [*kept, f"… {len(value) - position} more"]
        kept.append(trim(element, tokens))
        tokens -= json_tokens(element)
    return kept


def _trimmed(text: str, tokens: int) -> str:
    start = text[: tokens * CHARS_A_TOKEN]
    cost = estimate_tokens(start)
    if cost > tokens:
        start = start[: max(1, len(start) * tokens // cost)]
    return text if len(start) == len(text) else f"{start.rstrip()}…"


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
    """A record's place in its source: seconds, page, lines; None when unknown."""
    return {name: fields[name] for name in kind.locator if name in fields} or None


def value_of(fields: Mapping[str, Any], name: str | None) -> str | None:
    """The text of a field that a kind may not have or a record may lack."""
    value = fields.get(name) if name else None
    return None if value is None else str(value)


def json_tokens(value: Any) -> int:
    """Estimate the tokens of a value as JSON with spaces between its parts."""
    return tokens_of(value.model_dump(mode="json") if isinstance(value, BaseModel) else value)


def is_blob(kind: RecordKind, name: str, value: Any) -> bool:
    """True for a long value that no search looks into: data that is not for reading."""
    if not isinstance(value, str | list) or len(str(value)) < BLOB_CHARS:
        return False
    spec = next((field for field in kind.all_fields if field.name == name), RecordField(name))
    placed = name in (kind.source, kind.link, *kind.locator)
    return not (spec.searchable or spec.vectorised or spec.filterable or placed)
