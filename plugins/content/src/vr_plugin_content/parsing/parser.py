"""Parses files of strangers in worker processes, within limits of time and memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from vr_kernel import Code, Services, VrError

from vr_plugin_content.parsing.process import WorkerProcess
from vr_plugin_content.settings import ContentSettings

BYTES_A_CHARACTER = 12
"""Most bytes of an answer for each character of text: signs of JSON, and places."""
FIXED_ANSWER = 4_000_000
"""Bytes of an answer that are allowed in any case."""
IDLE_S = 60.0
"""Seconds after which a worker without work is ended."""


@dataclass(frozen=True, slots=True)
class ParseTask:
    """A task for a worker.

    Attributes:
        format: a module of `vr_plugin_content.formats`, or the full name of one elsewhere.
        work: its function: `parse`, `pictures` or `render`.
        asked: the fields of `formats.parsed.Asked`, as JSON.
        path: of a file that was opened and checked, with its `identity`; else `body` holds it.
        identity: see `parsing.worker.identity_of`.
        body: the content.
    """

    format: str
    work: str
    asked: Mapping[str, Any]
    path: str = ""
    identity: list[int] = field(default_factory=list)
    body: bytes = field(default=b"", repr=False)


class Parser:
    """The worker processes of one kernel. Each parses one file at a time, and then the next.

    A worker that crashes, hangs or grows too large is ended, and hurts only the task it had.
    """

    def __init__(self, services: Services) -> None:
        settings: ContentSettings = services.settings
        self._settings = settings
        self._turns = asyncio.Semaphore(settings.parsers)
        self._idle: list[tuple[WorkerProcess, asyncio.TimerHandle]] = []
        self._ending: set[asyncio.Task[None]] = set()

    async def run(self, task: ParseTask) -> Any:
        """Do a task, and return its result as JSON.

        Raises:
            VrError: what the parser says of the file; TOO_LARGE, category PARSER_TIMEOUT or
                PARSER_MEMORY, when it takes more than it may; UNSUPPORTED, category
                DOCUMENT_DAMAGED, when it crashes the parser.
        """
        answer = await self._ask(self._told(task), task.body)
        if "error" in answer:
            raise _refused(answer["error"])
        return answer["result"]

    async def run_many(self, tasks: Sequence[ParseTask], end: float) -> list[Any]:
        """Do tasks about files in one go; the result is None for each that failed.

        When they take too long, or crash the parser, each is done by itself.

        Args:
            tasks: about files.
            end: time of the event loop after which none is begun any more.
        """
        try:
            answer = await self._ask({"many": [self._told(task) for task in tasks]})
        except VrError:
            return [await self._run_or_none(task, end) for task in tasks]
        return [each.get("result") for each in answer["result"]]

    async def _run_or_none(self, task: ParseTask, end: float) -> Any:
        if asyncio.get_running_loop().time() > end:
            return None
        try:
            return await self.run(task)
        except VrError:
            return None

    def _told(self, task: ParseTask) -> dict[str, Any]:
        """A task as JSON."""
        said = {
            "format": task.format,
            "work": task.work,
            "asked": dict(task.asked),
            "seconds": self._settings.parser_timeout_s,
        }
        if task.path:
            said |= {"path": task.path, "identity": task.identity}
        return said

    async def _ask(self, said: Mapping[str, Any], body: bytes = b"") -> dict[str, Any]:
        """Have a worker do something.

        Raises:
            VrError: PARSER_TIMEOUT, or DOCUMENT_DAMAGED when it crashes.
        """
        seconds = self._settings.parser_timeout_s
        async with self._turns, self._worker() as worker:
            try:
                async with asyncio.timeout(seconds):
                    return await worker.ask(said, body, self._most())
            except TimeoutError:
                raise _too_slow(seconds) from None
            except EOFError:
                raise _crashed() from None

    async def aclose(self) -> None:
        """End all workers."""
        while self._idle:
            worker, timer = self._idle.pop()
            timer.cancel()
            await worker.kill()
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _most(self) -> int:
        return FIXED_ANSWER + BYTES_A_CHARACTER * self._settings.max_chars

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[WorkerProcess]:
        """Give a worker for one task; it is kept for the next one when it did well."""
        worker = self._kept() or await WorkerProcess.start(self._settings.parser_memory_mb)
        try:
            yield worker
        except BaseException:
            await asyncio.shield(worker.kill())
            raise
        if not worker.alive:
            await worker.kill()
        else:
            timer = asyncio.get_running_loop().call_later(IDLE_S, self._expire, worker)
            self._idle.append((worker, timer))

    def _kept(self) -> WorkerProcess | None:
        while self._idle:
            worker, timer = self._idle.pop()
            timer.cancel()
            if worker.alive:
                return worker
        return None

    def _expire(self, worker: WorkerProcess) -> None:
        self._idle = [kept for kept in self._idle if kept[0] is not worker]
        ending = asyncio.get_running_loop().create_task(worker.kill())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)


def _refused(error: Mapping[str, str]) -> VrError:
    return VrError(
        error["message"], Code(error["code"]), category=error["category"], hint=error["hint"]
    )


def _too_slow(seconds: float) -> VrError:
    return VrError(
        f"Reading this file took longer than {seconds:g} seconds.",
        Code.TOO_LARGE,
        category="PARSER_TIMEOUT",
        hint="Split the file, or raise parser_timeout_s in [plugins.content].",
    )


def _crashed() -> VrError:
    return VrError(
        "This file cannot be read: its parser gave up.",
        Code.UNSUPPORTED,
        category="DOCUMENT_DAMAGED",
        hint="It is damaged, or takes more than parser_memory_mb in [plugins.content]. Open it in"
        " its own program, and save it again.",
    )
