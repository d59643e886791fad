"""JSON schemas without parts that cost a client tokens and tell it nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Schema = dict[str, Any]
_NULL = {"type": "null"}
_ANY_MORE = ("additionalProperties", True)
_NAMED = frozenset({"properties", "$defs"})
"""Keywords whose keys are names, not keywords."""
_LITERAL = frozenset({"const", "default", "enum", "examples", "mapping"})
"""Keywords whose values are data, not schemas."""


def compact_input(schema: Schema) -> Schema:
    """A schema of arguments: no titles, and nullable arguments are just optional."""
    return _walk(schema, _left_out)


def compact_output(schema: Schema) -> Schema:
    """A schema of results: no titles, and `X or null` in its short form."""
    return _walk(schema, _short_null)


def _walk(schema: Schema, simplify: Callable[[Schema], Schema]) -> Schema:
    walked: Schema = {}
    for key, value in simplify(schema).items():
        if (key == "title" and isinstance(value, str)) or (key, value) == _ANY_MORE:
            continue
        if key in _NAMED:
            walked[key] = {name: _walk(item, simplify) for name, item in value.items()}
        elif key not in _LITERAL and isinstance(value, dict):
            walked[key] = _walk(value, simplify)
        elif key not in _LITERAL and isinstance(value, list):
            walked[key] = [_walk(v, simplify) if isinstance(v, dict) else v for v in value]
        else:
            walked[key] = value
    return walked


def _left_out(schema: Schema) -> Schema:
    if "anyOf" not in schema or schema.get("default", ...) is not None:
        return schema
    rest = [choice for choice in schema["anyOf"] if choice != _NULL]
    outer = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return {**rest[0], **outer} if len(rest) == 1 else {**outer, "anyOf": rest}


def _short_null(schema: Schema) -> Schema:
    choices = schema.get("anyOf", [])
    rest = [choice for choice in choices if choice != _NULL]
    if len(rest) != 1 or len(choices) != len(rest) + 1:
        return schema
    if not isinstance(rest[0].get("type"), str) or "enum" in rest[0] or "const" in rest[0]:
        return schema
    outer = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**rest[0], "type": [rest[0]["type"], "null"], **outer}
