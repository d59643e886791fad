"""Everything that can go wrong with a request, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from vr_testing.gemini import errors
from vr_testing.gemini.answer import Answer
from vr_testing.gemini.errors import ApiError
from vr_testing.gemini.request import RecordedRequest

GENERATING = frozenset({"generateContent", "streamGenerateContent"})
Ending = Literal["closed", "reset", "clean"]
Delivery = Literal["whole", "reset", "lost", "hang", "slow", "truncated"]


def _always(_request: RecordedRequest) -> bool:
    return True


def _generates(request: RecordedRequest) -> bool:
    return request.action in GENERATING


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong; made by the named constructors below.

    An error in place of the answer costs nothing; an answer that is altered, cut or lost was
    generated nevertheless and is on the bill.
    """

    name: str
    applies: Callable[[RecordedRequest], bool] = _always
    """The requests that the fault can happen to."""
    error: Callable[[RecordedRequest], ApiError] | None = None
    alter: Callable[[Answer], Answer] | None = None
    delivery: Delivery = "whole"
    ending: Ending = "closed"
    pause: float = 0.0

    @classmethod
    def status(cls, code: int, message: str = "") -> Fault:
        """An HTTP status with Google's error body; the usual words when no message is given."""
        return cls(f"status {code}", error=lambda _request: ApiError(code, message))

    @classmethod
    def throttled(
        cls, retry_after: float | None = None, *, retry_delay: float | None = None
    ) -> Fault:
        """429; seconds to wait in the header `Retry-After`, in the detail `RetryInfo`, or both."""
        return cls("throttled", error=lambda _request: errors.throttled(retry_after, retry_delay))

    @classmethod
    def invalid_key(cls) -> Fault:
        """400: the API key is not valid."""
        return cls("invalid key", error=lambda _request: errors.invalid_key())

    @classmethod
    def reset(cls) -> Fault:
        """The connection is reset before an answer exists; an upload has lost its second half."""
        return cls("reset", delivery="reset")

    @classmethod
    def lost(cls) -> Fault:
        """The answer is generated, but the connection is reset before a byte of it is sent."""
        return cls("lost", delivery="lost")

    @classmethod
    def hang(cls) -> Fault:
        """No answer comes until the client gives up or the service closes."""
        return cls("hang", delivery="hang")

    @classmethod
    def slow(cls, pause: float = 0.01) -> Fault:
        """The answer comes a byte at a time, `pause` seconds apart."""
        return cls("slow", delivery="slow", pause=pause)

    @classmethod
    def truncated(cls, ending: Ending = "closed") -> Fault:
        """The answer breaks off in its middle.

        Args:
            ending: `closed`: the connection closes before the announced end; `reset`: it is
                reset; `clean`: HTTP ends well, but a stream has no finish reason and a plain
                body is half a JSON text.
        """
        return cls("truncated", delivery="truncated", ending=ending)

    @classmethod
    def invalid_json(cls) -> Fault:
        """The model's text breaks off in its middle, with the finish reason STOP."""
        cut = lambda answer: replace(answer, text=_half(answer.text))  # noqa: E731 - one line
        return cls("invalid json", applies=_generates, alter=cut)

    @classmethod
    def empty(cls) -> Fault:
        """The model says nothing, with the finish reason STOP."""
        nothing = lambda answer: replace(answer, text="", calls=())  # noqa: E731 - one line
        return cls("empty", applies=_generates, alter=nothing)

    @classmethod
    def max_tokens(cls) -> Fault:
        """The first half of the text, with the finish reason MAX_TOKENS."""
        return cls(
            "max tokens",
            applies=_generates,
            alter=lambda answer: replace(answer, text=_half(answer.text), finish="MAX_TOKENS"),
        )

    @classmethod
    def prompt_blocked(cls, reason: str = "SAFETY") -> Fault:
        """The prompt is refused: a block reason and no candidate."""
        return cls(
            "prompt blocked",
            applies=_generates,
            alter=lambda answer: replace(answer, text="", blocked=reason),
        )

    @classmethod
    def answer_blocked(cls, reason: str = "SAFETY") -> Fault:
        """The answer is withheld: a candidate without content, and the finish reason."""
        return cls(
            "answer blocked",
            applies=_generates,
            alter=lambda answer: replace(answer, text="", finish=reason),
        )

    @classmethod
    def file_forbidden(cls) -> Fault:
        """403 for a request that refers to an uploaded file, as for one that expired."""
        return cls(
            "file forbidden",
            applies=lambda request: bool(request.file_ids),
            error=lambda request: errors.file_forbidden(request.file_ids[0]),
        )

    @classmethod
    def cache_refused(cls, tokens: int = 100, least: int = 1024) -> Fault:
        """400 for the creation of a context cache: too small."""
        return cls(
            "cache refused",
            applies=lambda request: request.action == "cachedContents.create",
            error=lambda _request: errors.cache_too_small(tokens, least),
        )

    @classmethod
    def cache_gone(cls) -> Fault:
        """403 for a request that builds on a context cache, as for one that expired."""
        return cls(
            "cache gone",
            applies=lambda request: bool(request.cached_content),
            error=lambda _request: errors.cache_gone(),
        )

    @classmethod
    def thinking_refused(cls) -> Fault:
        """400 for a request with a thinking level, as from a model that does not know it."""
        return cls(
            "thinking refused",
            applies=lambda request: bool(request.thinking_level),
            error=lambda request: ApiError(
                400, f"Thinking level {request.thinking_level} is not supported for this model."
            ),
        )


def _half(text: str) -> str:
    return text[: max(1, len(text) // 2)]
