"""`@tool` marks a plain function; `Tool` is what the kernel makes of it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import Flag, auto
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic.fields import FieldInfo

from vr_kernel.errors import Code, VrError, did_you_mean

F = TypeVar("F", bound=Callable[..., Awaitable[BaseModel]])
MARK = "__vr_tool__"
NAME_PATTERN = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)+")


class Effects(Flag):
    """What a call does to the user's world; own journal, cache and artifacts do not count."""

    READ_ONLY = auto()
    WRITES_LOCAL = auto()
    CALLS_OUT = auto()
    DESTRUCTIVE = auto()
    IDEMPOTENT = auto()


READ_ONLY = Effects.READ_ONLY
WRITES_LOCAL = Effects.WRITES_LOCAL
CALLS_OUT = Effects.CALLS_OUT
DESTRUCTIVE = Effects.DESTRUCTIVE
IDEMPOTENT = Effects.IDEMPOTENT


def tool(*, effects: Effects) -> Callable[[F], F]:
    """Mark an async function as a tool.

    Its first parameter is the `Call`; the others, annotated, are the tool's arguments; it
    returns a pydantic model. The function itself stays as it is and can be called directly.

    Args:
        effects: what a call does to the user's world.
    """

    def mark(function: F) -> F:
        setattr(function, MARK, effects)
        return function

    return mark


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as every front (server, command line, library) serves it."""

    name: str
    plugin: str
    description: str
    effects: Effects
    function: Callable[..., Awaitable[BaseModel]]
    arguments: type[BaseModel]
    result: type[BaseModel]
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]

    @property
    def domain(self) -> str:
        """The word up to the first underscore."""
        return self.name.partition("_")[0]

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of the declared types, defaults filled in.

        Raises:
            VrError: INVALID_INPUT, naming each argument that does not fit.
        """
        try:
            model = self.arguments.model_validate(arguments)
        except ValidationError as error:
            raise self._rejected(error) from None
        return {name: getattr(model, name) for name in self.arguments.model_fields}

    def _rejected(self, error: ValidationError) -> VrError:
        problems = [_problem(item) for item in error.errors(include_url=False)]
        names = list(self.arguments.model_fields)
        unknown = [str(e["loc"][0]) for e in error.errors() if e["type"] == "extra_forbidden"]
        hint = "".join(did_you_mean(name, names) for name in unknown)
        return VrError(
            f"{self.name}: {'; '.join(problems)}",
            Code.INVALID_INPUT,
            hint=f"{hint}Arguments: {', '.join(names) or 'none'}.",
        )


def build_tool(function: Callable[..., Any], plugin: str) -> Tool:
    """Make a tool of a marked function.

    Raises:
        TypeError: when the function is no tool, or its signature cannot be served.
    """
    effects = getattr(function, MARK, None)
    name = getattr(function, "__name__", repr(function))
    if effects is None or not inspect.iscoroutinefunction(function):
        raise TypeError(f"{name} is not an async function with @tool")
    if not NAME_PATTERN.fullmatch(name):
        raise TypeError(f"tool {name!r} is not named domain_verb in lower case")
    hints = get_type_hints(function, include_extras=True)
    result = hints.pop("return", None)
    if not (isinstance(result, type) and issubclass(result, BaseModel)):
        raise TypeError(f"tool {name} does not return a pydantic model")
    arguments = _arguments_model(name, function, hints)
    return Tool(
        name=name,
        plugin=plugin,
        description=inspect.cleandoc(function.__doc__ or "").partition("\n\n")[0],
        effects=effects,
        function=function,
        arguments=arguments,
        result=result,
        input_schema=compact(arguments.model_json_schema()),
        output_schema=compact(result.model_json_schema(mode="serialization")),
    )


def compact(schema: Any, *, names: bool = False) -> Any:
    """A JSON schema without what costs a client tokens and tells it nothing.

    Titles go, and `X or null` with default null becomes an optional X. `names` says that the
    keys of `schema` are property names, not keywords.
    """
    if isinstance(schema, list):
        return [compact(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if names:
        return {key: compact(value) for key, value in schema.items()}
    plain = _without_null(schema)
    return {
        key: compact(value, names=key in ("properties", "$defs"))
        for key, value in plain.items()
        if not (key == "title" and isinstance(value, str))
    }


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    choices = schema.get("anyOf")
    if not choices or schema.get("default", ...) is not None:
        return schema
    rest = [choice for choice in choices if choice != {"type": "null"}]
    outer = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return {**rest[0], **outer} if len(rest) == 1 else {**outer, "anyOf": rest}


def _arguments_model(
    name: str, function: Callable[..., Any], hints: Mapping[str, Any]
) -> type[BaseModel]:
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters:
        raise TypeError(f"tool {name} does not take a Call")
    fields: dict[str, Any] = {}
    for parameter in parameters[1:]:
        if parameter.name not in hints:
            raise TypeError(f"tool {name}: {parameter.name} has no annotation")
        default = ... if parameter.default is parameter.empty else parameter.default
        info = default if isinstance(default, FieldInfo) else FieldInfo(default=default)
        fields[parameter.name] = (hints[parameter.name], info)
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    return create_model(f"{name}_arguments", __config__=config, **fields)


def _problem(item: Any) -> str:
    where = ".".join(str(part) for part in item["loc"]) or "arguments"
    message = str(item["msg"])
    return f"{where}: {message[:1].lower()}{message[1:]}"
