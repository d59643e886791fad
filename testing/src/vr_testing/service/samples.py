"""Makes an instance of a JSON schema, always the same for the same schema."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

WORDS = "sample answer from the fake service that was asked on this machine"
_FORMATS = {
    "date-time": "2026-01-02T03:04:05Z",
    "date": "2026-01-02",
    "time": "03:04:05Z",
    "email": "someone@example.com",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_MOST_STEPS = 32
_DEEPEST = 3


def sample(schema: Mapping[str, Any]) -> Any:
    """A value that fits the schema.

    It knows `$ref`, `const`, `enum`, `anyOf`, `oneOf`, `allOf`, objects, arrays, strings, numbers,
    booleans and their bounds, and the capital type names of Gemini's own schemas; a `pattern` is
    not followed. Every named property is filled; a list has one item, or its least number of items.
    """
    return _Sampler(schema).value(schema, "", 0)


class _Sampler:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def value(self, schema: Any, name: str, depth: int) -> Any:
        if not isinstance(schema, Mapping):
            return _text({}, name)
        schema = self._resolved(schema)
        for choice in ("const", "default"):
            if choice in schema:
                return schema[choice]
        if schema.get("enum"):
            return schema["enum"][0]
        kind = _kind(schema)
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, name, depth)
        return _SCALARS.get(kind, _text)(schema, name)

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """The schema with its reference, its first alternative and all its parts in it."""
        for _ in range(_MOST_STEPS):
            rest = {k: v for k, v in schema.items() if k not in {"$ref", "anyOf", "oneOf", "allOf"}}
            if "$ref" in schema:
                schema = {**self._referred(schema["$ref"]), **rest}
            elif options := schema.get("anyOf") or schema.get("oneOf"):
                schema = {**rest, **next((o for o in options if _kind(o) != "null"), options[0])}
            elif parts := schema.get("allOf"):
                schema = _merged([rest, *(self._resolved(part) for part in parts)])
            else:
                break
        return schema

    def _referred(self, reference: str) -> Mapping[str, Any]:
        found: Any = self._root
        for step in reference.removeprefix("#").strip("/").split("/"):
            found = found.get(step.replace("~1", "/").replace("~0", "~"), {}) if step else found
        return found if isinstance(found, Mapping) else {}

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        needed = schema.get("required", [])
        properties = schema.get("properties", {})
        # A recursive schema ends when only required properties are filled.
        names = needed if depth > _DEEPEST else properties
        return {name: self.value(properties.get(name, {}), name, depth + 1) for name in names}

    def _array(self, schema: Mapping[str, Any], name: str, depth: int) -> list[Any]:
        if prefix := schema.get("prefixItems"):
            return [self.value(item, name, depth + 1) for item in prefix]
        least = int(schema.get("minItems", 0))
        count = max(least, min(1 if depth <= _DEEPEST else 0, int(schema.get("maxItems", 1))))
        items = [self.value(schema.get("items", {}), name, depth + 1) for _ in range(count)]
        return [_varied(item, i) for i, item in enumerate(items)] if _unique(schema) else items


def _kind(schema: Any) -> str:
    kind = schema.get("type", "") if isinstance(schema, Mapping) else ""
    if isinstance(kind, list):
        kind = next((each for each in kind if each.lower() != "null"), "null")
    if not kind and isinstance(schema, Mapping):
        kind = "object" if "properties" in schema else "array" if "items" in schema else ""
    return str(kind).lower()


def _merged(parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for part in parts:
        properties = {**merged.get("properties", {}), **part.get("properties", {})}
        required = [*merged.get("required", []), *part.get("required", [])]
        merged |= {**part, "properties": properties, "required": required}
    return merged


def _text(schema: Mapping[str, Any], name: str) -> str:
    if known := _FORMATS.get(schema.get("format", "")):
        return known
    least, most = int(schema.get("minLength", 0)), schema.get("maxLength")
    words = f"{name.replace('_', ' ')} {WORDS}".split()[:4]
    text = " ".join(words)
    while len(text) < least:
        text = f"{text} {WORDS}"
    return text[: max(least, len(" ".join(words)))][: None if most is None else int(most)]


def _number(schema: Mapping[str, Any], _name: str) -> float:
    return _bounded(schema, 0.5, 0.01)


def _integer(schema: Mapping[str, Any], _name: str) -> int:
    return math.ceil(_bounded(schema, 1, 1))


def _bounded(schema: Mapping[str, Any], wish: float, step: float) -> float:
    """The given number, moved into the bounds, and to a multiple where one is asked for."""
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    low = max(schema.get("minimum", -math.inf), -math.inf if above is None else above + step)
    high = min(schema.get("maximum", math.inf), math.inf if below is None else below - step)
    value: float = min(max(wish, low), high)
    factor: float | None = schema.get("multipleOf")
    return math.ceil(value / factor) * factor if factor else value


def _varied(item: Any, number: int) -> Any:
    if isinstance(item, str):
        return f"{item} {number + 1}"
    return item + number if isinstance(item, int | float) else item


def _unique(schema: Mapping[str, Any]) -> bool:
    return bool(schema.get("uniqueItems"))


_SCALARS: dict[str, Any] = {
    "string": _text,
    "number": _number,
    "integer": _integer,
    "boolean": lambda _schema, _name: True,
    "null": lambda _schema, _name: None,
}
