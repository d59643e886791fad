"""A worker process, as the server sees it."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from vr_kernel import Code, VrError

from vr_plugin_content.parsing.frames import packed, receive_frame

WORKER = "vr_plugin_content.parsing.worker"
PASSED = (
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LD_LIBRARY_PATH",
    "PYTHONPATH", "PYTHONHOME", "PYTHONUTF8", "VIRTUAL_ENV",
)  # fmt: skip
"""The variables of the environment that a worker gets: no key and no secret is among them."""


class WorkerProcess:
    """A process that parses one file at a time."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._ends = False

    @classmethod
    async def start(cls, memory_mb: int) -> WorkerProcess:
        """Start a worker.

        Raises:
            VrError: UNAVAILABLE when no process can be started.
        """
        environment = {name: os.environ[name] for name in PASSED if name in os.environ}
        environment["MALLOC_ARENA_MAX"] = "2"  # an arena of each thread counts as memory
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", WORKER, str(memory_mb)),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                env=environment,
            )
        except OSError as error:
            raise VrError(
                "No process for parsing could be started.",
                Code.UNAVAILABLE,
                category="PARSER_UNAVAILABLE",
                hint="Close other programs and try again.",
                retryable=True,
            ) from error
        return cls(process)

    @property
    def alive(self) -> bool:
        """False once the process has ended, or has said that it does."""
        return self._process.returncode is None and not self._ends

    async def ask(self, task: Mapping[str, Any], body: bytes, most: int) -> dict[str, Any]:
        """Have a task done; returns its `result`, or its `error`.

        Raises:
            EOFError: when the process ended, or answered with more than `most` bytes.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        with suppress(ConnectionError):  # the end of its answer tells the rest
            stdin.write(packed(task, body))
            await stdin.drain()
        answer = await receive_frame(stdout, most)
        self._ends = bool(answer.get("ends"))
        return answer

    async def kill(self) -> None:
        """End the process at once."""
        with suppress(ProcessLookupError):
            self._process.kill()
        # Until its pipes are closed, asyncio waits for what a flooding worker has still to say. The
        # transport itself would reap the process behind the back of the loop, which then complains.
        transport = getattr(self._process, "_transport", None)
        pipes = [transport.get_pipe_transport(number) for number in (0, 1)] if transport else []
        for pipe in filter(None, pipes):
            pipe.close()
        await self._process.wait()
        await asyncio.sleep(0)  # the loop closes the pipes in its next turn
