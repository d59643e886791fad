"""Questions of a task: the client finds them when it gets the task's state."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from fastmcp.server.context import Context
from fastmcp.utilities.tasks import TASKS_EXTENSION_ID
from mcp_types import ElicitRequest, ElicitResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from vr_kernel import Answer, Question

from vr_server.asking import form_of
from vr_server.tasks.kept_questions import KeptQuestions

ANSWER_WITHIN_S = 900.0
"""Seconds that a person may take; then the default is used, since no one may be there."""


class TaskQuestions:
    """Asks the person behind a client that supports tasks.

    They live as long as the process: a job that another process resumes asks no one. Meanwhile
    another process may show and answer them, once they are kept.
    """

    waiting = False

    def __init__(self) -> None:
        self._open = True
        self._count = 0
        self._asked: dict[str, tuple[Question, asyncio.Future[Answer]]] = {}
        self._kept: KeptQuestions | None = None
        self._following: dict[str, asyncio.Task[None]] = {}

    async def __call__(self, question: Question, *, paid: bool) -> Answer:
        """Ask, also after paid work, and wait for `answer`."""
        del paid
        if not self._open:
            return Answer("unable")
        self._count += 1
        key = f"question-{self._count}"
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._asked[key] = (question, future)
        self._follow(key)
        try:
            with suppress(TimeoutError):
                return await asyncio.wait_for(future, ANSWER_WITHIN_S)
        finally:
            del self._asked[key]
            if key in self._following:
                await self._following.pop(key)
        return Answer("unable")

    def keep(self, kept: KeptQuestions) -> None:
        """Let other processes show and answer the questions, since the call became a task."""
        self._kept = kept
        for key in self._asked:
            self._follow(key)

    def close(self) -> None:
        """Ask no more, and answer open questions with nothing: the call did not become a task."""
        self._open = False
        for _, future in self._asked.values():
            _settle(future, Answer("unable"))

    def requests(self) -> dict[str, dict[str, Any]]:
        """Return the open questions, as the protocol writes them; no key is used twice."""
        asked = self._asked.items()
        return {key: _request(asks) for key, (asks, future) in asked if not future.done()}

    def answer(self, key: str, said: ElicitResult) -> None:
        """Accept an answer; ignored if that question is not open."""
        if key in self._asked:
            _settle(self._asked[key][1], Answer(said.action, dict(said.content or {})))

    def _follow(self, key: str) -> None:
        if self._kept is not None:
            question, future = self._asked[key]
            work = self._kept.follow(key, _request(question), future)
            self._following[key] = asyncio.create_task(work, name="vr-question")


def follows_tasks(context: Context) -> bool:
    """Return True if the client of this request declared that it supports tasks."""
    request = context.request_context
    return (
        request is not None
        and request.protocol_version in MODERN_PROTOCOL_VERSIONS
        and context.client_extension_settings(TASKS_EXTENSION_ID) is not None
    )


def _request(question: Question) -> dict[str, Any]:
    return ElicitRequest(params=form_of(question)).model_dump(
        mode="json", by_alias=True, exclude_none=True
    )


def _settle(future: asyncio.Future[Answer], answer: Answer) -> None:
    if not future.done():
        future.set_result(answer)
