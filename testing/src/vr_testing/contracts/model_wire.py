"""A fake model service as the contract of model providers sees it, whatever its protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from vr_kernel.errors import Code
from vr_kernel.generation import ToolCall, Usage

Trouble = Literal[
    "bad_request",
    "bad_key",
    "forbidden",
    "not_found",
    "throttled",
    "throttled_in_body",
    "internal",
    "overloaded",
    "reset",
    "lost",
    "cut_off",
    "garbled",
    "prompt_blocked",
    "answer_blocked",
    "max_tokens",
    "stream_closed",
    "stream_reset",
    "stream_unfinished",
]
"""A failure of one request."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The error of a trouble; `paid`: the error carries the usage that was paid nevertheless."""

    code: Code
    retryable: bool
    category: str = ""
    paid: bool = False


FAILURES: Mapping[Trouble, Failure] = {
    "bad_request": Failure(Code.INVALID_INPUT, retryable=False),
    "bad_key": Failure(Code.AUTH, retryable=False),
    "forbidden": Failure(Code.AUTH, retryable=False),
    "not_found": Failure(Code.NOT_FOUND, retryable=False),
    "throttled": Failure(Code.QUOTA, retryable=True),
    "throttled_in_body": Failure(Code.QUOTA, retryable=True),
    "internal": Failure(Code.UNAVAILABLE, retryable=True),
    "overloaded": Failure(Code.UNAVAILABLE, retryable=True),
    "reset": Failure(Code.UNAVAILABLE, retryable=True),
    "lost": Failure(Code.UNAVAILABLE, retryable=True),
    "cut_off": Failure(Code.UNAVAILABLE, retryable=True),
    "garbled": Failure(Code.UNAVAILABLE, retryable=True),
    "prompt_blocked": Failure(Code.NOT_ALLOWED, retryable=False, category="SAFETY_BLOCKED"),
    "answer_blocked": Failure(Code.NOT_ALLOWED, False, "SAFETY_BLOCKED", paid=True),
    "max_tokens": Failure(Code.TOO_LARGE, False, "REPLY_CUT_OFF", paid=True),
    "stream_closed": Failure(Code.UNAVAILABLE, True, "REPLY_TRUNCATED"),
    "stream_reset": Failure(Code.UNAVAILABLE, True, "REPLY_TRUNCATED"),
    "stream_unfinished": Failure(Code.UNAVAILABLE, True, "REPLY_TRUNCATED"),
}
"""The error of each trouble, as `vr_kernel.models.provider.ModelProvider` documents it."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A question to a model as it came over the wire.

    Args:
        model: the model asked.
        turns: who spoke, `user` or `model`, and what was said.
        system: the system instruction.
        schema: the JSON schema of the answer.
        media: how many parts are files.
        key: the API key.
        tools: the declared tools, with the schemas of their arguments.
        calls: name and arguments of each call of a model in it.
        results: what is said of each result of a tool in it, in the order sent.
    """

    model: str
    turns: tuple[tuple[str, str], ...]
    system: str
    schema: Mapping[str, Any] | None
    media: int
    key: str
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    results: tuple[str, ...] = ()


class ModelWire(Protocol):
    """A fake service as the contract needs it."""

    troubles: frozenset[Trouble]
    """The troubles that its protocol has."""

    def answer(self, text: str, *, thought: str = "") -> None:
        """Answer every later question with this text."""

    def call(self, *calls: ToolCall, text: str = "") -> None:
        """Answer the next question with calls of tools, after some words.

        It refuses a later question in which they come back otherwise than its protocol wants.
        """

    def trouble(self, trouble: Trouble, *, retry_after: float | None = None) -> None:
        """Make the next question fail; a throttled one may say when to retry."""

    def trickle(self) -> None:
        """Make every later stream pause after its first piece, longer than any test waits."""

    def hold(self) -> AbstractContextManager[None]:
        """Hold all answers back until the `with` block ends."""

    def wait(self, condition: Callable[[], bool], timeout: float = 10.0) -> None:
        """Wait until a condition on this object holds.

        Raises:
            TimeoutError: it does not.
        """

    @property
    def sent(self) -> list[Sent]:
        """The questions so far."""

    @property
    def attempts(self) -> int:
        """The paid requests so far, of any kind."""

    @property
    def in_flight(self) -> int:
        """Number of requests that are being answered at this moment."""

    @property
    def cancelled(self) -> int:
        """Number of requests that ended because the client hung up."""

    @property
    def bill(self) -> Usage:
        """The bill for all that was generated so far."""
