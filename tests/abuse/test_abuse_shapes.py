"""Values of the wrong shape, arguments that nobody knows, depth without end, and bad schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from abuse_bench import Bench
from tool_arguments import (
    Argument,
    Kind,
    filled,
    installed_arguments,
    installed_tools,
    of_kind,
    sampled,
)  # fmt: skip
from vr_kernel import Code

pytestmark = pytest.mark.asyncio(loop_scope="module")
DEPTH = 2000
MISFIT = (Code.INVALID_INPUT,)
REFUSALS = (Code.INVALID_INPUT, Code.TOO_LARGE)
SHAPES: list[Any] = [
    None, [], {}, {"$ne": 1}, [1, "a", None], 12345, -1, "", True, b"\xff",
]  # fmt: skip
MORE_SHAPES: list[Any] = [
    [[]], [None], {"a": 1}, {"": None}, [{}], 1.5, "text", False, b"bytes", {"__proto__": {}},
    [""] * 10_000, {str(i): i for i in range(10_000)},
]  # fmt: skip
NO_NAMES = [
    "", " ", "call", "self", "cls", "kwargs", "__class__", "model_config", "a" * 100_000, "1",
    "\x1b[31mred", "\u202egnp", "\0", "a\nb", "\ud800", "Query", "file-path",
]  # fmt: skip
NESTING = ("properties", "items", "allOf", "not", "$defs")
NO_LISTS: list[Any] = [[["a"]] * 3, [{"a": 1}] * 3, [None] * 3]


def nest(depth: int, *, in_lists: bool) -> Any:
    """A value that deep."""
    value: Any = 1
    for _ in range(depth):
        value = [value] if in_lists else {"a": value}
    return value


def _deep_schema(depth: int, key: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        inner: Any = {"a": schema} if key in ("properties", "$defs") else schema
        schema = {"type": "object", key: [inner] if key in ("allOf", "anyOf") else inner}
    return schema


def _doubling(levels: int) -> dict[str, Any]:
    """Every level stands twice in the one before, by name."""
    inner = {str(i): {"allOf": [{"$ref": f"#/$defs/{i + 1}"}] * 2} for i in range(levels)}
    return {"$ref": "#/$defs/0", "$defs": {**inner, str(levels): {"type": "string"}}}


def _cycle() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
    }


SCHEMAS: dict[str, Any] = {
    **{f"deep-{key}": _deep_schema(DEPTH, key) for key in NESTING},
    "many properties": {"type": "object", "properties": {str(i): {} for i in range(501)}},
    "very many properties": {
        "type": "object",
        "properties": {str(i): {} for i in range(9000)},
    },
    "many choices": {"anyOf": [{}] * 10_000},
    "21 levels": _deep_schema(21, "not"),
    "doubling": _doubling(60),
    "a long description": {"type": "object", "description": "a" * 10_000_000},
    "properties that are a list": {"type": "object", "properties": ["a"]},
    "properties that are a text": {"type": "object", "properties": "a"},
    "a property that is a number": {"type": "object", "properties": {"a": 1}},
    "anyOf that is a text": {"anyOf": "x"},
    "allOf that is an object": {"allOf": {"type": "string"}},
    "anyOf of texts": {"anyOf": ["x", 1, None]},
    "a type that is a number": {"type": 1},
    "an unknown type": {"type": "text"},
    "required that is a text": {"type": "object", "required": "a"},
    "a negative length": {"type": "object", "properties": {"a": {"minLength": -1}}},
    "itself": {"type": "object", "properties": {"a": {"$ref": "#"}}, "allOf": [{"$ref": "#"}]},
    "a cycle": _cycle(),
    "a reference to the network": {"$ref": "http://127.0.0.1:9/schema.json"},
    "a nested reference to the network": {
        "type": "object",
        "properties": {"a": {"$ref": "https://example.com/s.json#/a"}},
    },
    "a reference to a file": {"$ref": "file:///etc/passwd"},
    "a reference to nothing": {"$ref": "#/$defs/missing"},
    "a reference that is a number": {"$ref": 1},
    "a dynamic reference outside": {"$dynamicRef": "http://127.0.0.1:9/#meta"},
    "a pattern that is none": {"type": "object", "properties": {"a": {"pattern": "("}}},
    "pattern properties": {"type": "object", "patternProperties": {"^(a+)+$": {}}},
    "no number": {"type": "object", "properties": {"a": {"minimum": float("nan")}}},
    "half a character": {"type": "object", "properties": {"\ud800": {"type": "string"}}},
}
# Nothing is fetched for them, and answers are held against them in bounded time.
BOUNDED: dict[str, Any] = {
    "500 properties": {"type": "object", "properties": {str(i): {} for i in range(500)}},
    "20 levels": _deep_schema(20, "not"),
    "doubling five times": _doubling(5),
    "an unknown dialect": {"$schema": "http://127.0.0.1:9/dialect", "type": "object"},
    "an identity": {"$id": "http://127.0.0.1:9/", "type": "object"},
    "a pattern without end": {"type": "object", "properties": {"a": {"pattern": "^(a+)+$"}}},
}


@pytest.mark.parametrize("argument", sampled(installed_arguments()))
async def test_wrong_types(bench: Bench, argument: Argument) -> None:
    for value in [*SHAPES, *(NO_LISTS if argument.is_list else ())]:
        await bench.abuse(argument, value)
    bench.verdict()


@pytest.mark.slow
@pytest.mark.parametrize("argument", installed_arguments(), ids=str)
async def test_more_wrong_types(bench: Bench, argument: Argument) -> None:
    for value in MORE_SHAPES:
        await bench.abuse(argument, value)
    bench.verdict()


def _one_of_each_kind() -> list[Argument]:
    first = {(argument.kind, argument.is_list): argument for argument in installed_arguments()}
    return list(first.values())


@pytest.mark.parametrize("argument", _one_of_each_kind(), ids=str)
async def test_depth(bench: Bench, argument: Argument) -> None:
    in_lists, in_objects = nest(DEPTH, in_lists=True), nest(DEPTH, in_lists=False)
    for value in (in_lists, in_objects, [in_objects], {"title": in_lists}):
        await bench.abuse(argument, value, REFUSALS)
    bench.verdict()


@pytest.mark.slow
@pytest.mark.parametrize("in_lists", [True, False], ids=["lists", "objects"])
@pytest.mark.parametrize("argument", installed_arguments(), ids=str)
async def test_depth_without_end(bench: Bench, argument: Argument, *, in_lists: bool) -> None:
    deep = nest(DEPTH, in_lists=in_lists)
    for value in (deep, [deep], {"title": deep}, nest(100_000, in_lists=in_lists)):
        await bench.abuse(argument, value, REFUSALS)
    bench.verdict()


@pytest.mark.parametrize("tool", installed_tools())
async def test_unknown_arguments(bench: Bench, tool: str) -> None:
    known = bench.absolute(filled(tool))
    for name in NO_NAMES:
        await bench.call(tool, {**known, name: 1}, f"{tool} {name[:40]!a}", MISFIT)
    for value in (nest(DEPTH, in_lists=True), "a" * 1_000_000):
        await bench.call(tool, {**known, "unknown": value}, f"{tool} unknown", MISFIT)
    bench.verdict()


@pytest.mark.slow
@pytest.mark.parametrize("tool", installed_tools())
async def test_ten_thousand_unknown_arguments(bench: Bench, tool: str) -> None:
    many = {f"unknown_{index}": index for index in range(10_000)}
    await bench.call(tool, {**bench.absolute(filled(tool)), **many}, f"{tool} many", MISFIT)
    long = {f"{'a' * 1000}{index}": "b" * 1000 for index in range(2_000)}
    await bench.call(tool, {**bench.absolute(filled(tool)), **long}, f"{tool} long", MISFIT)
    bench.verdict()


def _with_schemas(schemas: Mapping[str, Any]) -> list[Any]:
    """Every schema for the first argument that takes one; for the others all but one are slow."""
    first, *others = of_kind(Kind.SCHEMA)
    return [
        pytest.param(argument, name, id=f"{argument}-{name}", marks=marks)
        for argument in (first, *others)
        for number, name in enumerate(schemas)
        for marks in [() if argument is first or number == 0 else pytest.mark.slow]
    ]


@pytest.mark.parametrize(("argument", "schema"), _with_schemas(SCHEMAS))
async def test_schemas(bench: Bench, argument: Argument, schema: str) -> None:
    await bench.abuse(argument, argument.given(SCHEMAS[schema]), REFUSALS)
    bench.verdict()


@pytest.mark.slow
@pytest.mark.parametrize(("argument", "schema"), _with_schemas(BOUNDED))
async def test_schemas_that_only_look_bad(bench: Bench, argument: Argument, schema: str) -> None:
    await bench.abuse(argument, argument.given(BOUNDED[schema]))
    bench.verdict()
