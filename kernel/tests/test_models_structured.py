"""Answers in a shape: what fits is taken, what does not is told, and nothing else happens."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from vr_kernel import Code, VrError, check_schema
from vr_kernel.models.caller_schemas import PROBLEM_CHARS, SCHEMA_BYTES, SCHEMA_DEPTH, SUB_SCHEMAS
from vr_kernel.models.structured import MisfitError, ModelShape, SchemaShape

Pair = tuple[dict[str, Any], Any]
NAMES = st.sampled_from(["a", "b", "type", "$ref", "pattern", "$id", "ä", ""])
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | TEXTS, inner, max_size=3),
    max_leaves=8,
)


def keywords() -> list[str]:
    from jsonschema import Draft202012Validator

    return [*Draft202012Validator.VALIDATORS, "$id", "$defs", "$anchor", "$schema"]


KEYWORDS = st.sampled_from(keywords())
SOUP = st.recursive(
    SCALARS | TEXTS | st.sampled_from(["#", "#/$defs/a", "#a", "object", "array", "string", "("]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS | NAMES, inner, max_size=4)
    ),
    max_leaves=12,
)


def scalar(kind: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Pair]:
    return values.map(lambda value: ({"type": kind}, value))


LEAVES: st.SearchStrategy[Pair] = st.one_of(
    scalar("string", TEXTS),
    scalar("integer", st.integers()),
    scalar("number", st.floats(allow_nan=False, allow_infinity=False)),
    scalar("boolean", st.booleans()),
    scalar("null", st.none()),
    VALUES.map(lambda value: ({"const": value}, value)),
    st.tuples(st.lists(VALUES, max_size=2), VALUES).map(lambda t: ({"enum": [*t[0], t[1]]}, t[1])),
    st.integers(0, 9).map(lambda n: ({"type": "integer", "minimum": n, "maximum": n}, n)),
    TEXTS.map(lambda text: ({"minLength": len(text), "maxLength": len(text)}, text)),
)


def deeper(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    """Schemas made of others, each with a value that fits it."""

    def as_object(pairs: dict[str, Pair]) -> Pair:
        schema = {
            "type": "object",
            "properties": {name: pair[0] for name, pair in pairs.items()},
            "required": list(pairs),
            "additionalProperties": False,
        }
        return schema, {name: pair[1] for name, pair in pairs.items()}

    def as_array(pair: Pair, times: int) -> Pair:
        return {"type": "array", "items": pair[0], "minItems": times}, [pair[1]] * times

    def as_choice(name: str, pair: Pair, other: Pair) -> Pair:
        return {name: [other[0], pair[0]] if name == "anyOf" else [pair[0], True]}, pair[1]

    def as_reference(pair: Pair) -> Pair:
        reference = {"$ref": "#/x-parts/p"}
        return {"items": reference, "x-parts": {"p": pair[0]}}, [pair[1]]

    return st.one_of(
        st.dictionaries(NAMES, inner, max_size=3).map(as_object),
        st.builds(as_array, inner, st.integers(0, 3)),
        st.builds(as_choice, st.sampled_from(["anyOf", "allOf"]), inner, inner),
    ) | LEAVES.map(lambda pair: ({"not": {"not": pair[0]}}, pair[1]))


few = settings(max_examples=25)
PAIRS = st.recursive(LEAVES, deeper, max_leaves=6)


def fits(shape: Any, value: Any) -> bool:
    problem = None
    try:
        shape.read(json.dumps(value))
    except MisfitError as misfit:
        problem = str(misfit)
    assert problem is None or 0 < len(problem) <= PROBLEM_CHARS
    return problem is None


def is_standard(schema: dict[str, Any], value: Any) -> bool:
    """Ask the library that everybody uses if a value fits a schema."""
    from jsonschema import Draft202012Validator

    return bool(Draft202012Validator(schema).is_valid(value))


@few
@given(PAIRS)
def test_what_fits_is_taken_as_it_is(pair: Pair) -> None:
    schema, value = pair
    shape = SchemaShape(schema)
    assert shape.read(json.dumps(value)) == value
    assert shape.schema == schema


@few
@given(PAIRS, VALUES)
def test_every_value_is_judged_as_the_standard_says(pair: Pair, value: Any) -> None:
    schema, _ = pair
    assert fits(SchemaShape(schema), value) == is_standard(schema, value)


@few
@given(PAIRS.filter(lambda pair: pair[1] is not None))
def test_what_must_be_null_takes_nothing_else(pair: Pair) -> None:
    assert not fits(SchemaShape({"allOf": [pair[0], {"type": "null"}]}), pair[1])


@given(st.dictionaries(KEYWORDS | NAMES, SOUP, max_size=5), VALUES)
@settings(max_examples=60)
def test_any_json_is_a_schema_or_a_typed_error(schema: dict[str, Any], value: Any) -> None:
    with suppress(VrError):
        check_schema(schema)
    problem = None
    try:
        fits(SchemaShape(schema), value)
    except VrError as error:
        problem = error
    assert problem is None or problem.code in {Code.INVALID_INPUT, Code.TOO_LARGE}
    assert problem is None or problem.hint


@few
@given(st.text() | st.binary().map(lambda data: data.decode("latin-1")))
def test_any_text_is_json_or_a_misfit(text: str) -> None:
    with suppress(MisfitError):
        assert SchemaShape({}).read(text) == json.loads(text)


class Place(BaseModel):
    """A place with people."""

    name: str = Field(max_length=20)
    people: int = Field(ge=0)
    near: list[Place] = []
    note: str | None = None


PLACES = st.recursive(
    st.builds(Place, name=TEXTS, people=st.integers(0, 10**12), note=st.none() | TEXTS),
    lambda inner: st.builds(
        Place, name=TEXTS, people=st.integers(0, 9), near=st.lists(inner, max_size=2)
    ),
    max_leaves=4,
)


@few
@given(PLACES)
def test_instance_of_a_model_comes_back_whole(place: Place) -> None:
    shape = ModelShape(Place)
    assert shape.read(place.model_dump_json()) == place
    assert is_standard(shape.schema, place.model_dump(mode="json", exclude_none=True))


@few
@given(VALUES)
def test_what_is_no_instance_of_a_model_is_a_misfit(value: Any) -> None:
    assert not fits(ModelShape(Place), value)
    assert not fits(ModelShape(Place), {"name": "x", "people": -1, "near": value})


def nested(depth: int, kind: str) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {kind: KINDS[kind](schema)}
    return schema


KINDS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("properties", "$defs"), lambda schema: {"x": schema}),
    **dict.fromkeys(("allOf", "prefixItems"), lambda schema: [schema]),
    **dict.fromkeys(("not", "items", "contentSchema"), lambda schema: schema),
}
LIMITS: dict[str, tuple[Callable[[int], dict[str, Any]], int]] = {
    "bytes": (
        lambda size: {"description": "x" * (size - len('{"description": ""}'))},
        SCHEMA_BYTES,
    ),
    "properties": (lambda count: {"properties": {f"p{n}": {} for n in range(count)}}, SUB_SCHEMAS),
    "true": (lambda count: {"properties": {f"p{n}": True for n in range(count)}}, SUB_SCHEMAS),
    "anyOf": (lambda count: {"anyOf": [{}] * count}, SUB_SCHEMAS),
    **{kind: (partial(nested, kind=kind), SCHEMA_DEPTH) for kind in KINDS},
}


@pytest.mark.parametrize("limit", LIMITS)
def test_schema_at_the_limit_is_taken_and_one_beyond_is_not(limit: str) -> None:
    made, most = LIMITS[limit]
    assert SchemaShape(made(most)).schema == made(most)
    with pytest.raises(VrError) as caught:
        SchemaShape(made(most + 1))
    assert (caught.value.code, caught.value.category) == (Code.TOO_LARGE, "SCHEMA_TOO_LARGE")


def test_schema_that_shares_its_parts_is_measured_as_json() -> None:
    schema: dict[str, Any] = {}
    for _ in range(SCHEMA_DEPTH - 1):
        schema = {"anyOf": [schema, schema]}
    with pytest.raises(VrError, match="too large"):
        check_schema(schema)


@pytest.mark.parametrize(
    "schema", [{"a": {1, 2}}, {"minimum": float("nan")}, {"const": b"x"}, {"maximum": 10**5000}]
)
def test_schema_that_is_no_json_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(VrError, match="no JSON"):
        check_schema(schema)


LOOPS: list[dict[str, Any]] = [
    {"$ref": "#"},
    {"$dynamicRef": "#"},
    {"allOf": [{"$ref": "#"}]},
    {"not": {"$ref": "#"}},
    {"if": {"anyOf": [True, {"oneOf": [{"$ref": "#"}]}]}},
    {"dependentSchemas": {"a": {"$ref": "#"}}},
    {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
    {"properties": {"x": {"$ref": "#/properties/x"}}},
    {"items": {"$ref": "#b"}, "definitions": {"a": {"$anchor": "b", "then": {"$ref": "#b"}}}},
]


@pytest.mark.parametrize("schema", LOOPS[:-1], ids=json.dumps)
def test_references_that_never_end_are_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(VrError, match="never end"):
        SchemaShape(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/nowhere"},
        {"$ref": "#nowhere"},
        {"$ref": "#/properties", "properties": {"type": {}}},
        {"$ref": "#/enum/0", "enum": ["text"]},
        {"$id": "https://example.org/a", "items": {"$id": "b"}},
        {"patternProperties": {"^(a+)+$": {}}},
        LOOPS[-1],
    ],
    ids=json.dumps,
)
def test_references_that_lead_to_no_schema_are_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(VrError) as caught:
        SchemaShape(schema)
    assert caught.value.category == "SCHEMA_INVALID"


def test_schema_may_contain_itself() -> None:
    tree = {"type": "object", "properties": {"under": {"type": "array", "items": {"$ref": "#"}}}}
    shape = SchemaShape({"$id": "https://example.org/tree", **tree})
    assert fits(shape, {"under": [{"under": []}]})
    assert not fits(shape, {"under": [{"under": [1]}]})
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"under": [deep]}
    assert not fits(shape, deep), "nested beyond what can be followed"


def test_names_of_keywords_may_be_names_of_properties() -> None:
    names = ["$ref", "$id", "pattern", "patternProperties", "allOf", "$dynamicRef"]
    shape = SchemaShape({"properties": {name: {"type": "string"} for name in names}})
    assert fits(shape, dict.fromkeys(names, "("))
    assert not fits(shape, {"$ref": 1})


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (r"^[\w.+-]+@\w+\.\w+$", "a.b@c.de", "a.b@c"),
        (r"^\d{4}-\d{2}$", "2026-11", "2026-11\n"),
        (r"b\/c", "a b/c d", "bc"),
        (r"^\p{Lu}", "Äpfel", "äpfel"),
    ],
)
def test_pattern_is_searched_for(pattern: str, good: str, bad: str) -> None:
    shape = SchemaShape({"pattern": pattern})
    assert [fits(shape, value) for value in (good, bad, 5)] == [True, False, True]


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(a|aa)+$", "(.*a){20}$", "^(([a-z])+.)+[A-Z]$"])
def test_evil_pattern_comes_to_an_end(pattern: str) -> None:
    shape = SchemaShape({"pattern": pattern})
    fits(shape, "a" * 20_000 + "!")


@pytest.mark.parametrize("pattern", ["(a{1000}){1000}", "(?=a)", r"(a)\1", "("])
def test_pattern_that_cannot_be_matched_in_linear_time_is_refused(pattern: str) -> None:
    with pytest.raises(VrError, match="pattern"):
        SchemaShape({"items": {"pattern": pattern}})


def doubling(levels: int) -> dict[str, Any]:
    chain = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**chain, f"d{levels}": {"type": "string"}}}


def test_references_that_multiply_are_refused() -> None:
    assert fits(SchemaShape(doubling(5)), "x")
    with pytest.raises(VrError) as caught:
        SchemaShape(doubling(60))
    assert (caught.value.code, caught.value.category) == (Code.TOO_LARGE, "SCHEMA_TOO_LARGE")


def test_parts_in_use_are_counted_wherever_they_stand() -> None:
    """Only what is referred to is a schema there, and so is what is inside it."""
    parts: Any = {str(n): {"anyOf": [{}, {}]} for n in range(SUB_SCHEMAS // 2)}
    used = [{"$ref": f"#/x-parts/{n}"} for n in range(SUB_SCHEMAS // 2)]
    assert SchemaShape({"x-parts": parts})
    with pytest.raises(VrError, match="too large"):
        SchemaShape({"x-parts": parts, "items": {"anyOf": used}})


def test_schema_that_multiplies_with_the_answer_is_given_up() -> None:
    node = {"allOf": [{"properties": {"x": {"$ref": "#/$defs/d0"}}}] * 2}
    value: Any = 1
    for _ in range(60):
        value = {"x": value}
    shape = SchemaShape({"$ref": "#/$defs/d0", "$defs": {"d0": node}}, reading_s=0.1)
    with pytest.raises(MisfitError, match="too long"):
        shape.read(json.dumps(value))


ITEMS = st.lists(VALUES | st.sampled_from([1, 1.0, True, [1], [True], ["x", 1]]), max_size=5)


@few
@given(ITEMS)
def test_equal_items_are_those_that_the_standard_calls_equal(items: list[Any]) -> None:
    schema = {"uniqueItems": True}
    # Pair by pair: of three the library overlooks equal ones that its sorting keeps apart.
    unique = all(is_standard(schema, [*pair]) for pair in combinations(items, 2))
    assert fits(SchemaShape(schema), items) == unique


def test_many_items_are_told_apart_before_reading_is_given_up() -> None:
    items = [{"at": n} for n in range(20_000)]
    shape = SchemaShape({"uniqueItems": True})
    assert fits(shape, items)
    assert not fits(shape, [*items, {"at": 7.0}])


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "1" * 5000, "NaN", "-Infinity", "1e999", '"\\udfff"']
)
def test_json_that_nobody_can_keep_is_a_misfit(text: str) -> None:
    for shape in (SchemaShape({}), ModelShape(Place)):
        with pytest.raises(MisfitError, match="not JSON"):
            shape.read(text)


def test_number_too_large_to_divide_is_a_misfit() -> None:
    with pytest.raises(MisfitError, match="number"):
        SchemaShape({"multipleOf": 0.5}).read("1" + "0" * 400)
