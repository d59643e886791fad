"""`@tool` marks a plain function; `Tool` is what the kernel makes of it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Flag, auto
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints
from weakref import WeakKeyDictionary

from pydantic import BaseModel

from vr_kernel.signatures.arguments import BY_POSITION, arguments_model, validate
from vr_kernel.signatures.schemas import compact_input, compact_output

if TYPE_CHECKING:
    from vr_kernel.signatures.schema_cache import Pair, ToolSchemas

F = TypeVar("F", bound=Callable[..., Awaitable[BaseModel]])
MARK = "__vr_tool__"
NAME_PATTERN = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)+")
ALIAS_PATTERN = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
COMMAND_PATTERN = re.compile(r"[a-z][a-z0-9-]*")
_schemas: WeakKeyDictionary[Callable[..., Any], Pair] = WeakKeyDictionary()
"""Schemas made from functions, for further kernels of the process."""


class Effects(Flag):
    """Effects of a call on the user's world; own journal, cache and artifacts do not count.

    `PAID` is a call that may ask language models: people can have its cost estimated first.
    """

    READ_ONLY = auto()
    WRITES_LOCAL = auto()
    CALLS_OUT = auto()
    DESTRUCTIVE = auto()
    IDEMPOTENT = auto()
    PAID = auto()


READ_ONLY = Effects.READ_ONLY
WRITES_LOCAL = Effects.WRITES_LOCAL
CALLS_OUT = Effects.CALLS_OUT
DESTRUCTIVE = Effects.DESTRUCTIVE
IDEMPOTENT = Effects.IDEMPOTENT
PAID = Effects.PAID


@dataclass(frozen=True, slots=True)
class Declaration:
    """The facts that `@tool` states of a function."""

    effects: Effects
    long: bool
    core: bool
    aliases: tuple[str, ...]
    words: str
    steps_version: str
    printed: tuple[str, ...]
    command: str


def tool(
    *,
    effects: Effects,
    long: bool = False,
    core: bool = False,
    aliases: Sequence[str] = (),
    words: str = "",
    steps_version: str = "1",
    printed: Sequence[str] = (),
    command: str = "",
) -> Callable[[F], F]:
    """Mark an async function as a tool.

    Its first parameter is the `Call`; the others, annotated, are the tool's arguments; it
    returns a pydantic model. The function itself is not changed and can be called directly.

    Args:
        effects: what a call does to the user's world.
        long: the call may take minutes. It becomes a job: over MCP it returns a handle when it
            takes too long for a client, its paid steps survive a crash, and it can be looked at,
            resumed and cancelled by its id.
        core: the tool is one of the few in the toolset `core`.
        aliases: names that other systems have for it, also of one word; offered only in the
            toolset `compat`, and never as commands.
        words: phrases by which people ask for it, separated by semicolons; the search mode finds
            it by them, clients are not shown them. If there are many, put them into the file
            `phrases.toml` of the plugin's top package, as a list under the tool's name.
        steps_version: of what the call's steps mean; change it with them, and the committed
            steps of older calls are not used any more.
        printed: the field of the result that people want to read, such as a document, followed by
            the field with the address of the artifact that holds all of it, if there is one. A
            pipe gets only that text, with what the view says about it in a line on stderr; so does
            a terminal, page by page, if the plugin has no view that sums it up. Without such a
            field, or when it is empty, both get the view.
        command: one word that also runs it at a terminal, as in `vr search`.
    """

    def mark(function: F) -> F:
        declared = Declaration(
            effects, long, core, named_once(aliases), words, steps_version, tuple(printed), command
        )
        setattr(function, MARK, declared)
        return function

    return mark


@dataclass(frozen=True, slots=True)
class Signature:
    """The models of what a tool's function takes and returns."""

    arguments: type[BaseModel]
    result: type[BaseModel]


