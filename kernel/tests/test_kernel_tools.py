"""From a plain function to a tool: schemas, validated arguments, refusals with a reason."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field, RootModel
from vr_kernel import (
    CALLS_OUT,
    DESTRUCTIVE,
    IDEMPOTENT,
    READ_ONLY,
    WRITES_LOCAL,
    Call,
    VrError,
    tool,
)
from vr_kernel.tools import Tool, build_tool


class Colour(StrEnum):
    """An enumeration whose members are named like keywords."""

    TITLE = "title"
    DEFAULT = "default"


class Cat(BaseModel):
    """One of two choices, told apart by a name that is a keyword."""

    kind: Literal["title"] = "title"
    lives: int = 9


class Dog(BaseModel):
    """The other choice."""

    kind: Literal["anyOf"] = "anyOf"


class Result(BaseModel):
    """A result whose fields are named like keywords of a schema."""

    title: str = "a title"
    default: int | None = None
    properties: dict[str, int | None] = {}
    anyOf: list[str | None] = []  # noqa: N815 - the keyword is spelt so
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] = Cat()
    required_but_null: float | None


async def _result(call: Call) -> Result:
    return Result(required_but_null=None)


class Small(BaseModel):
    """A result of one number."""

    number: int = 0


def _tool_of(function: Any, effects: Any = READ_ONLY) -> Tool:
    return build_tool(tool(effects=effects)(function), "plugin")


async def talk_watch(
    call: Call,
    url: str | None = None,
    title: Annotated[str | None, Field(max_length=20, description="What to call it")] = None,
    default: int = 3,
    anyOf: list[int] | None = None,  # noqa: N803 - the keyword is spelt so
    properties: dict[str, str] | None = None,
    colour: Colour = Colour.TITLE,
    example: dict[str, Any] = Field(default={"title": "kept", "anyOf": [], "default": None}),  # noqa: B008
    rounds: Annotated[int, Field(ge=1, le=9)] = 2,
) -> Small:
    """Watch a talk.

    This second paragraph is for people.
    """
    return Small(number=rounds)


def test_the_description_is_the_first_paragraph() -> None:
    built = _tool_of(talk_watch, READ_ONLY | CALLS_OUT)
    assert (built.name, built.plugin, built.domain) == ("talk_watch", "plugin", "talk")
    assert built.description == "Watch a talk."
    assert READ_ONLY in built.effects
    assert CALLS_OUT in built.effects
    assert not built.effects & (WRITES_LOCAL | DESTRUCTIVE | IDEMPOTENT)


def test_arguments_named_like_keywords_survive() -> None:
    schema = _tool_of(talk_watch).input_schema
    assert list(schema["properties"]) == [
        "url",
        "title",
        "default",
        "anyOf",
        "properties",
        "colour",
        "example",
        "rounds",
    ]
    assert "call" not in schema["properties"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["title"] == {
        "description": "What to call it",
        "maxLength": 20,
        "type": "string",
    }
    assert schema["properties"]["default"] == {"default": 3, "type": "integer"}
    assert schema["properties"]["anyOf"] == {"items": {"type": "integer"}, "type": "array"}
    assert schema["properties"]["rounds"]["maximum"] == 9


def test_data_inside_a_schema_is_not_taken_for_schema() -> None:
    schema = _tool_of(talk_watch).input_schema
    assert schema["properties"]["example"]["default"] == {
        "title": "kept",
        "anyOf": [],
        "default": None,
    }
    assert "title" in str(schema["$defs"]["Colour"]["enum"])


def test_no_titles_are_left() -> None:
    def titles(schema: Any) -> list[Any]:
        if isinstance(schema, list):
            return [found for item in schema for found in titles(item)]
        if not isinstance(schema, dict):
            return []
        own = [schema["title"]] if isinstance(schema.get("title"), str) else []
        inner = [value for key, value in schema.items() if key not in ("default", "mapping")]
        return own + [found for value in inner for found in titles(value)]

    built = _tool_of(talk_watch)
    assert titles(built.input_schema) == titles(built.output_schema) == []


def test_a_required_argument_is_required() -> None:
    async def talk_read(call: Call, url: str, title: str | None) -> Small:
        return Small()

    built = _tool_of(talk_read)
    assert built.input_schema["required"] == ["url", "title"]
    assert {"type": "null"} in built.input_schema["properties"]["title"]["anyOf"]
    with pytest.raises(VrError, match="url: field required"):
        built.validate({"title": None})


def test_a_function_without_arguments_takes_none() -> None:
    async def talk_list(call: Call) -> Small:
        return Small()

    built = _tool_of(talk_list)
    assert built.input_schema.get("properties", {}) == {}
    assert built.validate({}) == {}
    with pytest.raises(VrError, match="url") as caught:
        built.validate({"url": "x"})
    assert caught.value.hint == "Arguments: none."


def test_what_is_printed_alone_is_a_field_of_the_result() -> None:
    async def talk_print(call: Call) -> Small:
        return Small()

    mark = tool(effects=READ_ONLY, printed=("page",))
    with pytest.raises(TypeError, match="talk_print prints page, which its result does not have"):
        build_tool(mark(talk_print), "talk")


def test_the_function_can_still_be_called_directly() -> None:
    assert tool(effects=READ_ONLY)(talk_watch) is talk_watch


# Results: what the server sends fits what it announced.


@pytest.mark.parametrize(
    "result",
    [
        Result(required_but_null=None),
        Result(required_but_null=1.5, default=3, title=""),
        Result(required_but_null=0, properties={"title": None, "x": 1}, anyOf=["a", None]),
        Result(required_but_null=None, pet=Dog()),
    ],
)
def test_a_result_fits_its_schema(result: Result) -> None:
    jsonschema = pytest.importorskip("jsonschema")

    async def talk_tell(call: Call) -> Result:
        return result

    schema = _tool_of(talk_tell).output_schema
    jsonschema.validate(result.model_dump(mode="json"), schema)
    assert list(schema["properties"]) == list(Result.model_fields)
    mapping = schema["properties"]["pet"].get("discriminator", {}).get("mapping", {})
    assert set(mapping) in ({"title", "anyOf"}, set())


class Node(BaseModel):
    """A model that contains itself."""

    name: str
    parts: list[Node] = []


async def talk_tree(call: Call) -> Node:
    return Node(name="root", parts=[Node(name="leaf")])


def test_a_result_that_contains_itself_is_an_object_at_the_root() -> None:
    """Clients refuse the whole list of tools when one result is announced otherwise."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = _tool_of(talk_tree).output_schema
    assert schema["type"] == "object"
    tree = Node(name="root", parts=[Node(name="leaf", parts=[Node(name="twig")])])
    jsonschema.validate(tree.model_dump(mode="json"), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"name": "root", "parts": [{"name": 3}]}, schema)


