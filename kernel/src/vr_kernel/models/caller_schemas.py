"""Checks of a caller's JSON schema: its size, validity, and references only to itself."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from vr_kernel.errors import Code, VrError

SCHEMA_BYTES = 65_536
SCHEMA_DEPTH = 20
"""Maximum depth of schemas below the schema itself."""
SUB_SCHEMAS = 500
LOOKS = 2_000
"""Maximum number of sub-schemas to check one value against, counting repeated references."""
REPEATS = 2_500
"""Most repetitions that the patterns of a schema count in all, such as 20 in `a{1,20}`."""
PATTERNS_S = 0.1
"""Processor seconds to compile all patterns of a schema; others take some microseconds each."""
PROBLEM_CHARS = 1000
"""Maximum length in characters of the problem that a model or a caller is told."""
_COUNTED = re.compile(r"\{(\d{1,9})(?:,(\d{0,9}))?\}")
_JSON_DEPTH = 3 * SCHEMA_DEPTH
_REFERENCES = ("$ref", "$dynamicRef")
_SEVERAL = ("allOf", "anyOf", "oneOf")
_ONE = ("not", "if", "then", "else")
_INNER = (
    *("items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems"),
    *("unevaluatedProperties", "contentSchema"),
)
_NAMED = ("properties", "$defs", "definitions", "dependentSchemas")
_NOT_TAKEN = frozenset({"$id", "patternProperties"})
_DATA = frozenset({"const", "default", "enum", "examples"})
"""Keywords whose values are no schemas."""


def require_bounded(schema: Mapping[str, Any]) -> None:
    """Refuse a schema that is too large to inspect, or is no JSON.

    Raises:
        VrError: TOO_LARGE, category SCHEMA_TOO_LARGE; INVALID_INPUT, category SCHEMA_INVALID.
    """
    for count, (depth, item) in enumerate(_walk(schema)):
        if depth > _JSON_DEPTH or count > SCHEMA_BYTES:
            raise _too_large()
        for name in _REFERENCES if isinstance(item, dict) else ():
            if isinstance(item.get(name), str):
                _require_within(name, item[name])
    for count, depth in enumerate(_depths(schema)):
        if depth > SCHEMA_DEPTH or count > SUB_SCHEMAS:
            raise _too_large()
    try:
        text = json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise _invalid(f"it is no JSON: {error}") from None
    if len(text) > SCHEMA_BYTES:
        raise _too_large()


def survey(schema: dict[str, Any]) -> dict[str, Callable[[str], bool]]:
    """Refuse a schema that would fail or never end on an answer; returns the compiled patterns.

    Args:
        schema: one that `require_bounded` let pass.

    Raises:
        VrError: as `require_bounded`.
    """
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    _require_valid(schema)
    resource = DRAFT202012.create_resource(schema)
    resolver = Registry().with_resource("", resource).crawl().resolver()
    patterns: dict[str, Callable[[str], bool]] = {}
    graph: dict[int, list[int]] = {}
    todo: list[Any] = [schema]
    referred: list[Any] = []
    compiling, repeats = 0.0, 0
    while todo or referred:
        is_referred = not todo
        item = referred.pop() if is_referred else todo.pop()
        if id(item) in graph or item is True or item is False:
            continue
        if len(graph) > SUB_SCHEMAS:
            raise _too_large()
        if is_referred:  # A reference may point to a place that holds no schema.
            _require_valid(item)
        for name in _NOT_TAKEN & item.keys():
            raise _invalid(f"{name} is not taken")
        if "pattern" in item:
            repeats += _repeats(item["pattern"])
            if repeats > REPEATS:
                raise _too_large()
            began = time.thread_time()
            patterns[item["pattern"]] = _compiled(item["pattern"])
            compiling += time.thread_time() - began
            if compiling > PATTERNS_S:
                raise _too_large()
        targets = [_target(resolver, name, item[name]) for name in _REFERENCES if name in item]
        graph[id(item)] = [id(each) for each in (*targets, *_in_place(item))]
        referred += targets
        todo += DRAFT202012.subresources_of(item)
    _require_few_looks(graph)
    return patterns


def where(path: Iterable[Any]) -> str:
    """Describe the place in a value that a path leads to."""
    return ".".join(str(part) for part in path) or "the answer"


def _require_few_looks(graph: Mapping[int, list[int]]) -> None:
    """Refuse references that are circular, or that multiply from one to the next."""
    looks: dict[int, int] = {}
    try:
        for item in TopologicalSorter(graph).static_order():
            looks[item] = 1 + sum(looks[each] for each in graph.get(item, ()))
    except CycleError:
        raise _invalid("its references never end") from None
    if max(looks.values()) > LOOKS:
        raise _too_large()


def _target(resolver: Any, name: str, reference: str) -> Any:
    from referencing.exceptions import Unresolvable

    _require_within(name, reference)
    try:
        return resolver.lookup(reference).contents
    except Unresolvable:
        raise _invalid(f"{name} {reference[:100]!r} leads nowhere") from None


def _require_within(name: str, reference: str) -> None:
    if not reference.startswith("#"):
        raise _invalid(f"{name} {reference[:100]!r} points outside the schema")


def _in_place(schema: Mapping[str, Any]) -> Iterable[Any]:
    """The parts of a schema that apply to the same value as the whole."""
    for name in _SEVERAL:
        yield from schema.get(name, ())
    yield from (schema[name] for name in _ONE if name in schema)
    yield from schema.get("dependentSchemas", {}).values()


def _require_valid(schema: Any) -> None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema, format_checker=None)
    except SchemaError as error:
        raise _invalid(f"{where(error.absolute_path)}: {error.message}") from None


def _repeats(pattern: str) -> int:
    return sum(int(most or least) for least, most in _COUNTED.findall(pattern))


def _compiled(pattern: str) -> Callable[[str], bool]:
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern)).isinstance_python
    except SchemaError:
        raise _invalid(
            f"the pattern {pattern[:100]!r} is none, is too large, or looks around or back"
        ) from None


def _walk(schema: Any) -> Iterator[tuple[int, Any]]:
    """Yield every part with its depth; for data, only the depth."""
    todo: list[tuple[int, Any, bool]] = [(1, schema, False)]
    while todo:
        depth, item, is_data = todo.pop()
        yield depth, None if is_data else item
        if isinstance(item, dict):
            todo.extend((depth + 1, v, is_data or k in _DATA) for k, v in item.items())
        elif isinstance(item, list):
            todo.extend((depth + 1, value, is_data) for value in item)


def _depths(schema: Any) -> Iterator[int]:
    """Measure the depth of each sub-schema, from 0 for the schema itself; it need not be valid."""
    todo: list[tuple[int, Any]] = [(0, schema)]
    while todo:
        depth, item = todo.pop()
        yield depth
        if isinstance(item, dict):
            todo.extend((depth + 1, part) for part in _parts(item))


def _parts(schema: Mapping[str, Any]) -> Iterator[Any]:
    yield from (schema[name] for name in (*_ONE, *_INNER) if name in schema)
    for name in (*_SEVERAL, "prefixItems"):
        if isinstance(several := schema.get(name), list):
            yield from several
    for name in _NAMED:
        if isinstance(named := schema.get(name), dict):
            yield from named.values()


def _too_large() -> VrError:
    return VrError(
        "output_schema is too large or too deep.",
        Code.TOO_LARGE,
        category="SCHEMA_TOO_LARGE",
        hint=f"At most {SCHEMA_BYTES // 1024} KiB, {SUB_SCHEMAS} sub-schemas and {SCHEMA_DEPTH}"
        " levels are taken, no references that multiply, and no costly patterns.",
    )


def _invalid(what: str) -> VrError:
    return VrError(
        f"output_schema is no usable JSON schema: {what[:PROBLEM_CHARS]}.",
        Code.INVALID_INPUT,
        category="SCHEMA_INVALID",
        hint="Give a JSON Schema (draft 2020-12) without references to other documents.",
    )
