"""A caller's id of a call: the same call is found again, and another one is refused."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import uuid
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from paid_work import ASKED, asked, paid_kernel, recorded, rows
from test_turns import BAD_IDS
from vr_kernel import Code, Kernel, VrError
from vr_testing import FakeGemini, Fault
from waiting import until

BATCH = {"name": "job", "items": 3, "at_once": 1}
OURS = uuid.uuid5(uuid.NAMESPACE_URL, "a call").hex


@pytest.mark.parametrize("call_id", [OURS, "turn 1, call 2"])
async def test_a_long_call_is_found_again(
    kernel: Kernel, gemini: FakeGemini, call_id: str, environ: dict[str, str]
) -> None:
    first = await kernel.run("paid_batch", BATCH, call_id=call_id)
    again = await kernel.run("paid_batch", BATCH, call_id=call_id)
    assert first.result is not None
    assert again.result == first.result
    assert again.call_id == first.call_id
    assert (first.call_id == call_id) is (call_id == OURS)
    assert sum(asked(gemini).values()) == 3
    found = await kernel.call("job_result", job_id=first.call_id)
    assert found.state == "done"
    assert len(rows(environ["VR_STATE_DIR"], "jobs.db", "SELECT 1 FROM job")) == 1


async def test_one_that_goes_on_here_is_joined(kernel: Kernel, gemini: FakeGemini) -> None:
    calls = [kernel.run("paid_batch", BATCH, call_id=OURS) for _ in range(3)]
    first, *others = await asyncio.gather(*calls)
    assert first.error is None
    assert all(other.data == first.data for other in others)
    assert sum(asked(gemini).values()) == 3


async def test_one_that_was_interrupted_goes_on(
    gemini: FakeGemini, environ: dict[str, str]
) -> None:
    gemini.fail(Fault.hang(), when=lambda _: len(gemini.requests_of(ASKED)) > 1, times=None)
    async with paid_kernel(environ, gemini) as kernel:
        kernel.start("paid_batch", BATCH, call_id=OURS)
        await until(lambda: gemini.in_flight and len(gemini.requests_of(ASKED)) > 1)
    gemini.heal()
    async with paid_kernel(environ, gemini) as kernel:
        outcome = await kernel.run("paid_batch", BATCH, call_id=OURS)
    assert outcome.error is None
    assert asked(gemini)["job item 0"] == 1


async def test_another_process_waits_for_it(gemini: FakeGemini, environ: dict[str, str]) -> None:
    async with paid_kernel(environ, gemini) as one, paid_kernel(environ, gemini) as two:
        outcomes = await asyncio.gather(
            one.run("paid_batch", BATCH, call_id=OURS), two.run("paid_batch", BATCH, call_id=OURS)
        )
    assert outcomes[0].data == outcomes[1].data
    assert sum(asked(gemini).values()) == 3


@pytest.mark.parametrize("damage", ["damaged", "unwritable"])
async def test_without_the_ledger_nothing_is_paid_again(
    gemini: FakeGemini, environ: dict[str, str], damage: str
) -> None:
    """An unreadable one refuses the call; of one that cannot be written the result is read."""
    async with paid_kernel(environ, gemini) as kernel:
        first = await kernel.run("paid_batch", BATCH, call_id=OURS)
    ledger = Path(environ["VR_STATE_DIR"], "jobs.db")
    if damage == "damaged":
        await asyncio.to_thread(ledger.write_bytes, b"no database" * 1000)
    else:
        ledger.with_name("jobs.db-wal").unlink(missing_ok=True)
        ledger.with_name("jobs.db-wal").mkdir()
    async with paid_kernel(environ, gemini) as kernel:
        again = await kernel.run("paid_batch", BATCH, call_id=OURS)
    assert sum(asked(gemini).values()) == 3
    if damage == "damaged":
        assert (again.error.code, again.error.category) == (Code.UNAVAILABLE, "STATE_DAMAGED")
    else:
        assert again.result == first.result


@pytest.mark.parametrize(
    ("name", "arguments", "principal"),
    [
        ("paid_batch", {**BATCH, "items": 2}, None),
        ("paid_batch", BATCH, "ann"),
        ("paid_once", {"question": "job"}, None),
    ],
)
async def test_another_call_may_not_have_its_id(
    kernel: Kernel, gemini: FakeGemini, name: str, arguments: dict[str, Any], principal: str | None
) -> None:
    await kernel.run("paid_batch", BATCH, call_id=OURS)
    outcome = await kernel.run(name, arguments, call_id=OURS, principal=principal)
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.category) == (Code.CONFLICT, "CALL_ID_USED")
    assert sum(asked(gemini).values()) == 3


async def test_it_is_a_job_from_its_beginning_and_can_be_cancelled(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    gemini.fail(Fault.hang(), when=lambda _: True, times=None)
    first = kernel.start("paid_batch", BATCH, call_id=OURS)
    assert (await kernel.detach(first)).state == "running"
    second = kernel.start("paid_batch", BATCH, call_id=OURS)
    assert (await kernel.detach(second)).id == OURS
    await kernel.call("job_cancel", job_id=OURS)
    for running in (first, second):
        outcome = await running.outcome()
        assert outcome.error is not None
        assert outcome.error.code is Code.CANCELLED


async def test_one_that_is_cancelled_while_its_row_is_written_ends_as_cancelled(
    kernel: Kernel, gemini: FakeGemini, environ: dict[str, str]
) -> None:
    """The row waits for the lock of another process, and is written after the cancellation."""
    await kernel.call("job_list")  # makes the file
    with closing(sqlite3.connect(Path(environ["VR_STATE_DIR"], "jobs.db"))) as other:
        other.execute("BEGIN IMMEDIATE")
        running = kernel.start("paid_batch", BATCH, call_id=OURS)
        for _ in range(20):
            await asyncio.sleep(0)
        cancelling = asyncio.create_task(running.cancel())
        await asyncio.sleep(0)
    await cancelling
    outcome = await running.outcome()
    assert outcome.error is not None
    assert outcome.error.code is Code.CANCELLED
    assert (await kernel.call("job_status", job_id=OURS)).state == "cancelled"
    assert asked(gemini) == {}


async def test_a_call_that_is_not_long_runs_again_and_replaces(
    kernel: Kernel, gemini: FakeGemini, environ: dict[str, str]
) -> None:
    for _ in range(2):
        outcome = await kernel.run("paid_ask", {"question": "Why?"}, call_id=OURS)
        assert (outcome.error, outcome.call_id) == (None, OURS)
    assert asked(gemini) == {"Why?": 2}
    assert len(recorded(environ["VR_STATE_DIR"])) == 1
    used = rows(environ["VR_STATE_DIR"], "usage.db", "SELECT DISTINCT call_id FROM attempt")
    assert used == [(OURS,)]
    (provenance,) = rows(environ["VR_STATE_DIR"], "journal.db", "SELECT provenance FROM record")
    assert json.loads(provenance[0])["call_id"] == OURS


@pytest.mark.parametrize("name", ["paid_batch", "paid_ask"])
@pytest.mark.parametrize("bad", BAD_IDS)
async def test_a_malformed_id_is_refused(kernel: Kernel, name: str, bad: str) -> None:
    given: Any = {"call_id": BAD_IDS[bad]}
    with pytest.raises(VrError) as caught:
        await kernel.run(name, {}, **given)
    assert (caught.value.code, caught.value.category) == (Code.INVALID_INPUT, "ID_INVALID")
