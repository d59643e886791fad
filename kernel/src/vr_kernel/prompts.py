"""`@prompt` marks a function that writes the beginning of a conversation; `Prompt` serves it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args, get_type_hints, overload

from pydantic import BaseModel

from vr_kernel.content import Content
from vr_kernel.errors import Code, VrError
from vr_kernel.signatures.arguments import arguments_model, validate
from vr_kernel.text.visible_text import visible
from vr_kernel.tools import NAME_PATTERN, named_once, require_aliases

MOST_CHARS = 20_000
"""Longest argument of a prompt: a person fills it in."""


@dataclass(frozen=True, slots=True)
class Message:
    """Words of one side of the conversation."""

    content: str | Content
    speaker: Literal["user", "assistant"] = "user"


Written = str | Sequence[Message]
F = TypeVar("F", bound=Callable[..., Written])
MARK = "__vr_prompt__"


@overload
def prompt(function: F, /) -> F: ...
@overload
def prompt(*, aliases: Sequence[str] = ()) -> Callable[[F], F]: ...
def prompt(function: F | None = None, /, *, aliases: Sequence[str] = ()) -> F | Callable[[F], F]:
    """Mark a function as a prompt: a template that a person picks in the client.

    The person fills in its annotated parameters; clients send text. It returns the words of the
    user, or several messages. The function itself is not changed. Use it as `@prompt`, or with
    arguments.

    Args:
        function: what is marked.
        aliases: names that other systems have for it; offered only in the toolset `compat`.
    """

    def mark(function: F) -> F:
        setattr(function, MARK, names)
        return function

    names = named_once(aliases)
    return mark if function is None else mark(function)


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument that a person fills in; `choices` when only some values are allowed."""

    name: str
    description: str
    required: bool
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as a server offers it."""

    name: str
    plugin: str
    description: str
    arguments: tuple[Argument, ...]
    function: Callable[..., Written]
    model: type[BaseModel]
    aliases: tuple[str, ...] = ()

    def write(self, given: Mapping[str, Any]) -> list[Message]:
        """The messages for these arguments, from which invisible characters are removed.

        Raises:
            VrError: INVALID_INPUT, naming each argument that does not fit.
            TypeError: when the function returned neither text nor a sequence of messages.
        """
        for name, value in given.items():
            if isinstance(value, str) and len(value) > MOST_CHARS:
                raise _too_long(self.name, name)
        seen = {n: visible(v) if isinstance(v, str) else v for n, v in given.items()}
        written = self.function(**validate(self.name, self.model, seen))
        if isinstance(written, str):
            return [Message(written)]
        # Not any iterable, since it may be endless.
        parts = written[: len(written)] if isinstance(written, Sequence) else [written]
        messages = [each for each in parts if isinstance(each, Message)]
        if len(messages) < len(parts):
            raise TypeError(f"{self.name} wrote {type(written).__name__}, no text and no messages")
        return messages


def build_prompt(function: Callable[..., Any], plugin: str) -> Prompt:
    """Make a prompt of a marked function.

    Raises:
        TypeError: when the function is no prompt, or its signature cannot be served.
    """
    name = getattr(function, "__name__", repr(function))
    aliases: tuple[str, ...] | None = getattr(function, MARK, None)
    if aliases is None or inspect.iscoroutinefunction(function):
        raise TypeError(f"{name} is not a plain function with @prompt")
    if not NAME_PATTERN.fullmatch(name):
        raise TypeError(f"prompt {name!r} is not named domain_verb in lower case")
    require_aliases(f"prompt {name}", aliases)
    hints = get_type_hints(function, include_extras=True)
    parameters = list(inspect.signature(function).parameters.values())
    model = arguments_model(f"prompt {name}", parameters, hints)
    return Prompt(
        name=name,
        plugin=plugin,
        description=inspect.cleandoc(function.__doc__ or "").partition("\n\n")[0],
        arguments=tuple(_argument(key, field) for key, field in model.model_fields.items()),
        function=function,
        model=model,
        aliases=aliases,
    )


def _argument(name: str, field: Any) -> Argument:
    choices = tuple(each for each in get_args(field.annotation) if isinstance(each, str))
    return Argument(name, field.description or "", field.is_required(), choices)


def _too_long(prompt: str, argument: str) -> VrError:
    return VrError(
        f"{prompt}: {visible(argument)[:100]} has more than {MOST_CHARS:,} characters.",
        Code.INVALID_INPUT,
        hint="Fill in less; long texts belong in files or in the conversation.",
    )
