"""Processes that pay in every way at once on one state folder, and cancel some of it by chance.

Run as a program it copies itself for each line of its stdin, as `paid_worker` does. A copy ends
when the folder has a file `last` and no job is open, or at SIGTERM.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import uuid
from contextlib import suppress
from pathlib import Path

import google.genai  # noqa: F401, TID253 - what is imported here, copies need not import
import paid_plugin
from paid_worker import MORE_RUNS, PAUSE_S, copy_for_each_line
from vr_kernel import Kernel, VrError, load_config

UNDER_WAY = 4
CANCELLED = 0.12
"""The share of calls that are cancelled."""
SHARED = 40
"""How many questions the processes have in common at a time."""
ITEMS = 6
AT_ONCE = 3
OPEN = ("running", "interrupted")


async def work(folder: Path) -> None:
    """Keep some calls under way until there is no more to do."""
    me = asyncio.current_task()
    assert me is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, me.cancel)
    chance, calls = random.Random(os.getpid()), set[asyncio.Task[None]]()
    async with Kernel.open(load_config(), {"paid": paid_plugin}, roots=[]) as kernel:
        kernel.services.jobs.most_runs = MORE_RUNS
        async with kernel.serving():
            while not (folder / "last").exists():
                while len(calls) < UNDER_WAY:
                    calls.add(asyncio.create_task(one_call(kernel, chance)))
                ended, calls = await asyncio.wait(calls, timeout=PAUSE_S)
                await asyncio.gather(*ended)  # what failed otherwise than it may ends the test
            await asyncio.gather(*calls)
            while await kernel.services.jobs.list(kernel.identity.principal, OPEN, 100):  # noqa: ASYNC110
                await asyncio.sleep(PAUSE_S)  # what other processes do gives no sign


async def one_call(kernel: Kernel, chance: random.Random) -> None:
    """Make some call, and cancel it perhaps."""
    name, number = uuid.uuid4().hex, chance.randrange(SHARED)
    tool, arguments = chance.choice(
        [
            ("paid_batch", {"name": name, "items": ITEMS, "at_once": AT_ONCE}),
            ("paid_once", {"question": f"shared {number}"}),
            ("paid_once", {"question": f"once {name}"}),
            ("paid_shape", {"question": f"shape {name}"}),
            ("paid_stream", {"question": f"stream {name}"}),
            ("paid_research", {"question": f"research {name}"}),
        ]
    )
    with suppress(VrError, TimeoutError):
        if tool in ("paid_shape", "paid_stream"):
            async with asyncio.timeout(_patience(chance)):
                await kernel.run(tool, arguments)
            return
        job = kernel.start(tool, arguments)
        assert job.task is not None
        await kernel.detach(job)
        await asyncio.wait({job.task}, timeout=_patience(chance))
        if not job.task.done():
            await kernel.services.jobs.cancel(job.id, kernel.identity.principal)


def _patience(chance: random.Random) -> float | None:
    """Seconds that somebody waits who may lose patience."""
    return chance.random() * 0.3 if chance.random() < CANCELLED else None


if __name__ == "__main__":
    copy_for_each_line(Path(sys.argv[1]), work)
