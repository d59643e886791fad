"""`@tool` marks a plain function; `Tool` is what the kernel makes of it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Flag, auto
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_core import to_json

from vr_kernel.errors import Code, VrError, did_you_mean
from vr_kernel.schemas import compact_input, compact_output

F = TypeVar("F", bound=Callable[..., Awaitable[BaseModel]])
MARK = "__vr_tool__"
_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
MESSAGE_LIMIT = 2000
"""Longest account of what does not fit, in characters."""
NEAR_NAMES, NEAR_LENGTH = 5, 64
"""For how many unknown names, and how much of each, the nearest known name is sought."""
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


@dataclass(frozen=True, slots=True)
class Declaration:
    """What `@tool` says of a function."""

    effects: Effects
    long: bool
    core: bool
    aliases: tuple[str, ...]
    words: str
    steps_version: str


def tool(
    *,
    effects: Effects,
    long: bool = False,
    core: bool = False,
    aliases: Sequence[str] = (),
    words: str = "",
    steps_version: str = "1",
) -> Callable[[F], F]:
    """Mark an async function as a tool.

    Its first parameter is the `Call`; the others, annotated, are the tool's arguments; it
    returns a pydantic model. The function itself stays as it is and can be called directly.

    Args:
        effects: what a call does to the user's world.
        long: the call may take minutes. It becomes a job: over MCP it answers with a handle
            when it takes too long for a client, its paid steps survive a crash, and it can be
            looked at, resumed and cancelled by its id.
        core: the tool is among the few that a client is shown of the toolset `core`.
        aliases: names that other systems have for it; offered in the toolset `compat` alone.
        words: what people say for it beside its name and description, for the search mode.
        steps_version: of what the call's steps mean; change it with them, and the committed
            steps of older calls are not used any more.
    """

    def mark(function: F) -> F:
        setattr(
            function, MARK, Declaration(effects, long, core, tuple(aliases), words, steps_version)
        )
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
    long: bool = False
    core: bool = False
    aliases: tuple[str, ...] = ()
    words: str = ""
    steps_version: str = "1"

    @property
    def domain(self) -> str:
        """The word up to the first underscore."""
        return self.name.partition("_")[0]

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of the declared types, defaults filled in.

        Raises:
            VrError: INVALID_INPUT, naming each argument that does not fit.
        """
        _require_plain(self.name, arguments)
        try:
            model = self.arguments.model_validate(arguments)
        except ValidationError as error:
            raise self._rejected(error) from None
        return {name: getattr(model, name) for name in self.arguments.model_fields}

    def _rejected(self, error: ValidationError) -> VrError:
        problems = [_problem(item) for item in error.errors(include_url=False)]
        names = list(self.arguments.model_fields)
        unknown = [str(e["loc"][0]) for e in error.errors() if e["type"] == "extra_forbidden"]
        hint = "".join(did_you_mean(name[:NEAR_LENGTH], names) for name in unknown[:NEAR_NAMES])
        hint += "".join(_near_choice(item) for item in error.errors(include_url=False))
        return VrError(
            f"{self.name}: {'; '.join(problems)[:MESSAGE_LIMIT]}",
            Code.INVALID_INPUT,
            hint=f"{hint}Arguments: {', '.join(names) or 'none'}.",
        )


