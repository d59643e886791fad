"""A whole kernel on a state in memory: nothing it keeps between calls lies in a file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import paid_plugin
import pytest
from paid_work import paying
from vr_kernel import Kernel
from vr_testing import FakeGemini, MemoryState, open_kernel

KEPT = ("*.db", "*.db-wal")


@pytest.fixture
def state() -> MemoryState:
    return MemoryState()


@asynccontextmanager
async def opened(folder: Path, state: MemoryState, gemini: FakeGemini) -> AsyncIterator[Kernel]:
    plugins = {"paid": paid_plugin}
    async with open_kernel(plugins, variables=paying(gemini), folder=folder, state=state) as kernel:
        yield kernel


async def test_what_was_paid_is_found_by_the_next_kernel(
    tmp_path: Path, state: MemoryState, gemini: FakeGemini
) -> None:
    """Results, records, usage and jobs are where the state is, and nowhere else."""
    async with opened(tmp_path, state, gemini) as kernel:
        first = await kernel.run("paid_once", {"question": "why"})
        assert first.data["text"]
        job = await kernel.detach(kernel.start("paid_batch", {"name": "how", "items": 2}))
        ended = await kernel.services.jobs.wait(job.id, kernel.identity.principal, 60)
        assert ended.state == "done"
    paid = len(gemini.requests)
    async with opened(tmp_path, state, gemini) as kernel:
        again = await kernel.run("paid_once", {"question": "why"})
        assert (again.data["text"], again.data["cached"]) == (first.data["text"], True)
        who = kernel.identity.principal
        assert (await kernel.services.jobs.find(job.id, who)).result == ended.result
        (row,) = await kernel.services.usage.report("plugin")
        assert row.calls == paid
        assert await kernel.services.journal.last_seq() > 0
    assert len(gemini.requests) == paid
    assert [file for ending in KEPT for file in tmp_path.rglob(ending)] == []  # noqa: ASYNC240


async def test_equal_calls_of_two_kernels_are_paid_once(
    tmp_path: Path, state: MemoryState, gemini: FakeGemini
) -> None:
    """They share a state, as replicas would."""
    async with (
        opened(tmp_path / "a", state, gemini) as here,
        opened(tmp_path / "b", state, gemini) as there,
    ):
        calls = [k.run("paid_once", {"question": "why"}) for k in (here, there) * 10]
        answers = {outcome.data["text"] for outcome in await asyncio.gather(*calls)}
    assert len(answers) == 1
    assert len(gemini.requests) == 1
