"""Deep Research: started once, run by the service in the background, polled until it is done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from vr_kernel.errors import Code, VrError
from vr_kernel.gemini.catalogue import DEEP_RESEARCH, suggest
from vr_kernel.gemini.errors import ServiceError, is_gone, service_error, translated, unreadable
from vr_kernel.gemini.research_status import ResearchStatus, status_of
from vr_kernel.gemini.resumable import get_json
from vr_kernel.progress import Report, silent

if TYPE_CHECKING:
    import httpx2

    from vr_kernel.config.model_settings import ModelsSettings
    from vr_kernel.gemini.pool import Account, Pool

LONGEST_S = 3600.0
"""Longest time of a research, in seconds. Source: "Deep Research" of the Gemini API."""
FAILURES = 5
"""Polls in a row that may fail; the research goes on meanwhile."""
_REFUSED = frozenset({400, 409, 412})
"""HTTP statuses by which a service refuses to cancel what has ended."""


class Research:
    """Deep Research through the Interactions API.

    A research belongs to the key that started it, which its id names without revealing it.
    """

    def __init__(self, pool: Pool, settings: Callable[[], ModelsSettings]) -> None:
        self._pool = pool
        self._settings = settings

    def asked(self, agent: str = "", previous: str = "") -> str:
        """Return the agent or model that is asked.

        A research is done by an agent, a question about it answered by the usual model.
        Source: "Follow-up questions and interactions" of the Gemini API.
        """
        if agent or not previous:
            return agent or DEEP_RESEARCH
        return suggest("default", self._settings())

    async def start(self, prompt: str, agent: str = "", previous: str = "") -> str:
        """Start a research, with the usual agent when none is named; returns its id.

        Args:
            prompt: the question.
            agent: another agent than the usual one.
            previous: id of a finished research that the question is about.

        Raises:
            VrError: what the service says; nothing was begun then. NOT_FOUND, category
                RESEARCH_FORGOTTEN, when it no longer has the previous one.
        """
        asked = self.asked(agent, previous)
        hint, _, former = previous.rpartition("/")
        by = {"agent": asked} if agent or not previous else {"model": asked}
        about = {"previous_interaction_id": former} if previous else {}
        body = {**by, **about, "input": prompt, "background": True, "store": True}

        async def begin(account: Account) -> str:
            begun = await _posted(account, "interactions", asked, body)
            if not begun.get("id"):
                raise unreadable("no id of the research")
            return f"{account.hint}/{begun['id']}"

        try:
            return await self._pool.run(asked, begin, only=hint)
        except VrError as error:
            if previous and is_gone(error):
                raise _forgotten() from error
            raise

    async def status(self, started: str) -> ResearchStatus:
        """Look at a research, once.

        Raises:
            VrError: NOT_FOUND, category RESEARCH_FORGOTTEN, when the service does not have it;
                else what it says.
        """

        async def look(account: Account, name: str) -> ResearchStatus:
            return status_of(await get_json(account, f"interactions/{name}"), account.key)

        return await self._of_owner(started, look)

    async def cancel(self, started: str) -> ResearchStatus:
        """Cancel a research that is under way, and return its state then.

        Raises:
            VrError: as `status`.
        """

        async def cancel(account: Account, name: str) -> ResearchStatus:
            try:
                found = await _posted(account, f"interactions/{name}/cancel", "")
            except ServiceError as error:
                if error.status not in _REFUSED:
                    raise
                status = status_of(await get_json(account, f"interactions/{name}"), account.key)
                if not status.has_ended:
                    raise
                return status
            if not found.get("status"):
                found = await get_json(account, f"interactions/{name}")
            return status_of(found, account.key)

        return await self._of_owner(started, cancel)

    async def result(self, started: str, report: Report = silent) -> ResearchStatus:
        """Wait until a research has ended.

        Raises:
            VrError: UNAVAILABLE, retryable, when it takes longer than an hour; else as `status`.
        """
        began, pause, failures = time.monotonic(), 0.5, 0
        while True:
            try:
                status = await self.status(started)
                failures = 0
            except VrError as error:
                failures += 1
                if not error.retryable or failures == FAILURES:
                    raise
                status = ResearchStatus(state="in_progress")
                pause = max(pause, error.retry_after or 0)
            if status.has_ended:
                return status
            elapsed = time.monotonic() - began
            if elapsed > LONGEST_S:
                raise _late()
            report(elapsed, None, "Deep Research is under way")
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 10.0)

    async def _of_owner(self, started: str, work: Callable[[Account, str], Any]) -> ResearchStatus:
        """Do something about a research with the key that started it."""
        hint, _, name = started.rpartition("/")
        path = quote(name, safe="")
        try:
            found: ResearchStatus = await self._pool.run(
                "", lambda account: work(account, path), only=hint
            )
        except VrError as error:
            if is_gone(error):
                raise _forgotten() from error
            raise
        return found


async def _posted(
    account: Account, path: str, model: str, body: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Post JSON, and return the JSON of the answer.

    Raises:
        VrError: by the status, or when there is no answer that can be read.
    """
    with translated(model, account.key):
        response = await _sent(account, path, body)
        found = response.json() if response.content else {}
    if not response.is_success:
        raise service_error(
            response.status_code, found, response.headers, model=model, secret=account.key
        )
    if not isinstance(found, dict):
        raise unreadable("not an object")
    return found


async def _sent(account: Account, path: str, body: dict[str, Any] | None) -> httpx2.Response:
    given: dict[str, Any] = {} if body is None else {"json": body}
    return await account.http.post(account.url(path), headers=account.headers, **given)


def _forgotten() -> VrError:
    return VrError(
        "The Gemini API does not have this research, or no longer.",
        Code.NOT_FOUND,
        category="RESEARCH_FORGOTTEN",
        hint="It forgets a research after 55 days, without payment after a day: start a new one.",
    )


def _late() -> VrError:
    return VrError(
        "The research is still under way after an hour.",
        Code.UNAVAILABLE,
        category="RESEARCH_LATE",
        hint="Ask for its result again later; it goes on by itself.",
        retryable=True,
    )
