"""Waiting for a lease: owned for the length of a block, or gone on without for a good reason."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from lease_probe import is_owned
from ledger_state import ledger_state
from vr_kernel import VrError
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.state.sqlite.ledger import open_ledger
from waiting import until

LEASE_S = 300.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def here(path: Path) -> Iterator[LedgerLeases]:
    with closing(open_ledger(path)) as ledger:
        yield LedgerLeases(ledger_state(ledger, lease_s=LEASE_S))


@pytest.fixture
def there(path: Path) -> Iterator[LedgerLeases]:
    with closing(open_ledger(path)) as ledger:
        yield LedgerLeases(ledger_state(ledger, lease_s=LEASE_S))


@pytest.fixture
def broken(tmp_path: Path) -> LedgerLeases:
    (tmp_path / "file").write_text("in the way")
    return LedgerLeases(ledger_state(open_ledger(tmp_path / "file" / "jobs.db"), lease_s=LEASE_S))


async def test_a_name_is_owned_for_the_length_of_a_block(
    here: LedgerLeases, there: LedgerLeases
) -> None:
    async with here.held("a") as lease:
        assert lease is not None
        assert await is_owned(there, "a")
    assert not await is_owned(there, "a")


async def test_a_block_that_fails_releases(here: LedgerLeases, there: LedgerLeases) -> None:
    with pytest.raises(ValueError, match="block"):
        async with here.held("a"):
            raise ValueError("block")
    assert not await is_owned(there, "a")


async def test_blocks_of_one_name_come_in_turn(here: LedgerLeases, there: LedgerLeases) -> None:
    inside = 0

    async def work(leases: LedgerLeases) -> None:
        nonlocal inside
        async with leases.held("a"):
            inside += 1
            assert inside == 1
            await asyncio.sleep(0.02)
            inside -= 1

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        for leases in (here, there, here):
            group.create_task(work(leases))


async def test_whoever_waits_says_so_once(here: LedgerLeases, there: LedgerLeases) -> None:
    told: list[str] = []
    tries: list[str] = []

    async def try_again() -> bool:
        tries.append("try")
        return False

    owned = await there.acquire("a")
    assert owned is not None
    waiter = asyncio.create_task(
        here.wait_for("a", until=try_again, waiting=lambda: told.append("waiting"))
    )
    await until(lambda: len(tries) > 2)
    await there.release(owned)
    assert await waiter is not None
    assert told == ["waiting"]


async def test_waiting_ends_when_somebody_else_has_done_the_work(
    here: LedgerLeases, there: LedgerLeases
) -> None:
    results: list[str] = []

    async def is_done() -> bool:
        return bool(results)

    assert await there.acquire("a") is not None
    waiter = asyncio.create_task(here.wait_for("a", until=is_done))
    await asyncio.sleep(0.05)
    assert not waiter.done()
    results.append("theirs")
    assert await waiter is None


async def test_a_free_name_is_not_kept_when_the_work_is_done(
    here: LedgerLeases, there: LedgerLeases
) -> None:
    async def is_done() -> bool:
        return True

    async with here.held("a", until=is_done) as lease:
        assert lease is None
        assert not await is_owned(there, "a")


async def test_a_look_that_fails_releases(here: LedgerLeases, there: LedgerLeases) -> None:
    async def fail() -> bool:
        raise ValueError("look")

    with pytest.raises(ValueError, match="look"):
        await here.wait_for("a", until=fail)
    assert not await is_owned(there, "a")


async def test_patience_ends(here: LedgerLeases, there: LedgerLeases) -> None:
    assert await there.acquire("a") is not None
    async with here.held("a", patience=0.15) as lease:
        assert lease is None
    assert await here.wait_for("a", patience=0) is None
    assert await here.wait_for("b", patience=0) is not None


async def test_a_ledger_that_fails_is_raised_or_done_without(broken: LedgerLeases) -> None:
    with pytest.raises(VrError) as caught:
        await broken.wait_for("a")
    assert caught.value.code == "UNAVAILABLE"
    async with broken.held("a", without=lambda error: not error.retryable) as lease:
        assert lease is None


async def test_a_cancelled_wait_owns_nothing(here: LedgerLeases, there: LedgerLeases) -> None:
    owned = await there.acquire("a")
    assert owned is not None
    waiter = asyncio.create_task(here.wait_for("a"))
    await asyncio.sleep(0.02)
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    await there.release(owned)
    assert not await is_owned(there, "a")
