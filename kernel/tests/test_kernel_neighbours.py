"""Processes that share files: one that stands still holds nobody else up for long."""

from __future__ import annotations

import asyncio
import math
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from vr_kernel import VrError
from vr_kernel.storage.database import Database
from vr_kernel.storage.patience import WAIT_S, Patience
from waiting import until

SCHEMA = "CREATE TABLE IF NOT EXISTS item (name TEXT PRIMARY KEY NOT NULL);"


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._looks = 0

    def __call__(self) -> float:
        self._looks += 1
        return self.now

    async def tried(self) -> None:
        """Return when what waits for a lock has tried again, and looked at this clock."""
        enough = self._looks + 3
        await until(lambda: self._looks > enough)


@contextmanager
def held(path: Path, how: str = "IMMEDIATE") -> Iterator[None]:
    """A neighbour stands still in the middle of writing."""
    with closing(sqlite3.connect(path, isolation_level=None)) as neighbour:
        neighbour.execute(f"BEGIN {how}")
        yield
        neighbour.rollback()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def files(tmp_path: Path, clock: Clock) -> Iterator[list[Database]]:
    """Files of one program, which wait together."""
    patience = Patience(clock=clock, step_s=math.inf)
    with ExitStack() as stack:
        made = [Database(tmp_path / f"{name}.db", SCHEMA, patience=patience) for name in "abc"]
        for each in made:
            stack.callback(each.close)
            each.run_blocking(_names)
        yield made


def _names(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM item ORDER BY name")]


def _add(name: str):
    return lambda connection: connection.execute("INSERT INTO item VALUES (?)", (name,)).rowcount


def _asked(file: Database, name: str) -> asyncio.Future[int]:
    return asyncio.ensure_future(file.run(_add(name)))


async def _wait_in_vain(clock: Clock, file: Database) -> None:
    writing = _asked(file, "early")
    for _ in range(2):  # in steps: nobody looked meanwhile is another case
        await clock.tried()
        clock.now += WAIT_S * 0.6
    with pytest.raises(VrError, match="Another process"):
        await writing


async def test_who_reads_does_not_wait_behind_a_writer_that_waits(files: list[Database]) -> None:
    file, *_ = files
    with held(file.path):
        writing = _asked(file, "a")
        await asyncio.sleep(0)
        for _ in range(5):
            assert await file.read(_names) == []
        assert not writing.done()
    await writing
    assert await file.read(_names) == ["a"]


async def test_who_waits_too_long_is_told_who_is_at_fault(
    files: list[Database], clock: Clock
) -> None:
    file, *_ = files
    with held(file.path):
        writing = [_asked(file, name) for name in "ab"]
        await clock.tried()
        clock.now += WAIT_S - 1
        await clock.tried()
        assert not any(one.done() for one in writing)
        clock.now += 2
        for error in await asyncio.gather(*writing, return_exceptions=True):
            assert (error.code, error.category) == ("UNAVAILABLE", "STATE_UNAVAILABLE")
            assert error.retryable
            assert error.message == "Another process holds a.db."
            assert "resume or end it" in error.hint
    assert await file.run(_names) == []
    await file.run(_add("c"))
    assert await file.read(_names) == ["c"]


async def test_time_in_the_queue_counts(files: list[Database], clock: Clock) -> None:
    file, *_ = files
    with held(file.path):
        early = _asked(file, "early")
        await clock.tried()
        clock.now += WAIT_S - 1
        late = _asked(file, "late")
        await clock.tried()
        clock.now += 2
        for one in (early, late):  # the file has been locked for so long, whoever asks
            with pytest.raises(VrError, match="Another process"):
                await one


async def test_who_waited_in_vain_for_one_file_does_not_wait_as_long_for_the_next(
    files: list[Database], clock: Clock
) -> None:
    first, second, third = files
    with held(first.path), held(second.path):
        await _wait_in_vain(clock, first)
        next_one = _asked(second, "a")
        await clock.tried()
        clock.now += 0.3
        with pytest.raises(VrError, match=r"holds b\.db"):
            await next_one
        assert await third.run(_add("a")) == 1


async def test_a_neighbour_that_went_on_is_forgiven(files: list[Database], clock: Clock) -> None:
    first, second, _ = files
    with held(first.path):
        await _wait_in_vain(clock, first)
    assert await first.run(_add("later")) == 1
    with held(second.path):
        writing = _asked(second, "a")
        await clock.tried()
        clock.now += WAIT_S - 1
        await clock.tried()
        assert not writing.done()
    assert await writing == 1


async def test_a_file_nobody_looked_at_for_long_says_nothing_of_others(
    files: list[Database], clock: Clock
) -> None:
    first, second, _ = files
    with held(first.path):
        await _wait_in_vain(clock, first)
    clock.now += 2 * WAIT_S
    with held(second.path):
        writing = _asked(second, "a")
        await clock.tried()
        clock.now += WAIT_S - 1
        await clock.tried()
        assert not writing.done()
    assert await writing == 1


async def test_who_will_not_wait_long_need_not(files: list[Database], clock: Clock) -> None:
    file, *_ = files
    with held(file.path):
        patient = _asked(file, "a")
        hasty = asyncio.ensure_future(file.run(_add("b"), wait_s=1.0))
        await clock.tried()
        clock.now += 2
        with pytest.raises(VrError, match="Another process"):
            await hasty
        assert not patient.done()
    await patient
    assert await file.read(_names) == ["a"]


async def test_a_file_that_is_locked_for_readers_too(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as plain:  # no log yet: whoever writes excludes all
        plain.executescript(SCHEMA)
    with closing(Database(path, SCHEMA, patience=Patience(clock=clock, step_s=math.inf))) as file:
        with held(path, "EXCLUSIVE"):
            reading = asyncio.ensure_future(file.read(_names))
            await clock.tried()
            assert not reading.done()
            clock.now += 3
            with pytest.raises(VrError, match="Another process"):
                await reading
        assert await file.read(_names) == []


async def test_what_is_cancelled_while_it_waits_is_not_done(
    files: list[Database], clock: Clock
) -> None:
    file, *_ = files
    with held(file.path):
        gone, other = _asked(file, "a"), _asked(file, "b")
        await clock.tried()
        gone.cancel()
        await clock.tried()
    await other
    assert await file.read(_names) == ["b"]


async def test_closing_ends_with_the_wait(files: list[Database], clock: Clock) -> None:
    file, *_ = files
    with held(file.path):
        writing = _asked(file, "a")
        await clock.tried()
        closing_it = asyncio.create_task(asyncio.to_thread(file.close))
        await clock.tried()
        clock.now += WAIT_S + 1
        await closing_it
        with pytest.raises(VrError, match="Another process"):
            await writing
    assert await file.run(_add("b")) == 1


async def test_time_in_which_this_process_was_suspended_is_no_waiting(
    tmp_path: Path, clock: Clock
) -> None:
    with closing(Database(tmp_path / "a.db", SCHEMA, patience=Patience(clock=clock))) as file:
        await file.run(_names)
        with held(file.path):
            writing = _asked(file, "a")
            await clock.tried()
            clock.now += 100 * WAIT_S
            await clock.tried()
            assert not writing.done()
        assert await writing == 1
