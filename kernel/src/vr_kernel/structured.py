"""Answers in a given shape: what a schema may be, and whether a reply fits it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from itertools import islice
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from vr_kernel.errors import Code, VrError
from vr_kernel.generation import Reply
from vr_kernel.schemas import compact_input

V = TypeVar("V")
SCHEMA_BYTES = 65_536
SCHEMA_DEPTH = 20
"""Most that a caller's schema may have; each level is two levels of JSON."""
PROBLEM_CHARS = 1000
"""How much of what does not fit is told to the model, or to a caller."""
PROBLEMS = 20
READING_S = 2.0
"""Processor time for holding an answer against a caller's schema; some take for ever."""
_REFERENCES = ("$ref", "$dynamicRef")
_SEVERAL = ("allOf", "anyOf", "oneOf")
_ONE = ("not", "if", "then", "else")
_NOT_TAKEN = frozenset({"$id", "patternProperties"})
_DATA = frozenset({"const", "default", "enum", "examples"})
"""Keywords whose values are no schemas."""


class MisfitError(ValueError):
    """A reply that does not fit its schema; the text says where and why."""


@dataclass(frozen=True, slots=True)
class Structured(Generic[V]):
    """An answer in the shape that was asked for, and the reply that it came in."""

    value: V
    reply: Reply


class ModelShape(Generic[V]):
    """The shape of a pydantic model."""

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
            said = "; ".join(f"{_where(p['loc'])}: {p['msg']}" for p in problems)
            raise MisfitError(said[:PROBLEM_CHARS]) from None
        return value

    def dump(self, value: V) -> Any:
        """The instance as JSON."""
        assert isinstance(value, BaseModel)
        return value.model_dump(mode="json")

    def load(self, data: Any) -> V:
        """The instance of `dump`."""
        value: V = self._model.model_validate(data)
        return value


@lru_cache(maxsize=256)
def _schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Made once a model, as it takes longer than all else that is done for a request here."""
    return compact_input(model.model_json_schema())


class SchemaShape:
    """The shape of a caller's own JSON schema (draft 2020-12).

    Nothing is fetched, and no schema makes reading hang: a `pattern` is matched in linear time
    by pydantic's engine, which has no look-around and no back-references, and there is a limit
    for the whole.

    Raises:
        VrError: TOO_LARGE, category SCHEMA_TOO_LARGE; INVALID_INPUT, category SCHEMA_INVALID.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        from jsonschema import Draft202012Validator, validators
        from referencing import Registry

        _require_bounded(schema)
        self.schema: dict[str, Any] = json.loads(json.dumps(schema))
        self.schema.pop("$id", None)  # References are then within the schema.
        self._patterns = _survey(self.schema)
        self._end = 0.0
        keywords = {**Draft202012Validator.VALIDATORS, "pattern": self._match}
        bounded = {name: self._in_time(check) for name, check in keywords.items()}
        kind = validators.extend(Draft202012Validator, validators=bounded)
        self._validator = kind(self.schema, registry=Registry())

    def read(self, text: str) -> Any:
        """The JSON value that a reply holds.

        Raises:
            MisfitError: saying what does not fit.
        """
        value = _json(text)
        self._end = time.thread_time() + READING_S
        try:
            problems = [
                f"{_where(error.absolute_path)}: {error.message[:PROBLEM_CHARS]}"
                for error in islice(self._validator.iter_errors(value), PROBLEMS)
            ]
        except (RecursionError, ArithmeticError) as error:
            raise MisfitError(f"nested too deeply, or a number too large: {error}") from None
        if problems:
            raise MisfitError("; ".join(problems)[:PROBLEM_CHARS])
        return value

    def dump(self, value: Any) -> Any:
        """The value itself."""
        return value

    def load(self, data: Any) -> Any:
        """The value itself."""
        return data

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


