"""Values that fit a JSON schema, with one text in every place that takes any text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MANY = 2
"""Items of each list."""
DEEPEST = 6
"""Levels to which a schema that contains itself is followed."""


def fill_schema(schema: Mapping[str, Any], text: str) -> Any:
    """A value with all its properties, each text of which is this one."""
    return _filled(schema, text, schema.get("$defs", {}), 0)


def _filled(schema: Mapping[str, Any], text: str, known: Mapping[str, Any], depth: int) -> Any:
    if "$ref" in schema:
        return _filled(known[schema["$ref"].rpartition("/")[2]], text, known, depth + 1)
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            options = [it for it in schema[choice] if it.get("type") != "null"]
            return _filled(options[0], text, known, depth) if depth < DEEPEST else None
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    kind = schema.get("type")
    if kind == "object":
        return _object(schema, text, known, depth)
    if kind == "array":
        inner = schema.get("items", {})
        length = min(max(MANY, schema.get("minItems", 0)), schema.get("maxItems", MANY))
        return [_filled(inner, text, known, depth + 1) for _ in range(length * (depth < DEEPEST))]
    if schema.get("format") == "date-time":
        text = "2026-03-01T10:00:00Z"
    plain = {"integer": 7, "number": 7.5, "boolean": True, "null": None}
    return plain.get(str(kind), text)


def _object(schema: Mapping[str, Any], text: str, known: Mapping[str, Any], depth: int) -> Any:
    named = {
        name: _filled(each, text, known, depth + 1)
        for name, each in schema.get("properties", {}).items()
    }
    more = schema.get("additionalProperties")
    if isinstance(more, Mapping):
        named[text or "a"] = _filled(more, text, known, depth + 1)
    return named or {text or "a": text, "b": [text], "start": 3.5, "page": 3}
