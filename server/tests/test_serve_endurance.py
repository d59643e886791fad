"""Calls leave nothing behind: no task, no open file, whatever becomes of them."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
import zoo_good
from fastmcp import Client
from vr_server import build_server
from waiting import until

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("zoo_echo", {"text": "hello"}),
    ("zoo_echo", {"text": 5, "loud": "very"}),
    ("zoo_crash", {}),
    ("zoo_fail", {}),
    ("zoo_climb", {"steps": [1, 2, 3]}),
    ("zoo_paint", {"text": "sky"}),
    ("zoo_ehco", {}),
    ("job_status", {"job_id": "nobody"}),
]


@pytest.mark.skipif(sys.platform != "linux", reason="counts open files in /proc")
@pytest.mark.parametrize("era", ["auto", pytest.param("legacy", marks=pytest.mark.slow)])
async def test_calls_leave_nothing_behind(era: str, start: Any, tmp_path: Path) -> None:
    kernel = await start({"zoo": zoo_good})
    async with Client(build_server(kernel), mode=era) as client:

        async def round_of_calls(number: int) -> None:
            for name, arguments in CALLS:
                await client.call_tool(name, arguments, raise_on_error=False)
            folder = tmp_path / f"{era}-{number}"
            folder.mkdir()
            waiting = client.call_tool("zoo_wait", {"folder": str(folder)})
            task = asyncio.create_task(waiting)
            await until((folder / "started").exists)
            task.cancel()
            await asyncio.wait({task})
            await until((folder / "cancelled").exists)

        for number in range(3):
            await round_of_calls(number)
        tasks, files = _held()
        for number in range(3, 8):
            await round_of_calls(number)
        # A task that ends is gone a moment later.
        await until(lambda: _held()[0] <= tasks and _held()[1] <= files)


def _held() -> tuple[int, int]:
    return len(asyncio.all_tasks()), len(list(Path("/proc/self/fd").iterdir()))
