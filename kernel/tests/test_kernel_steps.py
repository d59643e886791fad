"""Steps: a reply that was paid for is never lost, and never paid for again."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from lease_probe import is_owned
from ledger_state import ledger_state
from vr_kernel import VrError
from vr_kernel.jobs.lease import Lease
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.jobs.steps import Steps
from vr_kernel.state.sqlite.ledger import open_ledger
from vr_kernel.storage.database import Database

LEASE_S = 300.0
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(open_ledger(tmp_path / "jobs.db")) as database:
        yield database


@pytest.fixture
def steps(database: Database) -> Steps:
    return Steps(ledger_state(database))


class Bill:
    """Work that counts how often it was paid."""

    def __init__(self, reply: Any = "reply") -> None:
        self.paid = 0
        self.reply = reply

    async def __call__(self) -> Any:
        self.paid += 1
        return self.reply


@contextmanager
def locked(database: Database) -> Iterator[None]:
    """Nobody else writes meanwhile."""
    with closing(sqlite3.connect(database.path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.rollback()


def _execute(database: Database, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(database.path)) as connection:
        connection.execute(statement, values)
        connection.commit()


def _count(database: Database) -> int:
    return database.run_blocking(lambda c: c.execute("SELECT count(*) FROM step").fetchone()[0])


async def test_a_step_is_paid_once(steps: Steps, database: Database) -> None:
    bill = Bill({"text": "x"})
    assert [await steps.run("job", "1", bill) for _ in range(3)] == [{"text": "x"}] * 3
    database.close()
    assert await Steps(ledger_state(database)).run("job", "1", bill) == {"text": "x"}
    assert bill.paid == 1
    assert await steps.find("job", "1") == {"text": "x"}


@pytest.mark.parametrize("reply", [None, False, 0, "", [], {}])
async def test_an_empty_reply_is_a_reply(steps: Steps, reply: Any) -> None:
    bill = Bill(reply)
    assert [await steps.run("job", "1", bill) for _ in range(2)] == [reply] * 2
    assert bill.paid == 1


async def test_scopes_keys_and_versions_are_told_apart(steps: Steps) -> None:
    places = [("a", "b", ""), ("a", "b", "2"), ("a", "c", ""), ("b", "a", ""), ("a\nb", "", "")]
    for number, (scope, key, version) in enumerate(places):
        assert await steps.find(scope, key, version) is None
        assert await steps.run(scope, key, Bill(number), version=version) == number
    assert [await steps.find(*place) for place in places] == [0, 1, 2, 3, 4]


@settings(max_examples=20)
@given(reply=json_values)
def test_any_json_value_comes_back(reply: Any) -> None:
    async def round_trip(folder: str) -> None:
        with closing(open_ledger(Path(folder) / "jobs.db")) as database:
            assert await Steps(ledger_state(database)).run("job", "1", Bill(reply)) == reply
            assert await Steps(ledger_state(database)).find("job", "1") == reply

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(round_trip(folder))


async def test_a_first_run_and_a_resumed_one_see_the_same(steps: Steps) -> None:
    first = await steps.run("job", "1", Bill({"pair": (1, 2), 3: "three"}))
    assert first == await steps.find("job", "1") == {"pair": [1, 2], "3": "three"}


async def test_the_first_committed_reply_wins(steps: Steps, database: Database) -> None:
    with closing(open_ledger(database.path)) as elsewhere:
        replies = await asyncio.gather(
            *(
                Steps(ledger_state(where)).run("job", "1", Bill(number))
                for number, where in enumerate([database, elsewhere] * 3)
            )
        )
    assert len(set(replies)) == 1
    assert await steps.commit("job", "1", "late") == replies[0]


async def test_work_that_fails_commits_nothing(steps: Steps) -> None:
    async def fail() -> None:
        raise LookupError("no reply")

    with pytest.raises(LookupError, match="no reply"):
        await steps.run("job", "1", fail)
    assert await steps.run("job", "1", Bill()) == "reply"


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE step SET reply = CAST('\"other\"' AS BLOB)",
        "UPDATE step SET reply = 'text'",
        "UPDATE step SET reply = CAST(x'ff22' AS TEXT)",
        "UPDATE step SET reply = 7, checksum = 7",
        "UPDATE step SET checksum = CAST(x'ff' AS TEXT)",
        "UPDATE step SET checksum = zeroblob(32)",
        "UPDATE step SET version = '2' WHERE version = ''",
    ],
)
async def test_a_damaged_reply_is_absent_and_paid_again(
    steps: Steps, database: Database, damage: str
) -> None:
    await steps.commit("job", "1", "reply")
    _execute(database, damage)
    assert await steps.find("job", "1") is None
    assert await steps.find("job", "1", "2") is None
    bill = Bill("again")
    assert [await steps.run("job", "1", bill) for _ in "12"] == ["again"] * 2
    assert bill.paid == 1


async def test_a_damaged_reply_does_not_win(steps: Steps, database: Database) -> None:
    await steps.commit("job", "1", "reply")
    _execute(database, "UPDATE step SET reply = x'22'")
    assert await steps.commit("job", "1", "right") == "right"


async def test_who_was_taken_over_keeps_the_reply_and_is_told(
    steps: Steps, database: Database
) -> None:
    leases = LedgerLeases(ledger_state(database, lease_s=LEASE_S))
    later = LedgerLeases(
        ledger_state(database, lease_s=LEASE_S, clock=lambda: time.time() + LEASE_S + 1)
    )
    lease = await leases.acquire("job")
    assert await steps.run("job", "0", Bill("fine"), lease=lease) == "fine"
    taken = asyncio.Event()

    async def slow() -> str:
        assert await later.acquire("job")
        taken.set()
        return "paid"

    bill = Bill("paid")
    for key, work, kept in (("1", slow, "paid"), ("2", bill, None)):
        with pytest.raises(VrError) as caught:
            await steps.run("job", key, work, lease=lease)
        assert caught.value.category == "LEASE_LOST"
        assert await steps.find("job", key) == kept
    assert bill.paid == 0
    await steps.commit("job", "3", "of the new owner")
    with pytest.raises(VrError):
        await steps.commit("job", "3", "late", lease=lease)
    assert await steps.find("job", "3") == "of the new owner"
    await leases.aclose()
    await later.aclose()


async def test_without_the_lease_nothing_new_is_paid(steps: Steps, database: Database) -> None:
    leases = LedgerLeases(ledger_state(database, lease_s=LEASE_S))
    lease = await leases.acquire("job")
    await steps.commit("job", "1", "old", lease=lease)
    await leases.release(lease)
    bill = Bill()
    assert await steps.run("job", "1", bill, lease=lease) == "old"
    with pytest.raises(VrError) as caught:
        await steps.run("job", "2", bill, lease=lease)
    assert caught.value.category == "LEASE_LOST"
    assert bill.paid == 0
    await leases.aclose()


async def test_a_cancelled_call_ends_its_work(steps: Steps, database: Database) -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    running = asyncio.create_task(steps.run("job", "1", hang))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert ended.is_set()
    assert _count(database) == 0


async def test_a_reply_that_arrives_with_the_cancellation_is_kept(steps: Steps) -> None:
    started, reply = asyncio.Event(), asyncio.get_running_loop().create_future()

    async def work() -> str:
        started.set()
        return await reply

    running = asyncio.create_task(steps.run("job", "1", work))
    await started.wait()
    reply.set_result("paid")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await steps.find("job", "1") == "paid"


@pytest.mark.parametrize("times", [1, 20])
async def test_a_call_cancelled_while_it_commits_keeps_the_reply(
    steps: Steps, database: Database, times: int
) -> None:
    paid = asyncio.Event()

    async def work() -> str:
        lock.__enter__()
        paid.set()
        return "paid"

    lock = locked(database)
    running = asyncio.create_task(steps.run("job", "1", work))
    await paid.wait()
    for _ in range(times):
        await asyncio.sleep(0)
        running.cancel()
    assert not running.done()
    lock.__exit__(None, None, None)
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await steps.find("job", "1") == "paid"


async def test_a_time_limit_around_a_step_still_works(steps: Steps) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await steps.run("job", "1", asyncio.Event().wait)


async def test_forgetting_and_pruning(steps: Steps, database: Database) -> None:
    for scope in ("a", "b", "job/1"):
        for key in "12":
            await steps.commit(scope, key, key)
    await steps.commit("b", "1", "newer", version="2")
    await steps.table.drop("b", ["1", "none"], "2")
    await steps.table.forget("a")
    assert [await steps.find(scope, "1") for scope in ("a", "b")] == [None, "1"]
    assert await steps.table.prune(60) == 0
    _execute(
        database,
        "INSERT INTO job (id, principal, tool, workspace, version, created_at, updated_at,"
        " arguments) VALUES ('1', 'p', 't', 'w', '', 0, 0, '{}')",
    )
    _execute(database, "UPDATE step SET committed_at = committed_at - 61 WHERE key = '1'")
    assert await steps.table.prune(60) == 1
    assert [await steps.find("b", key) for key in "12"] == [None, "2"]
    assert await steps.find("job/1", "1") == "1"


async def test_a_ledger_that_cannot_be_used_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    steps, bill = Steps(ledger_state(open_ledger(tmp_path / "file" / "jobs.db"))), Bill()
    asks: list[Callable[[], Awaitable[Any]]] = [
        lambda: steps.find("job", "1"),
        lambda: steps.commit("job", "1", 1),
        lambda: steps.run("job", "1", bill),
        lambda: steps.table.forget("job"),
        lambda: steps.table.prune(0),
    ]
    for ask in asks:
        with pytest.raises(VrError) as caught:
            await ask()
        assert caught.value.code == "UNAVAILABLE"
    assert bill.paid == 0


names = st.sampled_from(["a", "b"])
processes = st.sampled_from([0, 1])
versions = st.sampled_from(["", "2"])


class LedgerMachine(RuleBasedStateMachine):
    """Two processes on one ledger, compared with dictionaries."""

    def __init__(self) -> None:
        super().__init__()
        self.now = time.time()
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "jobs.db"
        self.databases = [open_ledger(path), open_ledger(path)]
        clock = partial(getattr, self, "now")
        self.leases = [
            LedgerLeases(ledger_state(database, lease_s=LEASE_S, clock=clock, steady=clock))
            for database in self.databases
        ]
        self.steps = [Steps(ledger_state(database)) for database in self.databases]
        self.runner = asyncio.Runner()
        self.replies: dict[tuple[str, str, str], int] = {}
        self.rows: dict[str, tuple[Lease, float]] = {}
        self.known: list[tuple[int, Lease]] = []
        self.highest = 0
        self.number = 0

    def teardown(self) -> None:
        for leases in self.leases:
            self.runner.run(leases.aclose())
        self.runner.close()
        for database in self.databases:
            database.close()
        self.folder.cleanup()

    def is_live(self, name: str) -> bool:
        return name in self.rows and self.now < self.rows[name][1]

    @rule(process=processes, name=names)
    def acquire(self, process: int, name: str) -> None:
        lease = self.runner.run(self.leases[process].acquire(name))
        assert (lease is None) == self.is_live(name)
        if lease is not None:
            assert lease.token > self.highest
            self.highest = lease.token
            self.rows[name] = (lease, self.now + LEASE_S)
            self.known.append((process, lease))

    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        if self.known:
            process, lease = data.draw(st.sampled_from(self.known))
            self.runner.run(self.leases[process].release(lease))
            if self.rows.get(lease.name, (None, 0))[0] is lease:
                del self.rows[lease.name]
            assert lease.lost

    @rule(seconds=st.sampled_from([1.0, LEASE_S / 2, LEASE_S]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(process=processes, scope=names, key=names, version=versions)
    def run(self, process: int, scope: str, key: str, version: str) -> None:
        self.number += 1
        bill, place = Bill(self.number), (scope, key, version)
        reply = self.runner.run(self.steps[process].run(scope, key, bill, version=version))
        assert bill.paid == int(place not in self.replies)
        assert reply == self.replies.setdefault(place, self.number)

    @rule(key=names, data=st.data())
    def commit_as_owner(self, key: str, data: st.DataObject) -> None:
        if not self.known:
            return
        process, lease = data.draw(st.sampled_from(self.known))
        self.number += 1
        kept = self.replies.setdefault((lease.name, key, ""), self.number)
        commit = self.steps[process].commit(lease.name, key, self.number, lease=lease)
        if self.rows.get(lease.name, (None, 0))[0] is lease:
            assert self.runner.run(commit) == kept
        else:
            with pytest.raises(VrError, match="no longer owns"):
                self.runner.run(commit)

    @rule(process=processes, scope=names)
    def forget(self, process: int, scope: str) -> None:
        self.runner.run(self.steps[process].table.forget(scope))
        self.replies = {at: reply for at, reply in self.replies.items() if at[0] != scope}

    @invariant()
    def all_agree(self) -> None:
        for name in "ab":
            assert self.runner.run(is_owned(self.leases[0], name)) == self.is_live(name)
            for key in "ab":
                found = self.runner.run(self.steps[1].find(name, key))
                assert found == self.replies.get((name, key, ""))

    @invariant()
    def owners_know(self) -> None:
        for _, lease in self.known:
            holds = self.rows.get(lease.name, (None, 0))[0] is lease
            assert lease.lost == (not (holds and self.is_live(lease.name)))


LedgerMachine.TestCase.settings = settings(max_examples=12, stateful_step_count=20)
TestLedger = LedgerMachine.TestCase
