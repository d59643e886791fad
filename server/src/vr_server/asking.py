"""The ways to the person behind a client: the two eras of the protocol ask differently."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Protocol

from fastmcp.server.context import Context
from fastmcp.server.elicitation import get_elicitation_schema
from fastmcp.tools.base import InputRequiredToolResult
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from vr_kernel import Answer, AnswerNeeded, Question

from vr_server.blocks import visible_schema


class Asker(Protocol):
    """An asker for the time of one request."""

    waiting: bool

    async def __call__(self, question: Question, *, paid: bool) -> Answer:
        """Ask, and give what comes back."""
        ...

    def close(self) -> None:
        """Ask no more: the request is answered."""
        ...


class Nobody:
    """For a client that cannot ask its user."""

    waiting = False

    async def __call__(self, question: Question, *, paid: bool) -> Answer:
        """Nobody was asked."""
        del question, paid
        return Answer("unable")

    def close(self) -> None:
        """Nothing changes."""


class WithinRequest:
    """Up to 2025-11-25: the server asks while the call waits."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._open = True
        self.waiting = False

    async def __call__(self, question: Question, *, paid: bool) -> Answer:
        """Ask now; what is paid already is no matter."""
        del paid
        if not self._open:
            return Answer("unable")
        self.waiting = True
        try:
            said = await self._context.session.elicit(
                message=question.text,
                requested_schema=visible_schema(get_elicitation_schema(question.answer)),
                related_request_id=self._context.request_id,
            )
        finally:
            self.waiting = False
        return _answer(said)

    def close(self) -> None:
        """The client expects no question any more."""
        self._open = False


class WithAnotherCall:
    """From 2026-07-28: the answer to a question comes with another call of the tool."""

    waiting = False

    def __init__(self, context: Context) -> None:
        self._open = True
        self._order = 0
        self.answers: dict[str, Any] = json.loads(context.request_state or "{}")
        for key, said in (context.input_responses or {}).items():
            if isinstance(said, ElicitResult):
                self.answers[key] = {"action": said.action, "content": said.content or {}}

    async def __call__(self, question: Question, *, paid: bool) -> Answer:
        """The answer that came with this call; else the call ends, to be made again."""
        key = self._key(question)
        self._order += 1
        if key in self.answers:
            return Answer(**self.answers[key])
        if paid or not self._open:
            return Answer("unable")
        raise AnswerNeeded(question)

    def close(self) -> None:
        """No other call will come."""
        self._open = False

    def request(self, question: Question) -> InputRequiredToolResult:
        """What tells the client to ask, and to come back."""
        self._order -= 1
        params = ElicitRequestFormParams(
            message=question.text,
            requested_schema=visible_schema(get_elicitation_schema(question.answer)),
        )
        return InputRequiredToolResult(
            InputRequiredResult(
                input_requests={self._key(question): ElicitRequest(params=params)},
                request_state=json.dumps(self.answers),
            )
        )

    def _key(self, question: Question) -> str:
        """Names a question across calls: its words, and how many were asked before it."""
        digest = hashlib.sha256(question.text.encode("utf-8", "replace")).hexdigest()
        return f"{self._order}-{digest[:16]}"


def asker_of(context: Context) -> Asker:
    """The way to the person behind the client of a request."""
    request = context.request_context
    capabilities = context.session.client_capabilities if request else None
    can = capabilities.elicitation if capabilities else None
    if request is None or can is None or (can.form is None and can.url is not None):
        return Nobody()
    if request.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return WithAnotherCall(context)
    return WithinRequest(context)


def _answer(said: Any) -> Answer:
    return Answer(said.action, dict(getattr(said, "content", None) or {}))