# Arguments.


def test_defaults_are_filled_in() -> None:
    assert _tool_of(talk_watch).validate({"url": "x"}) == {
        "url": "x",
        "title": None,
        "default": 3,
        "anyOf": None,
        "properties": None,
        "colour": Colour.TITLE,
        "example": {"title": "kept", "anyOf": [], "default": None},
        "rounds": 2,
    }


@pytest.mark.parametrize("name", ["url", "title", "anyOf", "properties"])
def test_null_is_accepted_for_what_may_be_left_out(name: str) -> None:
    """Clients fill in null for optional arguments, although the schema does not mention it."""
    built = _tool_of(talk_watch)
    assert built.validate({name: None})[name] is None
    assert "null" not in str(built.input_schema["properties"][name])


@pytest.mark.parametrize(
    ("arguments", "unknown", "near"),
    [
        ({"titel": "x"}, "titel", "title"),
        ({"URL": "x"}, "URL", None),
        ({"colour": "title", "round": 1}, "round", "rounds"),
        ({"call": "x"}, "call", None),
        ({"": "x"}, "", None),
    ],
)
def test_an_unknown_argument_names_the_nearest(
    arguments: dict[str, Any], unknown: str, near: str | None
) -> None:
    with pytest.raises(VrError) as caught:
        _tool_of(talk_watch).validate(arguments)
    error = caught.value
    assert error.code == "INVALID_INPUT"
    assert error.message.startswith(f"talk_watch: {unknown}")
    assert (f"Did you mean {near!r}?" in error.hint) is (near is not None)
    assert "Arguments: url, title, default" in error.hint


