"""The floor's trivial tool as a plugin's tool."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, VrError, hookimpl, tool


class Sum(BaseModel):
    """The sum of two numbers."""

    value: int


@tool(effects=READ_ONLY)
async def bench_add(call: Call, a: int, b: int) -> Sum:
    """Add two numbers."""
    del call
    return Sum(value=a + b)


class Held(BaseModel):
    """Memory and files of this process."""

    tasks: int
    threads: int
    files: int


@tool(effects=READ_ONLY)
async def bench_held(call: Call) -> Held:
    """Count asyncio tasks, threads and file descriptors."""
    del call
    # The pool of threads grows as it is used; only when it is full a further thread is a leak.
    pool = min(32, (os.cpu_count() or 1) + 4)
    full = threading.Barrier(pool)
    await asyncio.gather(*(asyncio.to_thread(full.wait) for _ in range(pool)))
    files = await asyncio.to_thread(_open_files)
    return Held(tasks=len(asyncio.all_tasks()), threads=threading.active_count(), files=files)


def _open_files() -> int:
    listed = Path("/proc/self/fd")
    return len(list(listed.iterdir())) if listed.exists() else 0


@tool(effects=READ_ONLY)
async def bench_wait(call: Call) -> Sum:
    """Wait until cancelled."""
    call.progress(0, None, "waiting")
    await asyncio.Event().wait()
    return Sum(value=0)


@tool(effects=READ_ONLY)
async def bench_fail(call: Call) -> Sum:
    """Fail."""
    call.note("tried")
    raise VrError("It does not add up.")


@hookimpl
def vr_tools() -> list[Callable[..., Awaitable[BaseModel]]]:
    """The tools; only `bench_add` is timed."""
    return [bench_add, bench_fail, bench_held, bench_wait]
