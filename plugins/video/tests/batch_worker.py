"""Processes that do batches of videos on one state folder, each ready to be killed at any moment.

Run as a program it imports all that a server needs, and then makes a copy of itself for each
line of its stdin, so that the next process is there in milliseconds. Each copy answers with its
id, keeps some batches going, takes up those of the dead, and ends when the folder has a file
`last` and no job is open.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import uuid
from contextlib import suppress
from pathlib import Path

import av  # noqa: F401, TID253 - what is imported here, copies need not import
import google.genai  # noqa: F401, TID253
import vr_plugin_video.analyses.analysing
import vr_plugin_video.batch.running  # noqa: F401
from vr_kernel import Kernel, VrError, load_config
from vr_plugin_video import plugin

ITEMS = 50
AT_ONCE = 4
OPEN_JOBS = 2
PAUSE_S = 0.05
MORE_RUNS = 1000
"""Here processes die of the test, not of their jobs."""


async def work(folder: Path) -> None:
    """Do jobs until there are no more."""
    async with Kernel.open(load_config(), {"video": plugin}, roots=[folder]) as kernel:
        kernel.services.jobs.most_runs = MORE_RUNS
        async with kernel.serving():
            while await keep_going(kernel, folder):  # noqa: ASYNC110
                await asyncio.sleep(PAUSE_S)  # what other processes do gives no sign


async def keep_going(kernel: Kernel, folder: Path) -> bool:
    """Begin a batch when few are open; True while this process is needed."""
    last = (folder / "last").exists()
    is_open = len(
        await kernel.services.jobs.list(kernel.identity.principal, ("running", "interrupted"), 100)
    )
    if not last and is_open < OPEN_JOBS:
        arguments = {
            "directory": str(folder / "videos"),
            "instruction": uuid.uuid4().hex,
            "max_files": ITEMS,
        }
        job = kernel.start("video_batch_analyze", arguments)
        with suppress(VrError):  # it ended at once
            await kernel.detach(job)
    return not last or is_open > 0


def main(folder: Path) -> None:
    """Copy this process for each line."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for _ in sys.stdin:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            os.dup2(2, 1)
            asyncio.run(work(folder))
            os._exit(0)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