def _refuse(value: str) -> str:
    raise ValueError("first line\nsecond line")


async def talk_check(
    call: Call, name: Annotated[str, AfterValidator(_refuse)], numbers: list[int]
) -> Small:
    return Small()


def test_every_problem_is_named_on_one_line() -> None:
    with pytest.raises(VrError) as caught:
        _tool_of(talk_check).validate(
            {"name": "x", "numbers": [1, "two", 3, "four"], "odd\nname": 1}
        )
    error = caught.value
    assert error.code == "INVALID_INPUT"
    for part in ("name: first line second", "numbers.1: ", "numbers.3: ", "odd name: "):
        assert part in error.message
    assert error.message.endswith("unknown name.")
    assert "\n" not in error.message + error.hint
    assert "errors.pydantic.dev" not in error.message


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({f"k{n}": 1 for n in range(30_000)}, "30,000 unknown names."),
        ({"numbers": ["x"] * 30_000}, "30,001 values do not fit."),
    ],
    ids=["names", "values"],
)
def test_very_many_problems_are_told_by_their_number(given: dict[str, Any], told: str) -> None:
    with pytest.raises(VrError) as caught:
        _tool_of(talk_check).validate(given)
    assert caught.value.code == "INVALID_INPUT"
    assert caught.value.message == f"talk_check: {told}"
    assert caught.value.hint == "Arguments: name, numbers."


class Point(BaseModel):
    """A place."""

    x: float


async def talk_keep(
    call: Call, fields: dict[str, Point] | list[Point], most: int | None = None
) -> Small:
    return Small()


def test_a_choice_of_types_is_one_problem() -> None:
    with pytest.raises(VrError) as caught:
        _tool_of(talk_keep).validate({"fields": "x"})
    assert caught.value.message == (
        "talk_keep: fields: input should be a valid dictionary, or input should be a valid list."
    )
    with pytest.raises(VrError, match=r"; fields\.0\.x: field required\.$"):
        _tool_of(talk_keep).validate({"fields": [{}]})


def test_arguments_are_named_as_the_caller_writes_them() -> None:
    with pytest.raises(VrError, match="talk_keep: MOST: input should be a valid") as caught:
        _tool_of(talk_keep).validate({"fields": [], "most": "x"}, str.upper)
    assert caught.value.hint == "Arguments: FIELDS, MOST."


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"rounds": 10}, "rounds"),
        ({"rounds": "many"}, "rounds"),
        ({"rounds": None}, "rounds"),
        ({"rounds": True}, "rounds"),
        ({"default": False}, "default"),
        ({"anyOf": [1, True]}, "anyOf.1"),
        ({"title": "x" * 21}, "title"),
        ({"colour": "blue"}, "colour"),
        ({"anyOf": 3}, "anyOf"),
        ({"properties": {"a": 1}}, "properties.a"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(VrError) as caught:
        _tool_of(talk_watch).validate(arguments)
    assert caught.value.code == "INVALID_INPUT"
    assert f"{named}: " in caught.value.message


def test_true_and_false_are_no_numbers() -> None:
    with pytest.raises(VrError) as caught:
        _tool_of(talk_keep).validate({"fields": {"a": {"x": True}}, "most": True}, str.upper)
    assert caught.value.message == (
        "talk_keep: FIELDS.a.x: input should be a number, not true or false;"
        " MOST: input should be a number, not true or false."
    )
    assert caught.value.hint == "Arguments: FIELDS, MOST."
    kept = _tool_of(talk_watch).validate({"example": {"yes": True, "all": [True, 1]}})
    assert kept["example"] == {"yes": True, "all": [True, 1]}


def test_a_value_is_not_repeated_in_the_error() -> None:
    with pytest.raises(VrError) as caught:
        _tool_of(talk_watch).validate({"rounds": "s3cr3t", "title": "s3cr3t" * 9, "url": 5})
    assert "s3cr3t" not in caught.value.message + caught.value.hint


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)
names = st.sampled_from(["url", "title", "default", "anyOf", "colour", "rounds"]) | st.text()


