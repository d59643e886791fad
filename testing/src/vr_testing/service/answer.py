"""The model's answer to one request."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from vr_testing.service.bill import CHARS_PER_TOKEN, text_tokens
from vr_testing.service.request import Received
from vr_testing.service.samples import sample

PIECES = 4
"""Pieces in which the words of a stream are sent."""


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call that the model makes; the service gives it no id, or its own, when it is left out."""

    name: str
    args: Any = field(default_factory=dict)
    id: str = ""

    @property
    def shown(self) -> dict[str, Any]:
        """The call as JSON."""
        own = {"id": self.id} if self.id else {}
        return {**own, "name": self.name, "args": self.args}


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the model.

    Args:
        text: the words, JSON where a schema was asked for.
        thought: its thoughts before the answer; sent as a thought part, and billed as thinking.
        finish: the finish reason: `STOP`, `MAX_TOKENS` or `SAFETY`; each family has its own words.
        blocked: the block reason of a prompt that is refused; empty when it is not.
        sources: title and address of the pages named as grounding.
        queries: the searches of the web that it took.
        calls: the functions that it calls after its words; their first part is signed.
        signed: whether its words are signed, too; in a stream by a part of its own at the end.
    """

    text: str = ""
    thought: str = ""
    finish: str = "STOP"
    blocked: str = ""
    sources: tuple[tuple[str, str], ...] = ()
    queries: tuple[str, ...] = ()
    calls: tuple[FunctionCall, ...] = ()
    signed: bool = False

    def within(self, tokens: int | None) -> Self:
        """The answer, cut where it has that many tokens."""
        if tokens is None or text_tokens(self.text) <= tokens:
            return self
        text = self.text[: tokens * CHARS_PER_TOKEN]
        return replace(self, text=text, finish="MAX_TOKENS", calls=())


Content = str | Mapping[str, Any] | Sequence[Any] | Answer
"""A text, a value to send as JSON, or a whole answer."""
Reaction = Content | Callable[[Any], Content]


def settle(reaction: Reaction, request: Received) -> Answer:
    """The answer that a scripted reaction gives to a request."""
    content = reaction(request) if callable(reaction) else reaction
    if isinstance(content, Answer):
        return content
    return Answer(content if isinstance(content, str) else json.dumps(content))


def unscripted(request: Received) -> Answer:
    """The answer to a request that nothing was scripted for."""
    if request.schema is not None:
        return Answer(json.dumps(sample(request.schema)))
    return Answer(f"A fake answer to: {request.text[:60]}")


def in_pieces(text: str) -> list[str]:
    """The text in the pieces in which a stream sends it."""
    length = math.ceil(len(text) / PIECES) or 1
    return [text[start : start + length] for start in range(0, len(text), length)]