def build_tool(function: Callable[..., Any], plugin: str) -> Tool:
    """Make a tool of a marked function.

    Raises:
        TypeError: when the function is no tool, or its signature cannot be served.
    """
    declared: Declaration | None = getattr(function, MARK, None)
    name = getattr(function, "__name__", repr(function))
    if declared is None or not inspect.iscoroutinefunction(function):
        raise TypeError(f"{name} is not an async function with @tool")
    for each in (name, *declared.aliases):
        if not NAME_PATTERN.fullmatch(each):
            raise TypeError(f"tool {each!r} is not named domain_verb in lower case")
    hints = get_type_hints(function, include_extras=True)
    result = hints.pop("return", None)
    if not (isinstance(result, type) and issubclass(result, BaseModel)):
        raise TypeError(f"tool {name} does not return a pydantic model")
    arguments = _arguments_model(name, function, hints)
    return Tool(
        name=name,
        plugin=plugin,
        description=inspect.cleandoc(function.__doc__ or "").partition("\n\n")[0],
        effects=declared.effects,
        function=function,
        arguments=arguments,
        result=result,
        input_schema=compact_input(arguments.model_json_schema()),
        output_schema=compact_output(_object_schema(name, result)),
        long=declared.long,
        core=declared.core,
        aliases=declared.aliases,
        words=declared.words,
        steps_version=declared.steps_version,
    )


def _object_schema(name: str, result: type[BaseModel]) -> dict[str, Any]:
    schema = result.model_json_schema(mode="serialization")
    if "$ref" in schema:  # of a model that contains itself; clients want the object at the root
        itself = schema.pop("$ref").rpartition("/")[2]
        schema = {**schema["$defs"][itself], **schema}
    if schema.get("type") != "object":
        raise TypeError(f"tool {name} returns {result.__name__}, which is no JSON object")
    return schema


def _arguments_model(
    name: str, function: Callable[..., Any], hints: Mapping[str, Any]
) -> type[BaseModel]:
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters:
        raise TypeError(f"tool {name} does not take a Call")
    given = getattr(hints.get(parameters[0].name), "__name__", "Call")
    if given not in ("Call", "Any") or parameters[0].kind not in _BY_POSITION:
        raise TypeError(f"tool {name} does not take a Call first")
    fields: dict[str, Any] = {}
    for parameter in parameters[1:]:
        if parameter.name not in hints:
            raise TypeError(f"tool {name}: {parameter.name} has no annotation")
        if parameter.kind not in _BY_NAME:
            raise TypeError(f"tool {name}: {parameter} cannot be given by its name")
        default = ... if parameter.default is parameter.empty else parameter.default
        info = default if isinstance(default, FieldInfo) else FieldInfo(default=default)
        fields[parameter.name] = (hints[parameter.name], info)
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    return create_model(f"{name}_arguments", __config__=config, **fields)


def _near_choice(item: Any) -> str:
    """The nearest of the values that an argument takes."""
    value = item.get("input")
    if item["type"] not in ("literal_error", "enum") or not isinstance(value, str):
        return ""
    choices = re.findall(r"'([^']*)'", str(item.get("ctx", {}).get("expected", "")))
    return did_you_mean(value[:NEAR_LENGTH].lower(), choices)


def _problem(item: Any) -> str:
    where = ".".join(str(part) for part in item["loc"]) or "arguments"
    message = str(item["msg"])
    return _visible(f"{where}: {message[:1].lower()}{message[1:]}")


def _require_plain(name: str, arguments: Mapping[str, Any]) -> None:
    """Refuse text that no result, record or error could hold: half a character."""
    where: list[str] = []
    value: Any = dict(arguments)
    if _is_plain(value):
        return
    while isinstance(value, (dict, list)) and len(where) < NEAR_NAMES:
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        key, value = next((pair for pair in inner if not _is_plain(pair[1])), (None, None))
        where += [] if key is None else [str(key)[:NEAR_LENGTH]]
    what = _visible(".".join(where)) or "a name"
    raise VrError(
        f"{name}: {what} holds half a character (a lone surrogate).",
        Code.INVALID_INPUT,
        hint="Give text that is valid Unicode.",
    )


def _is_plain(value: Any) -> bool:
    try:
        to_json(value, bytes_mode="base64", fallback=repr)
    except ValueError as error:  # also of depth, which whoever takes such a value judges
        return "UnicodeEncodeError" not in str(error)
    return True


def _visible(text: str) -> str:
    """One line that shows all it has, whatever a name or a plugin's own message holds."""
    line = " ".join(text.split())
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)
