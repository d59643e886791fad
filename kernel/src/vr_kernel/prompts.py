"""`@prompt` marks a function that writes the beginning of a conversation; `Prompt` serves it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args, get_type_hints

from pydantic import BaseModel

from vr_kernel.content import Content
from vr_kernel.errors import Code, VrError
from vr_kernel.signatures.arguments import arguments_model, validate
from vr_kernel.text.visible_text import visible
from vr_kernel.tools import NAME_PATTERN

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


def prompt(function: F) -> F:
    """Mark a function as a prompt: a template that a person picks in the client.

    The person fills in its annotated parameters; clients send text. It returns the words of the
    user, or several messages. The function itself is not changed.
    """
    setattr(function, MARK, True)
    return function


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
    if not getattr(function, MARK, False) or inspect.iscoroutinefunction(function):
        raise TypeError(f"{name} is not a plain function with @prompt")
    if not NAME_PATTERN.fullmatch(name):
        raise TypeError(f"prompt {name!r} is not named domain_verb in lower case")
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
