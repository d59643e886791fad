"""Questions to the person behind a client, in the two ways of the protocol's versions."""

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
    """Asks questions during one request."""

    waiting: bool

    async def __call__(self, question: Question, *, paid: bool) -> Answer:
        """Ask, and return the answer."""
        ...

    def close(self) -> None:
        """Ask no more, since the request is answered."""
        ...


class Nobody:
    """The asker for a client that cannot ask its user."""

    waiting = False

    async def __call__(self, question: Question, *, paid: bool) -> Answer:
        """Answer that no one can be asked."""
        del question, paid
        return Answer("unable")

    def close(self) -> None:
        """Do nothing."""


class WithinRequest:
    """Asks while the call waits, in protocol versions up to 2025-11-25."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._open = True
        self.waiting = False

    async def __call__(self, question: Question, *, paid: bool) -> Answer:
        """Ask at once, also after paid work."""
        del paid
        if not self._open:
            return Answer("unable")
        self.waiting = True
        try:
            form = form_of(question)
            said = await self._context.session.elicit(
                message=form.message,
                requested_schema=form.requested_schema,
                related_request_id=self._context.request_id,
            )
        finally:
            self.waiting = False
        return _answer(said)

    def close(self) -> None:
        """Ask no more: the client expects no question now."""
        self._open = False


class WithAnotherCall:
    """Gets the answer with another call of the tool, since protocol version 2026-07-28."""

    waiting = False

    def __init__(self, context: Context) -> None:
        self._open = True
        self._order = 0
        self.answers: dict[str, Any] = json.loads(context.request_state or "{}")
        for key, said in (context.input_responses or {}).items():
            if isinstance(said, ElicitResult):
                self.answers[key] = {"action": said.action, "content": said.content or {}}

    async def __call__(self, question: Question, *, paid: bool) -> Answer:
        """Return the answer that came with this call, or end the call so that it is made again."""
        key = self._key(question)
        self._order += 1
        if key in self.answers:
            return Answer(**self.answers[key])
        if paid or not self._open:
            return Answer("unable")
        raise AnswerNeeded(question)

    def close(self) -> None:
        """Ask no more: no other call will come."""
        self._open = False

    def request(self, question: Question) -> InputRequiredToolResult:
        """Build the result that tells the client to ask, and to call again."""
        self._order -= 1
        request = ElicitRequest(params=form_of(question))
        return InputRequiredToolResult(
            InputRequiredResult(
                input_requests={self._key(question): request},
                request_state=json.dumps(self.answers),
            )
        )

    def _key(self, question: Question) -> str:
        """Name a question across calls by its text and the number of questions before it."""
        digest = hashlib.sha256(question.text.encode("utf-8", "replace")).hexdigest()
        return f"{self._order}-{digest[:16]}"


def asker_of(context: Context) -> Asker:
    """Return the asker for the person behind the client of a request."""
    request = context.request_context
    capabilities = context.session.client_capabilities if request else None
    can = capabilities.elicitation if capabilities else None
    if request is None or can is None or (can.form is None and can.url is not None):
        return Nobody()
    if request.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return WithAnotherCall(context)
    return WithinRequest(context)


def form_of(question: Question) -> ElicitRequestFormParams:
    """Make the form in which the protocol asks a question."""
    return ElicitRequestFormParams(
        message=question.text,
        requested_schema=visible_schema(get_elicitation_schema(question.answer)),
    )


def _answer(said: Any) -> Answer:
    return Answer(said.action, dict(getattr(said, "content", None) or {}))
