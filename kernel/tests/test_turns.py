"""`Kernel.turn`: work of a front that is no tool, paid once, committed at its end, by its id."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from paid_work import asked, paid_kernel, recorded, rows
from vr_kernel import Code, Kernel, Record, VrError
from vr_kernel.call import produced_by
from vr_testing import FakeGemini
from waiting import until

BAD_IDS = {
    "nul": "a\0b",
    "half a character": "a\ud800b",
    "empty": "",
    "too long": "x" * 201,
    "no text": 7,
}


def answers(state: str) -> list[str]:
    return [fields for _, fields in recorded(state)]


async def test_a_turn_has_services_usage_and_records(
    kernel: Kernel, gemini: FakeGemini, environ: dict[str, str]
) -> None:
    async with kernel.turn("paid", "chat", "conversation 1, turn 1") as call:
        assert (call.tool, call.services.plugin) == ("chat", "paid")
        reply = await call.services.models.generate("Why?")
        call.record(Record("PaidAnswers", {"text": reply.text}))
        assert call.usage.calls == 1
        assert answers(environ["VR_STATE_DIR"]) == []
    assert len(answers(environ["VR_STATE_DIR"])) == 1
    used = rows(environ["VR_STATE_DIR"], "usage.db", "SELECT call_id, tool, plugin FROM attempt")
    assert used == [(call.id, "chat", "paid")]
    left = "SELECT key FROM step UNION SELECT name FROM lease"
    assert rows(environ["VR_STATE_DIR"], "jobs.db", left) == []


async def test_a_turn_that_failed_finds_what_it_paid_for(
    kernel: Kernel, gemini: FakeGemini, environ: dict[str, str]
) -> None:
    worked = []

    async def work() -> int:
        worked.append(1)
        return len(worked)

    async def turn(*, fail: bool) -> Any:
        async with kernel.turn("paid", "chat", "one") as call:
            reply = await call.services.models.generate("Why?")
            step = await call.step("count", work)
            call.record(Record("PaidAnswers", {"text": reply.text}))
            if fail:
                raise RuntimeError("no luck")
            return step

    with pytest.raises(RuntimeError):
        await turn(fail=True)
    assert answers(environ["VR_STATE_DIR"]) == []
    assert await turn(fail=False) == 1
    assert asked(gemini) == {"Why?": 1}
    assert worked == [1]
    assert len(answers(environ["VR_STATE_DIR"])) == 1
    await turn(fail=False)
    assert asked(gemini) == {"Why?": 2}, "a turn that ended is forgotten"
    assert len(answers(environ["VR_STATE_DIR"])) == 1, "its records replace the former ones"


async def test_another_process_finds_it_too(gemini: FakeGemini, environ: dict[str, str]) -> None:
    for again in (False, True):
        async with paid_kernel(environ, gemini) as kernel:
            turn = kernel.turn("paid", "chat", "one")
            call = await turn.__aenter__()
            await call.services.models.generate("Why?")
            if again:
                await turn.__aexit__(None, None, None)
    assert asked(gemini) == {"Why?": 1}


async def test_other_plugins_and_principals_find_nothing(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    given = [("paid", None), ("infra", None), ("paid", "ann"), ("paid", "bob")]
    ids = set()

    async def fail(plugin: str, principal: str | None) -> None:
        async with kernel.turn(plugin, "chat", "one", principal=principal) as call:
            ids.add(call.id)
            await call.services.models.generate("Why?")
            raise RuntimeError

    for plugin, principal in given:
        with pytest.raises(RuntimeError):
            await fail(plugin, principal)
    assert asked(gemini) == {"Why?": 4}
    assert len(ids) == 4


@pytest.mark.parametrize("bad", BAD_IDS)
@pytest.mark.parametrize("which", ["name", "id"])
async def test_a_malformed_name_is_refused(kernel: Kernel, which: str, bad: str) -> None:
    given: Any = {"name": "chat", "id": "one", which: BAD_IDS[bad]}
    with pytest.raises(VrError) as caught:
        async with kernel.turn("paid", **given):
            pytest.fail("it was opened")
    assert (caught.value.code, caught.value.category) == (Code.INVALID_INPUT, "ID_INVALID")


async def test_an_unknown_plugin_names_the_nearest(kernel: Kernel) -> None:
    with pytest.raises(VrError, match="No plugin 'payd' is loaded") as caught:
        async with kernel.turn("payd", "chat", "one"):
            pytest.fail("it was opened")
    assert caught.value.code is Code.NOT_FOUND
    assert "'paid'" in caught.value.hint


async def test_a_second_owner_waits_for_the_first(kernel: Kernel) -> None:
    told: list[str] = []
    order: list[str] = []

    async def second() -> None:
        async with kernel.turn("paid", "chat", "one", lambda *it: told.append(it[2])):
            order.append("second")

    async with kernel.turn("paid", "chat", "one"):
        waiting = asyncio.create_task(second())
        await until(lambda: bool(told))
        order.append("first")
    await waiting
    assert order == ["first", "second"]
    assert "Waiting" in told[0]


async def test_a_second_owner_gives_up_in_the_end(
    gemini: FakeGemini, environ: dict[str, str]
) -> None:
    async with (
        paid_kernel(environ, gemini, VR_KERNEL__LEASE_S="1") as kernel,
        kernel.turn("paid", "chat", "one"),
    ):
        with pytest.raises(VrError, match="going on in another place") as caught:
            async with kernel.turn("paid", "chat", "one"):
                pytest.fail("it was opened")
    assert (caught.value.category, caught.value.retryable) == ("TURN_BUSY", True)


async def test_an_owner_that_lost_its_turn_records_nothing(
    kernel: Kernel, environ: dict[str, str]
) -> None:
    async def stall() -> None:
        async with kernel.turn("paid", "chat", "one") as call:
            call.record(Record("PaidAnswers", {"text": "late"}))
            (lease,) = produced_by(call).leases
            lease.over = True  # as for a process that was suspended

    with pytest.raises(VrError) as caught:
        await stall()
    assert (caught.value.code, caught.value.category) == (Code.CONFLICT, "LEASE_LOST")
    assert answers(environ["VR_STATE_DIR"]) == []


async def test_a_turn_takes_no_second_id(kernel: Kernel) -> None:
    with pytest.raises(TypeError, match="call_id"):
        async with kernel.turn("paid", "chat", "one", call_id="two"):
            pytest.fail("it was opened")


async def test_a_cancelled_turn_keeps_what_it_paid_for(kernel: Kernel, gemini: FakeGemini) -> None:
    paid = asyncio.Event()

    async def turn() -> None:
        async with kernel.turn("paid", "chat", "one") as call:
            await call.services.models.generate("Why?")
            paid.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(turn())
    await paid.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with kernel.turn("paid", "chat", "one") as call:
        await call.services.models.generate("Why?")
    assert asked(gemini) == {"Why?": 1}


@pytest.mark.parametrize("failed", [False, True])
async def test_nothing_is_recorded_in_a_turn_that_has_ended(kernel: Kernel, failed: bool) -> None:
    with suppress(ZeroDivisionError):
        async with kernel.turn("paid", "chat", "one") as call:
            if failed:
                raise ZeroDivisionError
    for late in (
        lambda: call.record(Record("PaidAnswers", {"text": "a"})),
        lambda: call.forget("A"),
    ):
        with pytest.raises(VrError) as caught:
            late()
        assert (caught.value.code, caught.value.category) == (Code.CONFLICT, "TURN_ENDED")
