"""Deep Research: started once, run by the service in the background, polled until it is done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from typing import Any

from vr_kernel.errors import Code, VrError
from vr_kernel.gemini.catalogue import DEEP_RESEARCH
from vr_kernel.gemini.errors import service_error, translated, unreadable
from vr_kernel.gemini.pool import Account, Pool
from vr_kernel.gemini.resumable import get_json
from vr_kernel.generation import Reply, Usage, WebSource
from vr_kernel.progress import Report, silent
from vr_kernel.text.visible_text import visible

LONGEST_S = 3600.0
"""Longest time of a research, in seconds. Source: "Deep Research" of the Gemini API."""
FAILURES = 5
"""Polls in a row that may fail; the research goes on meanwhile."""
_UNDER_WAY = frozenset({"in_progress", "queued"})


class Research:
    """Deep Research through the Interactions API."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def start(self, prompt: str, agent: str = "") -> str:
        """Start a research, with the usual agent when none is named; returns its id.

        Raises:
            VrError: what the service says; nothing was begun then.
        """
        agent = agent or DEEP_RESEARCH
        body = {"agent": agent, "input": prompt, "background": True, "store": True}

        async def begin(account: Account) -> str:
            with translated(agent, account.key):
                response = await account.http.post(
                    account.url("interactions"), json=body, headers=account.headers
                )
                begun = response.json() if response.content else {}
            if not response.is_success:
                raise service_error(
                    response.status_code,
                    begun,
                    response.headers,
                    model=agent,
                    secret=account.key,
                )
            if not isinstance(begun, dict) or not begun.get("id"):
                raise unreadable("no id of the research")
            return f"{account.hint}/{begun['id']}"

        return await self._pool.run(agent, begin)

    async def result(self, started: str, report: Report = silent) -> Reply:
        """Wait for the result.

        Raises:
            VrError: UNAVAILABLE, category RESEARCH_FAILED, when it ended without a result, with
                what it cost; UNAVAILABLE, retryable, when it takes longer than an hour.
        """
        hint, _, name = started.rpartition("/")
        began, pause, failures = time.monotonic(), 0.5, 0
        while True:
            try:
                found = await self._pool.run("", lambda account: _look(account, name), only=hint)
                failures = 0
            except VrError as error:
                failures += 1
                if not error.retryable or failures == FAILURES:
                    raise
                found = {"status": "in_progress"}
                pause = max(pause, error.retry_after or 0)
            if found.get("status") not in _UNDER_WAY:
                return _reply(found)
            elapsed = time.monotonic() - began
            if elapsed > LONGEST_S:
                raise _late()
            report(elapsed, None, "Deep Research is under way")
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 10.0)


async def _look(account: Account, name: str) -> dict[str, Any]:
    return await get_json(account, f"interactions/{name}")


def _reply(found: Mapping[str, Any]) -> Reply:
    usage = _usage(found.get("usage"))
    texts = list(_texts(found))
    text = visible("".join(str(item.get("text") or "") for item in texts))
    if found.get("status") != "completed" or not text.strip():
        raise VrError(
            f"The research ended without a result ({found.get('status')}).",
            Code.UNAVAILABLE,
            category="RESEARCH_FAILED",
            hint="Start a new one, or ask a narrower question.",
            usage=usage,
            detail=text,
        )
    return Reply(
        text=text,
        model=str(found.get("agent") or DEEP_RESEARCH),
        usage=usage,
        sources=list(_sources(texts)),
    )


def _texts(found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The texts of the last answer: of the newest steps, or of the API's older `outputs`."""
    items: list[Any] = []
    for step in found.get("steps") or []:
        if step.get("type") == "model_output":
            items += step.get("content") or []
        elif step.get("type") != "thought":
            items = []
    for item in items or found.get("outputs") or []:
        if isinstance(item, Mapping) and item.get("type") == "text":
            yield item


def _sources(texts: list[Mapping[str, Any]]) -> Iterator[WebSource]:
    seen: set[str] = set()
    for text in texts:
        for note in text.get("annotations") or []:
            url = str(note.get("url") or note.get("source") or "")
            if url.startswith("http") and url not in seen:
                seen.add(url)
                yield WebSource(title=visible(str(note.get("title") or url)), url=visible(url))


def _usage(found: Mapping[str, Any] | None) -> Usage:
    counts = found or {}

    def count(name: str) -> int:
        return int(counts.get(f"total_{name}_tokens") or 0)

    return Usage(
        calls=1,
        input_tokens=count("input") + count("tool_use"),
        output_tokens=count("output"),
        thinking_tokens=count("thought"),
        cached_tokens=count("cached"),
    )


def _late() -> VrError:
    return VrError(
        "The research is still under way after an hour.",
        Code.UNAVAILABLE,
        category="RESEARCH_LATE",
        hint="Ask for its result again later; it goes on by itself.",
        retryable=True,
    )