def check_schema(schema: Mapping[str, Any]) -> None:
    """Refuse a caller's schema that answers cannot be asked for in; see `SchemaShape`.

    Raises:
        VrError: TOO_LARGE, category SCHEMA_TOO_LARGE; INVALID_INPUT, category SCHEMA_INVALID.
    """
    SchemaShape(schema)


def _require_bounded(schema: Mapping[str, Any]) -> None:
    for count, (depth, item) in enumerate(_walk(schema)):
        if depth > 2 * SCHEMA_DEPTH or count > SCHEMA_BYTES:
            raise _too_large()
        for name in _REFERENCES if isinstance(item, dict) else ():
            if isinstance(item.get(name), str):
                _require_within(name, item[name])
    try:
        text = json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise _invalid(f"it is no JSON: {error}") from None
    if len(text) > SCHEMA_BYTES:
        raise _too_large()


def _survey(schema: dict[str, Any]) -> dict[str, Callable[[str], bool]]:
    """Refuse what would fail or never end once an answer is there; returns the patterns' tests."""
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    _require_valid(schema)
    resource = DRAFT202012.create_resource(schema)
    resolver = Registry().with_resource("", resource).crawl().resolver()
    patterns: dict[str, Callable[[str], bool]] = {}
    graph: dict[int, list[int]] = {}
    todo: list[Any] = [schema]
    referred: list[Any] = []
    while todo or referred:
        is_referred = not todo
        item = referred.pop() if is_referred else todo.pop()
        if id(item) in graph or item is True or item is False:
            continue
        if is_referred:  # It referred to need not be where schemas are.
            _require_valid(item)
        for name in _NOT_TAKEN & item.keys():
            raise _invalid(f"{name} is not taken")
        if "pattern" in item:
            patterns[item["pattern"]] = _compiled(item["pattern"])
        targets = [_target(resolver, name, item[name]) for name in _REFERENCES if name in item]
        graph[id(item)] = [id(each) for each in (*targets, *_in_place(item))]
        referred += targets
        todo += DRAFT202012.subresources_of(item)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        raise _invalid("its references never end") from None
    return patterns


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
    """The parts of a schema that look at the same value as the whole."""
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
        raise _invalid(f"{_where(error.absolute_path)}: {error.message}") from None


def _compiled(pattern: str) -> Callable[[str], bool]:
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern)).isinstance_python
    except SchemaError:
        raise _invalid(
            f"the pattern {pattern[:100]!r} is none, is too large, or looks around or back"
        ) from None


def _walk(schema: Any) -> Iterator[tuple[int, Any]]:
    """Every part with its depth; of what is data the depth alone counts."""
    todo: list[tuple[int, Any, bool]] = [(1, schema, False)]
    while todo:
        depth, item, is_data = todo.pop()
        yield depth, None if is_data else item
        if isinstance(item, dict):
            todo.extend((depth + 1, v, is_data or k in _DATA) for k, v in item.items())
        elif isinstance(item, list):
            todo.extend((depth + 1, value, is_data) for value in item)


def _json(text: str) -> Any:
    try:
        value = json.loads(text)
        # Neither NaN, infinity nor half a character can be sent on or kept.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise MisfitError(f"not JSON: {error}") from None
    return value


def _where(path: Any) -> str:
    return ".".join(str(part) for part in path) or "the answer"


def _too_large() -> VrError:
    return VrError(
        "output_schema is too large or too deep.",
        Code.TOO_LARGE,
        category="SCHEMA_TOO_LARGE",
        hint=f"At most {SCHEMA_BYTES // 1024} KiB and {SCHEMA_DEPTH} levels are taken.",
    )


def _invalid(what: str) -> VrError:
    return VrError(
        f"output_schema is no usable JSON schema: {what[:PROBLEM_CHARS]}.",
        Code.INVALID_INPUT,
        category="SCHEMA_INVALID",
        hint="Give a JSON Schema (draft 2020-12) without references to other documents.",
    )
