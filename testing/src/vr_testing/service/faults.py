"""Everything that can go wrong with a request to any service, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from vr_testing.service.answer import Answer
from vr_testing.service.errors import ServiceError
from vr_testing.service.reply import HttpReply, as_json

Ending = Literal["closed", "reset", "clean"]
Delivery = Literal["whole", "reset", "lost", "hang", "slow", "truncated"]


def _always(_request: Any) -> bool:
    return True


def _asks_model(request: Any) -> bool:
    return bool(request.asks_model)


def _generates(request: Any) -> bool:
    return bool(request.generates)


@dataclass(frozen=True)
class ServiceFault:
    """One thing that goes wrong; made by the named constructors below.

    An error in place of the answer costs nothing; an answer that is altered, cut or lost was
    generated nevertheless and is on the bill.
    """

    name: str
    applies: Callable[[Any], bool] = _always
    """The requests that the fault can happen to."""
    error: Callable[[Any], ServiceError] | None = None
    alter: Callable[[Answer], Answer] | None = None
    delivery: Delivery = "whole"
    ending: Ending = "closed"
    pause: float = 0.0
    instead: HttpReply | None = None
    """Sent in place of the answer."""
    events: int | None = None
    """Events of the stream that come before the error; None for an error in its place."""

    @classmethod
    def status(cls, code: int, message: str = "", *, kind: str = "") -> Self:
        """An HTTP status with the service's error body; its usual words without a message."""
        return cls(f"status {code}", error=lambda _request: ServiceError(code, message, kind=kind))

    @classmethod
    def in_stream(cls, code: int, events: int, message: str = "") -> Self:
        """An error comes in a stream after so many events; the answer was generated."""
        return cls(
            f"status {code} in stream",
            applies=lambda request: bool(request.generates and request.streams),
            error=lambda _request: ServiceError(code, message),
            events=events,
        )

    @classmethod
    def reset(cls) -> Self:
        """The connection is reset before an answer exists; an upload has lost its second half."""
        return cls("reset", delivery="reset")

    @classmethod
    def lost(cls) -> Self:
        """The answer is generated, but the connection is reset before a byte of it is sent."""
        return cls("lost", delivery="lost")

    @classmethod
    def hang(cls) -> Self:
        """No answer comes until the client gives up or the service closes."""
        return cls("hang", delivery="hang")

    @classmethod
    def slow(cls, pause: float = 0.01) -> Self:
        """The answer comes a byte at a time, `pause` seconds apart."""
        return cls("slow", delivery="slow", pause=pause)

    @classmethod
    def truncated(cls, ending: Ending = "closed") -> Self:
        """The answer breaks off in its middle.

        Args:
            ending: `closed`: the connection closes before the announced end; `reset`: it is
                reset; `clean`: HTTP ends well, but a stream has no finish reason and a plain
                body is half a JSON text.
        """
        return cls("truncated", delivery="truncated", ending=ending)

    @classmethod
    def invalid_json(cls) -> Self:
        """The model's text breaks off in its middle, as if it had ended there."""
        cut = lambda answer: replace(answer, text=_half(answer.text))  # noqa: E731 - one line
        return cls("invalid json", applies=_generates, alter=cut)

    @classmethod
    def reshaped(cls, value: Any) -> Self:
        """This JSON comes in place of the answer, which was generated."""
        return cls("reshaped", applies=_asks_model, instead=as_json(value))

    @classmethod
    def redirect(cls, address: str) -> Self:
        """The answer, which was generated, is to be fetched at another address (307)."""
        moved = HttpReply(307, headers={"Location": address})
        return cls("redirect", applies=_asks_model, instead=moved)

    @classmethod
    def empty(cls) -> Self:
        """The model says nothing, and ends as usual."""
        nothing = lambda answer: replace(answer, text="", calls=())  # noqa: E731 - one line
        return cls("empty", applies=_generates, alter=nothing)

    @classmethod
    def max_tokens(cls) -> Self:
        """The first half of the text: the answer has reached its most tokens."""
        return cls(
            "max tokens",
            applies=_generates,
            alter=lambda answer: replace(answer, text=_half(answer.text), finish="MAX_TOKENS"),
        )

    @classmethod
    def prompt_blocked(cls, reason: str = "SAFETY") -> Self:
        """The prompt is refused, without an answer."""
        return cls(
            "prompt blocked",
            applies=_generates,
            alter=lambda answer: replace(answer, text="", blocked=reason),
        )

    @classmethod
    def answer_blocked(cls, reason: str = "SAFETY") -> Self:
        """The answer is withheld."""
        return cls(
            "answer blocked",
            applies=_generates,
            alter=lambda answer: replace(answer, text="", finish=reason),
        )


def _half(text: str) -> str:
    return text[: max(1, len(text) // 2)]
