"""Equal work at the same time is paid once, recorded once, and never stuck."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import paid_plugin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paid_work import ASKED, PAID_STEP, Found, asked, paid_kernel, recorded, rows
from vr_kernel import CALLS_OUT, READ_ONLY, Call, Code, Kernel, Record, cache_key, tool
from vr_kernel.running.runner import Outcome
from vr_testing import FakeGemini, Fault
from waiting import until

CALLERS = 20
QUESTION = "why"


@pytest.fixture
async def kernel(environ: Mapping[str, str], gemini: FakeGemini) -> AsyncIterator[Kernel]:
    """A kernel that pays it."""
    async with paid_kernel(environ, gemini) as kernel:
        yield kernel


async def in_flight(gemini: FakeGemini, count: int = 1) -> None:
    """Wait until the service is working on that many requests."""
    await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == count)


async def joined(kernel: Kernel, count: int) -> None:
    """Wait until that many calls wait for the one flight."""
    flying = kernel._foundation.single_flights._under_way
    await until(lambda: sum(len(flight._waiting) for flight in flying.values()) == count)


def ask(kernel: Kernel, **more: Any) -> asyncio.Task[Outcome]:
    """Ask the common question."""
    arguments = {"question": QUESTION, **more}
    return asyncio.create_task(kernel.run("paid_once", arguments))


async def test_fifty_equal_calls_are_one_model_call(
    kernel: Kernel, gemini: FakeGemini, environ: Mapping[str, str]
) -> None:
    with gemini.hold():
        calls = [ask(kernel) for _ in range(CALLERS)]
        await in_flight(gemini)
        await joined(kernel, CALLERS)
    outcomes = [await call for call in calls]
    assert asked(gemini) == {QUESTION: 1}
    assert {outcome.data["text"] for outcome in outcomes} == {f"A fake answer to: {QUESTION}"}
    paid = [outcome for outcome in outcomes if outcome.data["usage"]]
    assert len(paid) == 1
    assert paid[0].usage.calls == 1
    assert [it.data["cached"] for it in outcomes] == [it is not paid[0] for it in outcomes]
    assert len(recorded(environ["VR_STATE_DIR"])) == 1
    assert (await ask(kernel)).data["cached"]
    assert asked(gemini) == {QUESTION: 1}


@pytest.mark.parametrize("left", [1, 3, CALLERS - 1])
async def test_leaders_that_leave_hand_over(
    left: int, kernel: Kernel, gemini: FakeGemini, environ: Mapping[str, str]
) -> None:
    with gemini.hold():
        calls = []
        for number in range(CALLERS):
            calls.append(ask(kernel))
            await joined(kernel, number + 1)
        await in_flight(gemini)
        for call in calls[:left]:
            call.cancel()
        await asyncio.wait(calls[:left])
    assert all(call.cancelled() for call in calls[:left])
    outcomes = [await call for call in calls[left:]]
    assert asked(gemini) == {QUESTION: 1}
    assert gemini.cancelled == 0
    assert [bool(outcome.data["usage"]) for outcome in outcomes] == [
        True,
        *[False] * (CALLERS - 1 - left),
    ]
    assert rows(environ["VR_STATE_DIR"], "journal.db", "SELECT seq FROM record") == [(1,)]
    states = {
        job.state for job in await kernel.services.jobs.list(kernel.identity.principal, (), 100)
    }
    assert states <= {"done", "cancelled"}
    assert (await ask(kernel)).data["cached"]


async def test_when_all_leave_the_provider_call_ends(
    kernel: Kernel, gemini: FakeGemini, environ: Mapping[str, str]
) -> None:
    with gemini.hold():
        calls = [ask(kernel) for _ in range(5)]
        await in_flight(gemini)
        await joined(kernel, 5)
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)
        await asyncio.to_thread(gemini.wait, lambda: gemini.cancelled == 1)
    assert recorded(environ["VR_STATE_DIR"]) == []
    assert rows(environ["VR_STATE_DIR"], "jobs.db", "SELECT * FROM step") == []
    assert rows(environ["VR_STATE_DIR"], "jobs.db", "SELECT * FROM lease") == []
    assert rows(environ["VR_CACHE_DIR"], "results.db", "SELECT * FROM result") == []
    again = await ask(kernel)
    assert not again.data["cached"]
    assert asked(gemini) == {QUESTION: 2}


async def test_all_get_the_error_of_one_call(kernel: Kernel, gemini: FakeGemini) -> None:
    gemini.fail(Fault.status(400))
    with gemini.hold():
        calls = [ask(kernel) for _ in range(10)]
        await joined(kernel, 10)
    errors = [(await call).error for call in calls]
    assert {error.code for error in errors if error} == {Code.INVALID_INPUT}
    assert len([error for error in errors if error]) == 10
    assert asked(gemini) == {QUESTION: 1}
    assert (await ask(kernel)).error is None
    assert asked(gemini) == {QUESTION: 2}


async def test_all_get_the_crash_and_what_was_paid_is_kept(
    kernel: Kernel, gemini: FakeGemini, environ: Mapping[str, str]
) -> None:
    with gemini.hold():
        calls = [ask(kernel, fail_after=True) for _ in range(10)]
        await joined(kernel, 10)
    outcomes = [await call for call in calls]
    assert {outcome.error.code for outcome in outcomes if outcome.error} == {Code.INTERNAL}
    assert recorded(environ["VR_STATE_DIR"]) == []
    again = await ask(kernel)
    assert not again.data["cached"]
    assert asked(gemini) == {QUESTION: 1}
    assert len(recorded(environ["VR_STATE_DIR"])) == 1


@tool(effects=READ_ONLY | CALLS_OUT)
async def odd_result(call: Call, how: str) -> Found:
    """End in an unusual way, at the first call; well at the next."""
    runs: list[str] = call.services.providers.runs  # type: ignore[attr-defined]  # set by the test

    async def produce(_shared: Call) -> Any:
        runs.append(how)
        if len(runs) > 1:
            return Found(text="fine")
        if how == "cancelled":
            raise asyncio.CancelledError
        if how == "exits":
            raise SystemExit(3)
        if how == "itself":
            return await asyncio.create_task(odd_result(call, how))
        unfit = Found.model_construct(text=b"\xff")  # type: ignore[arg-type]
        return {"nothing": None, "other": "a text", "unfit": unfit}[how]

    return await call.once(cache_key(how=how), Found, produce)


@pytest.mark.parametrize("how", ["nothing", "other", "unfit", "cancelled", "exits", "itself"])
async def test_odd_ends_leave_nothing_stuck(
    how: str, environ: Mapping[str, str], gemini: FakeGemini, make_plugin: Any
) -> None:
    async with paid_kernel(environ, gemini, plugin=make_plugin([odd_result])) as kernel:
        kernel.services.providers.runs = []  # type: ignore[attr-defined]
        first, second = await asyncio.gather(
            kernel.run("odd_result", {"how": how}), kernel.run("odd_result", {"how": how})
        )
        assert {it.error.code for it in (first, second) if it.error} == {Code.INTERNAL}
        async with asyncio.timeout(5):
            assert (await kernel.call("odd_result", how=how)).text == "fine"
        assert rows(environ["VR_STATE_DIR"], "jobs.db", "SELECT name FROM lease") == []


async def test_work_that_does_not_stop_leaves_nothing_stuck(
    environ: Mapping[str, str], gemini: FakeGemini, make_plugin: Any
) -> None:
    begun = asyncio.Event()

    @tool(effects=READ_ONLY)
    async def odd_stubborn(call: Call) -> Found:
        """Work that ends well although it is cancelled."""

        async def produce(_shared: Call) -> Found:
            try:
                begun.set()
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return Found(text="never mind")
            raise AssertionError

        return await call.once(cache_key(odd="stubborn"), Found, produce)

    async with paid_kernel(environ, gemini, plugin=make_plugin([odd_stubborn])) as kernel:
        for _ in range(2):
            begun.clear()
            call = asyncio.create_task(kernel.run("odd_stubborn", {}))
            async with asyncio.timeout(5):
                await begun.wait()
            call.cancel()
            await asyncio.wait({call})
            assert call.cancelled()
        assert rows(environ["VR_STATE_DIR"], "jobs.db", "SELECT name FROM lease") == []


async def test_two_kernels_pay_once(
    kernel: Kernel, gemini: FakeGemini, environ: Mapping[str, str]
) -> None:
    async with paid_kernel(environ, gemini) as other:
        with gemini.hold():
            calls = [ask((kernel, other)[number % 2]) for number in range(CALLERS)]
            await in_flight(gemini)
        outcomes = [await call for call in calls]
        assert asked(gemini) == {QUESTION: 1}
        assert sum(bool(outcome.data["usage"]) for outcome in outcomes) == 1
        assert len(recorded(environ["VR_STATE_DIR"])) == 1


async def test_what_was_done_since_somebody_looked_is_not_done_again(
    environ: Mapping[str, str], gemini: FakeGemini, make_plugin: Any
) -> None:
    @tool(effects=READ_ONLY | CALLS_OUT)
    async def odd_looked(call: Call) -> Found:
        """Take it that the cache has nothing."""

        async def produce(shared: Call) -> Found:
            return Found(text=(await shared.services.models.generate(QUESTION)).text)

        return await call.once(cache_key(odd="looked"), Found, produce, looked=True)

    async with paid_kernel(environ, gemini, plugin=make_plugin([odd_looked])) as kernel:
        found = [await kernel.call("odd_looked") for _ in range(2)]
        assert [each.cached for each in found] == [False, True]
        assert asked(gemini) == {QUESTION: 1}


async def test_a_leader_that_left_early_leaves_no_job_behind(
    kernel: Kernel, gemini: FakeGemini, environ: Mapping[str, str]
) -> None:
    """It waited for another process, left, and the work it had begun paid later for others."""
    async with paid_kernel(environ, gemini) as other:
        with gemini.hold():
            elsewhere = ask(other)
            await in_flight(gemini)
            leader = ask(kernel)
            await joined(kernel, 1)
            follower = ask(kernel)
            await joined(kernel, 2)
            leader.cancel()
            await asyncio.wait({leader})
            elsewhere.cancel()
            await asyncio.wait({elsewhere})
            await in_flight(gemini)
        assert (await follower).data["usage"]
        jobs = await kernel.services.jobs.list(
            kernel.identity.principal, ("running", "interrupted"), 10
        )
        assert jobs == []


@pytest.mark.parametrize("ends", ["cancelled", "fails"])
async def test_what_others_have_is_recorded_and_cached_when_its_owner_does_not_succeed(
    ends: str, environ: Mapping[str, str], gemini: FakeGemini, make_plugin: Any
) -> None:
    landed, first = asyncio.Event(), []

    @tool(effects=READ_ONLY | CALLS_OUT)
    async def odd_owner(call: Call) -> Found:
        """Share work; the first caller does not get to its own end."""
        first.append(call)

        async def inner(shared: Call) -> Found:
            reply = await shared.services.models.generate(QUESTION)
            shared.record(Record("PaidAnswers", {"text": reply.text}))
            return Found(text=reply.text)

        async def outer(shared: Call) -> Found:
            return await shared.once(cache_key(odd="inner"), Found, inner)

        found = await call.once(cache_key(odd="outer"), Found, outer)
        if call is first[0]:
            landed.set()
            if ends == "fails":
                raise ZeroDivisionError
            await asyncio.Event().wait()
        return found

    plugin = make_plugin([odd_owner], kinds=[paid_plugin.ANSWERS])
    async with paid_kernel(environ, gemini, plugin=plugin) as kernel:
        with gemini.hold():
            owner = asyncio.create_task(kernel.run("odd_owner", {}))
            await in_flight(gemini)
            other = asyncio.create_task(kernel.run("odd_owner", {}))
            await until(lambda: len(first) == 2)
            await joined(kernel, 3)  # the two, and the outer work for the inner
        await landed.wait()
        if ends == "cancelled":
            owner.cancel()
        await asyncio.wait({owner})
        assert (await other).error is None
        assert len(recorded(environ["VR_STATE_DIR"])) == 1
        assert (await kernel.call("odd_owner")).cached
        assert asked(gemini) == {QUESTION: 1}
        assert rows(environ["VR_STATE_DIR"], "jobs.db", "SELECT name FROM lease") == []


async def test_what_others_have_is_recorded_when_the_work_around_it_fails(
    environ: Mapping[str, str], gemini: FakeGemini, make_plugin: Any
) -> None:
    @tool(effects=READ_ONLY | CALLS_OUT)
    async def odd_nested(call: Call, alone: bool) -> Found:
        """Share work, alone or within other shared work that fails."""

        async def inner(shared: Call) -> Found:
            reply = await shared.services.models.generate(QUESTION)
            shared.record(Record("PaidAnswers", {"text": reply.text}))
            return Found(text=reply.text)

        async def outer(shared: Call) -> Found:
            await shared.once(cache_key(odd="inner"), Found, inner)
            raise ZeroDivisionError

        key, work = ("inner", inner) if alone else ("outer", outer)
        return await call.once(cache_key(odd=key), Found, work)

    plugin = make_plugin([odd_nested], kinds=[paid_plugin.ANSWERS])
    async with paid_kernel(environ, gemini, plugin=plugin) as kernel:
        with gemini.hold():
            owner = asyncio.create_task(kernel.run("odd_nested", {"alone": False}))
            await in_flight(gemini)
            other = asyncio.create_task(kernel.run("odd_nested", {"alone": True}))
            await joined(kernel, 3)
        assert (await owner).error is not None
        assert (await other).error is None
        assert len(recorded(environ["VR_STATE_DIR"])) == 1
        assert (await kernel.call("odd_nested", alone=True)).cached
        assert rows(environ["VR_STATE_DIR"], "jobs.db", "SELECT name FROM lease") == []


async def test_a_hit_writes_no_job(kernel: Kernel, environ: Mapping[str, str]) -> None:
    await ask(kernel)
    before = rows(environ["VR_STATE_DIR"], "jobs.db", "SELECT id FROM job")
    for _ in range(3):
        assert (await ask(kernel)).data["cached"]
    assert rows(environ["VR_STATE_DIR"], "jobs.db", "SELECT id FROM job") == before
    assert rows(environ["VR_STATE_DIR"], "jobs.db", "SELECT * FROM lease") == []


# Rows of the cache and of the ledger that somebody damaged.

VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=40),
    st.binary(max_size=40),
    st.sampled_from([b"{}", b"[]", b"null", b"[" * 5000, '{"text": 3}', '{"text": "wrong"}']),
)
CHANGES = st.one_of(
    st.tuples(st.just("set"), VALUES),
    st.tuples(st.just("cut"), st.integers(0, 200)),
    st.tuples(st.just("flip"), st.integers(0, 200)),
)
COLUMNS = {
    "result": ["value", "checksum", "cached_at", "content_id", "tool", "model", "key"],
    "step": ["reply", "checksum", "committed_at", "version", "key", "scope"],
}


def damages(table: str) -> Any:
    """A table, and what happens to cells of its one row."""
    change = st.tuples(st.sampled_from(COLUMNS[table]), CHANGES)
    return st.tuples(st.just(table), st.lists(change, min_size=1, max_size=3))


def changed(cell: Any, how: str, by: Any) -> Any:
    """A damaged cell."""
    if how == "set":
        return by
    data = bytearray(cell or b"\0")
    if how == "cut":
        del data[by:]
    else:
        data[by % len(data)] ^= 1 << by % 8
    return bytes(data) if by % 2 else data.decode("utf-8", "replace")


def damage(environ: Mapping[str, str], table: str, column: str, how: str, by: Any) -> None:
    """Damage a cell of the one row of a table; what the table does not take is left out."""
    folder, file = (
        ("VR_CACHE_DIR", "results.db") if table == "result" else ("VR_STATE_DIR", "jobs.db")
    )
    with closing(sqlite3.connect(Path(environ[folder], file), isolation_level=None)) as connection:
        ((cell,),) = connection.execute(f"SELECT CAST({column} AS BLOB) FROM {table}").fetchall()
        try:
            connection.execute(f"UPDATE {table} SET {column} = ?", (changed(cell, how, by),))
        except sqlite3.IntegrityError:
            return


def forget(environ: Mapping[str, str], folder: str, file: str, table: str) -> None:
    """Empty a table, or a part of it."""
    with closing(sqlite3.connect(Path(environ[folder], file), isolation_level=None)) as connection:
        connection.execute(f"DELETE FROM {table}")


def mutations(examples: int) -> Any:
    """Call a test with so many examples of damage."""
    # Derandomised: an example runs against the state that the ones before it left.
    return lambda test: settings(max_examples=examples, derandomize=True)(
        given(done=st.sampled_from(list(COLUMNS)).flatmap(damages))(test)
    )


class Damaged:
    """One kernel for all examples, on an event loop of its own."""

    def __init__(self, environ: Mapping[str, str], gemini: FakeGemini) -> None:
        self.environ = environ
        self.gemini = gemini
        self.runner = asyncio.Runner()
        # Between two examples nobody renews a lease.
        self.opened = paid_kernel(environ, gemini, VR_KERNEL__LEASE_S="60")
        self.kernel = self.runner.run(self.opened.__aenter__())

    def close(self) -> None:
        self.runner.run(self.opened.__aexit__(None, None, None))
        self.runner.close()

    def ask(self, **more: Any) -> dict[str, Any]:
        """The answer; a call that is to fail does."""
        arguments = {"question": QUESTION, **more}
        outcome = self.runner.run(self.kernel.run("paid_once", arguments))
        assert (outcome.error is not None) == more.get("fail_after", False), outcome.error
        return outcome.data

    def check(self, done: tuple[str, list[tuple[str, tuple[str, Any]]]]) -> None:
        """Damage what is kept; the answer stays right, and the next one is a hit again."""
        forget(self.environ, "VR_CACHE_DIR", "results.db", "result")
        forget(self.environ, "VR_STATE_DIR", "jobs.db", "step")
        table, changes = done
        self.ask(fail_after=table == "step")  # what failed leaves its paid step, but no result
        forget(self.environ, "VR_STATE_DIR", "jobs.db", f"step WHERE NOT {PAID_STEP}")
        before = len(self.gemini.requests_of(ASKED))
        for column, (how, by) in changes:
            damage(self.environ, table, column, how, by)
        right = f"A fake answer to: {QUESTION}"
        assert self.ask()["text"] == right
        healed = self.ask()
        assert (healed["text"], healed["cached"]) == (right, True)
        assert len(self.gemini.requests_of(ASKED)) - before <= 1


@pytest.fixture
def damaged(environ: Mapping[str, str], gemini: FakeGemini) -> Iterator[Damaged]:
    """A kernel whose rows are damaged."""
    made = Damaged(environ, gemini)
    made.ask()
    yield made
    made.close()


def test_a_damaged_row_is_healed(damaged: Damaged) -> None:
    @mutations(25)
    def check(done: Any) -> None:
        damaged.check(done)

    check()


@pytest.mark.slow
@pytest.mark.timeout(280)
def test_no_damage_gives_a_wrong_answer(damaged: Damaged) -> None:
    @mutations(1000)
    def check(done: Any) -> None:
        damaged.check(done)

    check()


def test_a_foreign_row_is_no_answer(damaged: Damaged) -> None:
    """Valid in itself, under our key: the result of something else."""
    damaged.ask()
    cache = damaged.kernel.services.cache
    ((key,),) = rows(damaged.environ["VR_CACHE_DIR"], "results.db", "SELECT key FROM result")
    for foreign in ({}, {"text": 3}, {"text": None, "cached": False}, {"other": "text"}):
        damaged.runner.run(cache.set(key, foreign))
        assert damaged.ask()["text"] == f"A fake answer to: {QUESTION}"
        assert damaged.ask()["cached"]


def test_a_result_of_an_earlier_version_costs_nothing(damaged: Damaged) -> None:
    """Kept under a key that does not name its shape."""
    kernel, question = damaged.kernel, "asked long ago"
    identity = kernel.services.models.identity()
    key = cache_key(tool="paid_once", question=question, **identity)
    damaged.runner.run(kernel.services.cache.set(key, {"text": "answered", "model": "m"}))
    before = len(damaged.gemini.requests)
    for _ in range(2):
        answer = damaged.ask(question=question)
        assert (answer["text"], answer["cached"]) == ("answered", True)
    assert len(damaged.gemini.requests) == before