@dataclass(frozen=True)
class Tool:
    """A tool in the form that every front (server, command line, library) serves."""

    name: str
    plugin: str
    description: str
    effects: Effects
    function: Callable[..., Awaitable[BaseModel]]
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    long: bool = False
    core: bool = False
    aliases: tuple[str, ...] = ()
    words: str = ""
    steps_version: str = "1"
    printed: tuple[str, ...] = ()
    command: str = ""

    @cached_property
    def signature(self) -> Signature:
        """The models of its arguments and result, made when they are first needed."""
        return read_signature(self.function)

    @property
    def arguments(self) -> type[BaseModel]:
        """The model of its arguments."""
        return self.signature.arguments

    @property
    def result(self) -> type[BaseModel]:
        """The model of its result."""
        return self.signature.result

    @property
    def domain(self) -> str:
        """The word up to the first underscore."""
        return self.name.partition("_")[0]

    def validate(
        self, arguments: Mapping[str, Any], spelled: Callable[[str], str] = str
    ) -> dict[str, Any]:
        """Arguments of the declared types, defaults filled in.

        `spelled` returns the name of an argument as the caller writes it.

        Raises:
            VrError: INVALID_INPUT, naming each argument that does not fit.
        """
        return validate(self.name, self.arguments, arguments, spelled)

    def without_secrets(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Leave out arguments declared as `SecretStr`, such as passwords, which nothing keeps."""
        declared = self.input_schema.get("properties", {})
        secret = {name for name, schema in declared.items() if schema.get("writeOnly")}
        return {name: value for name, value in arguments.items() if name not in secret}


def build_tool(
    function: Callable[..., Any], plugin: str, schemas: ToolSchemas | None = None
) -> Tool:
    """Make a tool of a marked function.

    Args:
        function: marked by `@tool`.
        plugin: whose tool it is.
        schemas: those of earlier starts, which are not made again.

    Raises:
        TypeError: when the function is no tool, or its signature cannot be served.
    """
    declared: Declaration | None = getattr(function, MARK, None)
    name = getattr(function, "__name__", repr(function))
    if declared is None or not inspect.iscoroutinefunction(function):
        raise TypeError(f"{name} is not an async function with @tool")
    if not NAME_PATTERN.fullmatch(name):
        raise TypeError(f"tool {name!r} is not named domain_verb in lower case")
    require_aliases(f"tool {name}", declared.aliases)
    if declared.command and not COMMAND_PATTERN.fullmatch(declared.command):
        raise TypeError(f"command {declared.command!r} of tool {name} is not one word")
    known = schemas.find(function) if schemas is not None else None
    taken, given = known or _made(function, schemas)
    for each in declared.printed:
        if each not in given.get("properties", {}):
            raise TypeError(f"tool {name} prints {each}, which its result does not have")
    return Tool(
        name=name,
        plugin=plugin,
        description=inspect.cleandoc(function.__doc__ or "").partition("\n\n")[0],
        effects=declared.effects,
        function=function,
        input_schema=taken,
        output_schema=given,
        long=declared.long,
        core=declared.core,
        aliases=declared.aliases,
        words=declared.words,
        steps_version=declared.steps_version,
        printed=declared.printed,
        command=declared.command,
    )


def named_once(aliases: Sequence[str]) -> tuple[str, ...]:
    """Aliases without repetitions.

    Raises:
        TypeError: for one text, whose letters would be names.
    """
    if isinstance(aliases, str):
        raise TypeError("aliases are a list of names")
    return tuple(dict.fromkeys(aliases))


def require_aliases(of: str, aliases: Sequence[str]) -> None:
    """Refuse aliases that no client could ask for.

    Raises:
        TypeError: naming one.
    """
    for alias in aliases:
        if not (isinstance(alias, str) and ALIAS_PATTERN.fullmatch(alias)):
            raise TypeError(f"alias {alias!r} of {of} is not of words in lower case")


def read_signature(function: Callable[..., Any]) -> Signature:
    """The models of a tool's arguments and result.

    Raises:
        TypeError: when its signature cannot be served.
    """
    name = function.__name__
    hints = get_type_hints(function, include_extras=True)
    result = hints.pop("return", None)
    if not (isinstance(result, type) and issubclass(result, BaseModel)):
        raise TypeError(f"tool {name} does not return a pydantic model")
    parameters = list(inspect.signature(function).parameters.values())
    _require_call(name, parameters, hints)
    return Signature(arguments_model(f"tool {name}", parameters[1:], hints), result)


def _made(function: Callable[..., Any], schemas: ToolSchemas | None) -> Pair:
    """The schemas of arguments and result, made once per process."""
    made = _schemas.get(function)
    if made is None:
        signature = read_signature(function)
        taken = compact_input(signature.arguments.model_json_schema())
        made = taken, compact_output(_object_schema(function.__name__, signature.result))
        _schemas[function] = made
    if schemas is not None:
        schemas.keep(function, *made)
    return made


def _object_schema(name: str, result: type[BaseModel]) -> dict[str, Any]:
    schema = result.model_json_schema(mode="serialization")
    if "$ref" in schema:  # a model that contains itself; clients want the object at the root
        itself = schema.pop("$ref").rpartition("/")[2]
        schema = {**schema["$defs"][itself], **schema}
    if schema.get("type") != "object":
        raise TypeError(f"tool {name} returns {result.__name__}, which is no JSON object")
    return schema


def _require_call(
    name: str, parameters: Sequence[inspect.Parameter], hints: Mapping[str, Any]
) -> None:
    if not parameters:
        raise TypeError(f"tool {name} does not take a Call")
    given = getattr(hints.get(parameters[0].name), "__name__", "Call")
    if given not in ("Call", "Any") or parameters[0].kind not in BY_POSITION:
        raise TypeError(f"tool {name} does not take a Call first")
