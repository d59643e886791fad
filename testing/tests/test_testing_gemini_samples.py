"""Instances of schemas that the fake Gemini answers with when nothing is scripted."""

from __future__ import annotations

from datetime import date, datetime
from enum import Enum
from typing import Annotated, Literal
from uuid import UUID

import jsonschema  # noqa: TID253 - judges the samples
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from vr_testing.service.samples import sample


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Leaf(BaseModel):
    name: Annotated[str, Field(min_length=30, max_length=40)]
    short: Annotated[str, Field(max_length=3)]
    at: datetime
    day: date
    id: UUID


class Tree(BaseModel):
    colour: Colour
    kind: Literal["oak", "elm"]
    leaf: Leaf | None
    children: list[Tree]
    pairs: Annotated[list[tuple[int, str]], Field(min_length=2)]
    names: Annotated[set[str], Field(min_length=3)]
    share: Annotated[float, Field(gt=0.1, lt=0.2)]
    age: Annotated[int, Field(ge=18, multiple_of=5)]
    small: Annotated[int, Field(le=-3)]
    alive: bool
    more: dict[str, int]


def test_pydantic_models_come_back() -> None:
    value = sample(Tree.model_json_schema())
    tree = Tree.model_validate(value)
    assert len(tree.names) == 3
    assert tree.age == 20
    assert value == sample(Tree.model_json_schema())


def test_capital_type_names_of_gemini() -> None:
    schema = {
        "type": "OBJECT",
        "properties": {"n": {"type": "INTEGER"}, "list": {"type": "ARRAY", "items": {"enum": [5]}}},
    }
    assert sample(schema) == {"n": 1, "list": [5]}


def test_parts_and_references_are_put_together() -> None:
    schema = {
        "allOf": [{"$ref": "#/$defs/a"}, {"properties": {"y": {"const": 7}}, "required": ["y"]}],
        "$defs": {"a": {"type": "object", "properties": {"x": {"type": ["null", "boolean"]}}}},
    }
    assert sample(schema) == {"x": True, "y": 7}


@pytest.mark.parametrize("name", ["anyOf", "oneOf"])
def test_first_alternative_that_is_not_null(name: str) -> None:
    assert sample({name: [{"type": "null"}, {"type": "integer", "minimum": 4}]}) == 4


_scalars = st.one_of(
    st.builds(
        lambda low, more: {"type": "integer", "minimum": low, "maximum": low + more},
        st.integers(-100, 100),
        st.integers(0, 10),
    ),
    st.builds(
        lambda low, more: {"type": "string", "minLength": low, "maxLength": low + more},
        st.integers(0, 300),
        st.integers(0, 10),
    ),
    st.just({"type": "boolean"}),
    st.just({"type": "null"}),
    st.just({"type": "number", "exclusiveMinimum": 0}),
    st.builds(lambda values: {"enum": values}, st.lists(st.text(), min_size=1)),
)
_schemas = st.recursive(
    _scalars,
    lambda inner: st.one_of(
        st.builds(
            lambda items, least: {"type": "array", "items": items, "minItems": least},
            inner,
            st.integers(0, 3),
        ),
        st.builds(
            lambda properties: {
                "type": "object",
                "properties": properties,
                "required": sorted(properties),
                "additionalProperties": False,
            },
            st.dictionaries(st.text(max_size=5), inner, max_size=4),
        ),
        st.builds(lambda options: {"anyOf": options}, st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=12,
)


@given(_schemas)
def test_samples_fit_their_schemas(schema: dict[str, object]) -> None:
    jsonschema.validate(sample(schema), schema)
