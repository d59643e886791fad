"""Processes that do paid jobs of one state folder, each ready to be killed at any moment.

Run as a program it imports all that a server needs, and then makes a copy of itself for each
line of its stdin, so that the next process is there in milliseconds. Each copy answers with its
id, keeps some jobs going, takes up those of the dead, and ends when the folder has a file `last`
and no job is open.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import google.genai  # noqa: F401, TID253 - what is imported here, copies need not import
import paid_plugin
from vr_kernel import Kernel, VrError, load_config

ITEMS = 50
AT_ONCE = 4
OPEN_JOBS = 4
PAUSE_S = 0.05
MORE_RUNS = 1000
"""Here processes die of the test, not of their jobs."""


class Nursery:
    """The other end of the program: makes processes, and kills them."""

    def __init__(
        self, environment: Mapping[str, str], folder: Path, program: str = __file__
    ) -> None:
        self.pids: list[int] = []
        self._program = subprocess.Popen(
            [sys.executable, program, str(folder)],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for pid in self.pids:
            self.kill(pid)
        with self._program:
            assert self._program.stdin
            self._program.stdin.close()

    def start(self, below: str = "") -> int:
        """The id of a new process, which works in the folder, or in one below it."""
        assert self._program.stdin
        assert self._program.stdout
        self._program.stdin.write(f"{below}\n")
        self._program.stdin.flush()
        self.pids.append(int(self._program.stdout.readline()))
        return self.pids[-1]

    def kill(self, pid: int, by: signal.Signals = signal.SIGKILL) -> None:
        """Kill a process, unless it has ended."""
        if pid in self.pids and self.lives(pid):
            os.kill(pid, by)
        self.pids.remove(pid)

    def lives(self, pid: int) -> bool:
        """True while it has not ended."""
        with suppress(ProcessLookupError):
            os.kill(pid, 0)
            return True
        return False


async def work(folder: Path) -> None:
    """Do jobs until there are no more."""
    async with Kernel.open(load_config(), {"paid": paid_plugin}, roots=[]) as kernel:
        kernel.services.jobs.most_runs = MORE_RUNS
        async with kernel.serving():
            while await keep_going(kernel, last=(folder / "last").exists()):  # noqa: ASYNC110
                await asyncio.sleep(PAUSE_S)  # what other processes do gives no sign


async def keep_going(kernel: Kernel, *, last: bool) -> bool:
    """Begin a job when few are open; whether this process is still needed."""
    states = ("running", "interrupted")
    is_open = len(await kernel.services.jobs.list(kernel.identity.principal, states, 100))
    if not last and is_open < OPEN_JOBS:
        arguments = {"name": uuid.uuid4().hex, "items": ITEMS, "at_once": AT_ONCE}
        job = kernel.start("paid_batch", arguments)
        with suppress(VrError):  # it ended at once
            await kernel.detach(job)
    return not last or is_open > 0


def copy_for_each_line(folder: Path, work: Callable[[Path], Coroutine[Any, Any, None]]) -> None:
    """Copy this process for each line of stdin, and have the copy work in the folder it names."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for below in sys.stdin:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            os.dup2(2, 1)
            with suppress(asyncio.CancelledError):  # by SIGTERM
                asyncio.run(work(folder / below.strip()))
            os._exit(0)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    copy_for_each_line(Path(sys.argv[1]), work)