@settings(max_examples=30)
@given(arguments=st.dictionaries(names, json_values, max_size=5))
def test_any_arguments_are_taken_or_refused_on_one_line(arguments: dict[str, Any]) -> None:
    taken, refusal = _outcome(arguments)
    if taken is None:
        assert [line for line in refusal.splitlines() if line] == [refusal]
        assert refusal.startswith("INVALID_INPUT talk_watch: ")
    else:
        assert set(arguments) <= set(taken)
        assert 1 <= taken["rounds"] <= 9


def _outcome(arguments: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """Return what was taken, or what was said."""
    try:
        return _tool_of(talk_watch).validate(arguments), ""
    except VrError as error:
        return None, f"{error.code.value} {error.message} {error.hint}"


def test_an_account_of_many_problems_is_short() -> None:
    flood = {f"{'x' * 1000}{number}": number for number in range(2000)} | {"y" * 1_000_000: 1}
    with pytest.raises(VrError) as caught:
        _tool_of(talk_watch).validate(flood)
    assert len(caught.value.message) + len(caught.value.hint) < 5000


# Functions that cannot be served.


async def unmarked_tool(call: Call) -> Small:
    return Small()


def plain_function(call: Call) -> Small:
    return Small()


async def generator_tool(call: Call):
    yield Small()


async def Upper_case(call: Call) -> Small:  # noqa: N802
    return Small()


async def word(call: Call) -> Small:
    return Small()


async def no_call() -> Small:
    return Small()


async def no_result(call: Call):
    return Small()


async def dict_result(call: Call) -> dict[str, int]:
    return {}


async def optional_result(call: Call) -> Small | None:
    return None


async def list_result(call: Call) -> RootModel[list[int]]:
    return RootModel[list[int]]([])


async def bare_argument(call: Call, url) -> Small:
    return Small()


async def many_arguments(call: Call, *urls: str) -> Small:
    return Small()


async def any_argument(call: Call, **options: str) -> Small:
    return Small()


async def by_position(call: Call, url: str, /) -> Small:
    return Small()


async def call_by_name(*, call: Call) -> Small:
    return Small()


async def call_forgotten(url: str, title: str = "") -> Small:
    return Small()


@pytest.mark.parametrize(
    "function",
    [
        plain_function,
        generator_tool,
        Upper_case,
        word,
        no_call,
        no_result,
        dict_result,
        optional_result,
        list_result,
        bare_argument,
        many_arguments,
        any_argument,
        by_position,
        call_by_name,
        call_forgotten,
    ],
    ids=lambda function: function.__name__,
)
def test_a_function_that_cannot_be_served_is_refused(function: Any) -> None:
    with pytest.raises(TypeError, match=function.__name__):
        _tool_of(function)


@pytest.mark.parametrize("thing", [unmarked_tool, lambda: None, 3, None, "video_watch", Small])
def test_what_is_no_tool_is_refused(thing: Any) -> None:
    with pytest.raises(TypeError):
        build_tool(thing, "plugin")


def test_a_plugin_whose_tool_cannot_be_served_is_named(make_plugin: Any, config: Any) -> None:
    from vr_kernel import Kernel

    bad = make_plugin(tools=[tool(effects=READ_ONLY)(many_arguments)])
    kernel = Kernel(config, {"bad": bad})
    (status,) = [status for status in kernel.plugins() if status.name == "bad"]
    assert status.state.value == "broken"
    assert "many_arguments" in status.reason
