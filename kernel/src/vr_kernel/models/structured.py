"""Answers in a given shape: the accepted schemas, and the check that a reply fits."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from vr_kernel.generation import Reply
from vr_kernel.models.caller_schemas import PROBLEM_CHARS, require_bounded, survey, where
from vr_kernel.signatures.schemas import compact_input
from vr_kernel.text.visible_text import all_visible

V = TypeVar("V")
V_co = TypeVar("V_co", covariant=True)
PROBLEMS = 20
READING_S = 2.0
"""Processor seconds for checking an answer against a caller's schema; some never end."""


class Shape(Protocol[V_co]):
    """The shape that an answer must have."""

    schema: dict[str, Any]
    quick: bool
    """True when the time for reading depends only on the length of the text."""

    def read(self, text: str) -> V_co:
        """The value in a reply; MisfitError when there is none."""


class MisfitError(ValueError):
    """A reply that does not fit its schema; the text says where and why."""


@dataclass(frozen=True, slots=True)
class Structured(Generic[V]):
    """An answer in the requested shape, and the reply that held it."""

    value: V
    reply: Reply


class ModelShape(Generic[V]):
    """The shape of a pydantic model."""

    quick = True

    def __init__(self, model: type[V]) -> None:
        assert issubclass(model, BaseModel)
        self._model: type[Any] = model
        self.schema: dict[str, Any] = _schema_of(model)

    def read(self, text: str) -> V:
        """The instance that a reply holds.

        Raises:
            MisfitError: saying what does not fit.
        """
        try:
            value: V = self._model.model_validate(_json(text))
        except ValidationError as error:
            problems = error.errors(include_url=False, include_input=False)
            said = "; ".join(
                f"{where(p['loc'])}: {p['msg'].removeprefix('Value error, ')}" for p in problems
            )
            raise MisfitError(said[:PROBLEM_CHARS]) from None
        return value


@lru_cache(maxsize=256)
def _schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Made once per model, since it takes longer than everything else for a request here."""
    return compact_input(model.model_json_schema())


class SchemaShape:
    """The shape of a caller's own JSON schema (draft 2020-12).

    Nothing is fetched, and reading ends: a `pattern` is matched in linear time by pydantic's
    engine, which has no look-around and no back-references, equal items are found by their
    hashes, and a time limit for the whole is checked between keywords. Reading may still take
    `reading_s` seconds, so do it in a thread.

    Raises:
        VrError: TOO_LARGE, category SCHEMA_TOO_LARGE; INVALID_INPUT, category SCHEMA_INVALID.
    """

    quick = False

    def __init__(self, schema: Mapping[str, Any], *, reading_s: float = READING_S) -> None:
        from jsonschema import Draft202012Validator, validators
        from referencing import Registry

        self._reading_s = reading_s
        require_bounded(schema)
        self.schema: dict[str, Any] = json.loads(json.dumps(schema))
        self.schema.pop("$id", None)  # references then resolve within the schema
        self._patterns = survey(self.schema)
        self._end = 0.0
        own = {"pattern": self._match, "uniqueItems": _without_equals}
        keywords = {**Draft202012Validator.VALIDATORS, **own}
        bounded = {name: self._in_time(check) for name, check in keywords.items()}
        kind = validators.extend(Draft202012Validator, validators=bounded)
        self._validator = kind(self.schema, registry=Registry())

    def read(self, text: str) -> Any:
        """The JSON value that a reply holds.

        Raises:
            MisfitError: saying what does not fit.
        """
        value = _json(text)
        self._end = time.thread_time() + self._reading_s
        try:
            problems = [
                f"{where(error.absolute_path)}: {error.message[:PROBLEM_CHARS]}"
                for error in islice(self._validator.iter_errors(value), PROBLEMS)
            ]
        except (RecursionError, ArithmeticError) as error:
            raise MisfitError(f"nested too deeply, or a number too large: {error}") from None
        if problems:
            raise MisfitError("; ".join(problems)[:PROBLEM_CHARS])
        return value

    def _match(
        self, _validator: Any, pattern: str, value: Any, _schema: Any
    ) -> Iterator[Exception]:
        from jsonschema import ValidationError as Problem

        if isinstance(value, str) and not self._patterns[pattern](value):
            yield Problem(f"{value[:100]!r} does not match {pattern!r}")

    def _in_time(self, check: Callable[..., Any]) -> Callable[..., Any]:
        def bounded(validator: Any, keyword: Any, value: Any, schema: Any) -> Any:
            if time.thread_time() > self._end:
                raise MisfitError("it takes too long to find out whether this fits the schema")
            return check(validator, keyword, value, schema)

        return bounded


async def shape_of(schema: type[BaseModel] | Mapping[str, Any]) -> Shape[Any]:
    """The shape of a pydantic model, or of a caller's schema.

    Raises:
        VrError: as `SchemaShape`.
    """
    if isinstance(schema, type):
        return ModelShape(schema)
    return await asyncio.to_thread(caller_shape, schema)  # a large one takes a while to check


def caller_shape(schema: Mapping[str, Any]) -> SchemaShape:
    """The shape of a caller's schema, with hidden characters in names and choices made visible.

    Raises:
        VrError: as `SchemaShape`.
    """
    shape = SchemaShape(schema)
    seen = all_visible(shape.schema)
    return shape if seen == shape.schema else SchemaShape(seen)


def check_schema(schema: Mapping[str, Any]) -> None:
    """Refuse a caller's schema that cannot be used for answers; see `SchemaShape`.

    Raises:
        VrError: TOO_LARGE, category SCHEMA_TOO_LARGE; INVALID_INPUT, category SCHEMA_INVALID.
    """
    SchemaShape(schema)


def _without_equals(_validator: Any, wanted: bool, value: Any, _schema: Any) -> Iterator[Exception]:
    from jsonschema import ValidationError as Problem

    if wanted and isinstance(value, list) and len(set(map(_identity, value))) < len(value):
        yield Problem("has items that are equal")


def _identity(value: Any) -> Hashable:
    """A key that is the same for equal values of JSON Schema: 1 equals 1.0, but not true."""
    if isinstance(value, dict):
        return "object", frozenset((name, _identity(inner)) for name, inner in value.items())
    if isinstance(value, list):
        return "array", tuple(map(_identity, value))
    return isinstance(value, bool), value


def _json(text: str) -> Any:
    try:
        value = json.loads(text)
        # NaN, infinity and lone surrogates cannot be sent or kept.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise MisfitError(f"not JSON: {error}") from None
    return value
