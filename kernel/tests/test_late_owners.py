"""A process that stood still wakes up: what its successor wrote stands, and is what it gives."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from gemini_service import rows_of
from paid_work import Found, asked, paid_kernel, rows
from vr_kernel import CALLS_OUT, READ_ONLY, Call, Kernel, VrError, cache_key, tool
from vr_kernel.calls.result_cache import ResultCache
from vr_kernel.gemini.registry import ContextCache, KeptAtGemini
from vr_kernel.log import Log
from vr_kernel.state.sqlite.cache import SqliteCache
from vr_testing import FakeGemini
from waiting import until

ITEMS = 6


def change(path: Path, statement: str, *values: Any) -> None:
    """Do what another process would have done meanwhile."""
    with closing(sqlite3.connect(path, timeout=30)) as connection:
        connection.execute(statement, values)
        connection.commit()


def ledger(environ: Mapping[str, str]) -> Path:
    return Path(environ["VR_STATE_DIR"]) / "jobs.db"


async def at_work(kernel: Kernel, gemini: FakeGemini) -> None:
    await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == 1)


async def test_an_owner_whose_job_is_done_elsewhere_gives_that_result(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    async with paid_kernel(environ, gemini) as kernel:
        with gemini.hold():
            running = kernel.start("paid_batch", {"name": "late", "items": ITEMS, "at_once": 1})
            await at_work(kernel, gemini)
            data = {"texts": ["the other's"], "usage": None}
            result = json.dumps({"result": data, "notes": ["a note"], "usage": None})
            change(ledger(environ), "DELETE FROM lease WHERE name = ?", f"job/{running.id}")
            change(ledger(environ), "UPDATE job SET state = 'done', result = ?", result)
        outcome = await running.outcome()
        assert (outcome.error, outcome.data) == (None, data)
        assert outcome.result.texts == ["the other's"]
        assert outcome.notes == ("a note",)
        job = await kernel.call("job_result", job_id=running.id)
        assert job.result == data
        assert len(asked(gemini)) == 1
        assert len(rows(environ["VR_STATE_DIR"], "jobs.db", "SELECT 1 FROM step")) >= 1


async def test_an_owner_whose_job_failed_elsewhere_says_so(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    async with paid_kernel(environ, gemini) as kernel:
        with gemini.hold():
            running = kernel.start("paid_batch", {"name": "late", "items": ITEMS, "at_once": 1})
            await at_work(kernel, gemini)
            error = VrError("Too far.", hint="Walk.").as_dict(running.id)
            change(ledger(environ), "DELETE FROM lease WHERE name = ?", f"job/{running.id}")
            change(ledger(environ), "UPDATE job SET state = 'failed', error = ?", json.dumps(error))
        outcome = await running.outcome()
        assert (outcome.error.message, outcome.error.hint) == ("Too far.", "Walk.")


@pytest.mark.slow
async def test_an_owner_that_slept_goes_on_when_nobody_took_its_job(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    async with (
        paid_kernel(environ, gemini, VR_KERNEL__LEASE_S="0.4") as kernel,
        kernel.serving(),
    ):
        gemini.latency = 0.05
        arguments = {"name": "sleep", "items": ITEMS, "at_once": 1}
        running = kernel.start("paid_batch", arguments)
        await until(lambda: len(asked(gemini)) >= 2)
        time.sleep(0.6)  # noqa: ASYNC251 - the process stands still
        outcome = await running.outcome()
        assert outcome.error is None
        assert len(outcome.data["texts"]) == ITEMS
        assert outcome.data["texts"] == outcome.result.texts
    assert sum(asked(gemini).values()) <= ITEMS + 1  # one was under way


@pytest.mark.slow
async def test_a_caller_that_leaves_while_its_job_goes_on_elsewhere_cancels_it(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    async with paid_kernel(environ, gemini) as kernel:
        with gemini.hold():
            running = kernel.start("paid_batch", {"name": "late", "items": ITEMS, "at_once": 1})
            await at_work(kernel, gemini)
            change(ledger(environ), "UPDATE lease SET token = token + 1000")
        waiting = asyncio.create_task(running.outcome())
        await until(lambda: running.id not in kernel.services.jobs._running)
        waiting.cancel()
        await asyncio.wait({waiting})
        (asked_to_stop,) = rows(environ["VR_STATE_DIR"], "jobs.db", "SELECT cancel_asked FROM job")
        assert asked_to_stop == (1,)


@pytest.mark.slow
async def test_equal_work_that_was_taken_over_gives_the_others_result(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    """Both ask, since the one stood still; the first reply is kept, and one result is cached."""
    question = {"question": "why"}
    async with paid_kernel(environ, gemini) as late, paid_kernel(environ, gemini) as next_one:
        with gemini.hold():
            sleeping = asyncio.create_task(late.run("paid_once", question))
            await at_work(late, gemini)
            change(ledger(environ), "DELETE FROM lease WHERE name LIKE 'result/%'")
            awake = asyncio.create_task(next_one.run("paid_once", question))
            await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == 2)
        outcomes = [await sleeping, await awake]
    assert [outcome.error for outcome in outcomes] == [None, None]
    assert len({outcome.data["text"] for outcome in outcomes}) == 1
    assert outcomes[0].data["cached"]
    assert len(rows(environ["VR_CACHE_DIR"], "results.db", "SELECT 1 FROM result")) == 1


async def test_a_result_that_comes_late_leaves_the_successors_in_the_cache(
    environ: Mapping[str, str], gemini: FakeGemini, make_plugin: Any
) -> None:
    made: list[int] = []
    begun, go_on = asyncio.Event(), asyncio.Event()

    @tool(effects=READ_ONLY | CALLS_OUT)
    async def odd_late(call: Call) -> Found:
        """Make another one each time."""

        async def produce(shared: Call) -> Found:
            made.append(1)
            number = len(made)
            if number == 1:
                begun.set()
                await go_on.wait()
            return Found(text=f"made by {number}")

        return await call.once(cache_key(odd="late"), Found, produce)

    plugin = make_plugin([odd_late])
    async with (
        paid_kernel(environ, gemini, plugin=plugin) as late,
        paid_kernel(environ, gemini, plugin=plugin) as next_one,
    ):
        sleeping = asyncio.create_task(late.call("odd_late"))
        await begun.wait()
        change(ledger(environ), "DELETE FROM lease WHERE name LIKE 'result/%'")
        assert (await next_one.call("odd_late")).text == "made by 2"
        go_on.set()
        await sleeping
        assert [(await it.call("odd_late")).text for it in (late, next_one)] == ["made by 2"] * 2


async def test_a_value_takes_the_place_of_one_that_is_no_good_any_more(tmp_path: Path) -> None:
    cache = ResultCache(SqliteCache(tmp_path / "results.db"), ttl_days=1, warn=lambda _error: None)
    await cache.set("a", {"n": 1}, over=False)
    await cache.set("a", {"n": 2}, over=False)
    assert await cache.get("a") == {"n": 1}
    for statement in ("UPDATE result SET checksum = 'x'", "UPDATE result SET cached_at = 1"):
        change(tmp_path / "results.db", statement)
        await cache.set("a", {"n": 3}, over=False)
        assert await cache.get("a") == {"n": 3}
    cache.close()


async def test_a_context_cache_that_comes_late_gives_way() -> None:
    registry = KeptAtGemini(rows_of(), Log("error", "console"))
    now = time.time()

    def context(name: str, left: float, account: str = "one") -> ContextCache:
        return ContextCache(
            content="c", model="m", system="", account=account, name=name, content_id="c",
            tokens=1, expires_at=now + left,
        )  # fmt: skip

    async def added(*of: Any) -> str:
        return (await registry.add_context(context(*of), now + 30)).name

    assert await added("ends soon", 20) == "ends soon"
    assert await added("successor's", 500) == "successor's"
    assert await added("late", 600) == "successor's"
    assert await added("another account's", 100, "two") == "another account's"
    names = {it.name for it in await registry.context("c", "m", "")}
    assert names == {"successor's", "another account's"}
