"""The caller's schema: its parts by path, and whether it is flat enough for evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

LEVELS = 3
"""Levels of objects and arrays for whose values a model names its evidence."""
LEAVES = 60
"""Values of a schema for which it does."""
BYTES = 60_000
"""Longest schema that has room for that of the evidence beside it; see `check_schema`."""
_DEFINED = "#/$defs/"
_ROOT_ONLY = ("$defs", "$id", "$schema")
_CHOICES = ("anyOf", "oneOf", "allOf")
Schema = dict[str, Any]


class FlatSchema:
    """A schema whose parts can be looked up by the path of a value.

    Args:
        schema: one that was checked.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = dict(schema)
        self._defined: Mapping[str, Any] = schema.get("$defs") or {}

    @property
    def is_flat(self) -> bool:
        """True when evidence can be asked for."""
        if not self._is_movable(self._schema) or len(json.dumps(self._schema)) > BYTES:
            return False
        try:
            return sum(1 for _ in self._leaves(self._schema, 0)) <= LEAVES
        except RecursionError:
            return False

    def with_evidence(self) -> Schema:
        """The schema of an answer that holds the data and where each value stands."""
        data = {name: part for name, part in self._schema.items() if name not in _ROOT_ONLY}
        text = {"type": "string"}
        evidence = {
            "type": "object",
            "properties": {
                "path": {
                    **text,
                    "description": "JSON pointer of the value in data, such as /a/0/b",
                },
                "quote": {**text, "description": "verbatim words of the document"},
                "place": {**text, "description": "the place in brackets before them"},
            },
            "required": ["path", "quote", "place"],
        }
        whole: Schema = {
            "type": "object",
            "properties": {"data": data, "evidence": {"type": "array", "items": evidence}},
            "required": ["data", "evidence"],
        }
        return {**whole, "$defs": dict(self._defined)} if self._defined else whole

    def at(self, path: list[str]) -> Schema | None:
        """The part for the value at a path; None where that is not plain to see."""
        part: Any = self._schema
        for step in path:
            part = self._resolved(part)
            if part is None or any(name in part for name in _CHOICES):
                return None
            named = part.get("properties", {})
            part = named.get(step) if "properties" in part else part.get("items")
        return self._resolved(part)

    def _resolved(self, part: Any) -> Schema | None:
        """A part, or what it refers to; None for what is no schema of one kind of value."""
        for _ in range(LEVELS):
            if not isinstance(part, dict) or not isinstance(part.get("$ref"), str):
                break
            part = self._defined.get(part["$ref"].removeprefix(_DEFINED))
        return part if isinstance(part, dict) and "$ref" not in part else None

    def _leaves(self, part: Any, level: int) -> Iterator[Schema]:
        """Yield the parts for single values.

        Raises:
            RecursionError: when they are nested too deeply.
        """
        found = self._resolved(part)
        inner = self._inner(found) if found is not None else []
        if not inner:
            yield found or {}
            return
        if level == LEVELS:
            raise RecursionError
        for each in inner:
            yield from self._leaves(each, level + 1)

    def _inner(self, part: Schema) -> list[Any]:
        named = part.get("properties")
        found = list(named.values()) if isinstance(named, dict) else []
        found += [part["items"]] if isinstance(part.get("items"), dict) else []
        found += part.get("prefixItems") or []
        for name in _CHOICES:
            for choice in part.get(name) or []:
                resolved = self._resolved(choice)
                found += self._inner(resolved) if resolved is not None else []
        return found

    def _is_movable(self, part: Any) -> bool:
        """True when it refers only to `$defs`, which stay where they are in a larger schema."""
        if isinstance(part, list):
            return all(map(self._is_movable, part))
        if not isinstance(part, dict):
            return True
        told = [part[name] for name in ("$ref", "$dynamicRef") if isinstance(part.get(name), str)]
        plain = all(
            each.startswith(_DEFINED) and each.removeprefix(_DEFINED) in self._defined
            for each in told
        )
        return plain and all(map(self._is_movable, part.values()))


def relaxed(schema: Any) -> Any:
    """Return a schema in which no property has to be there, for a part of a document."""
    if isinstance(schema, list):
        return [relaxed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: relaxed(part)
        for name, part in schema.items()
        if not (name == "required" and isinstance(part, list))
        and not (name in ("minItems", "minProperties") and isinstance(part, int))
    }


def allows_null(part: Mapping[str, Any]) -> bool:
    """True when a value may be null."""
    kind = part.get("type")
    if "enum" in part:
        return None in part["enum"]
    if isinstance(kind, list):
        return "null" in kind
    choices = [each for name in ("anyOf", "oneOf") for each in part.get(name) or []]
    return kind == "null" or any(
        isinstance(each, dict) and each.get("type") == "null" for each in choices
    )
