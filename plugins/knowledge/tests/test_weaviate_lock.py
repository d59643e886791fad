"""Delivery to Weaviate: one process at a time, and the journal's name of an earlier version."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from vr_kernel import Services, VrError
from vr_plugin_knowledge.weaviate_store.delivery_lock import SHARE, DeliveryLock
from vr_testing import open_kernel


def keep_name(folder: Path, name: str) -> None:
    """Write the name of a journal as the version before kept it."""
    (folder / "state").mkdir(exist_ok=True)
    with closing(sqlite3.connect(folder / "state" / "weaviate.db")) as connection, connection:
        connection.execute("CREATE TABLE journal (one INTEGER PRIMARY KEY, name TEXT NOT NULL)")
        connection.execute("INSERT INTO journal VALUES (1, ?)", (name,))


async def test_a_journal_has_one_name(tmp_path: Path) -> None:
    async with open_kernel({}, folder=tmp_path) as one, open_kernel({}, folder=tmp_path) as other:
        locks = [DeliveryLock(kernel.services) for kernel in (one, other)]
        names = await asyncio.gather(*(lock.name() for lock in locks))
        assert len(set(names)) == 1
    async with open_kernel({}, folder=tmp_path) as later:
        assert await DeliveryLock(later.services).name() == names[0]


async def test_the_name_of_the_version_before_stays(tmp_path: Path) -> None:
    name = str(uuid4())
    keep_name(tmp_path, name)
    for _ in range(2):
        async with open_kernel({}, folder=tmp_path) as kernel:
            assert await DeliveryLock(kernel.services).name() == name
    assert (tmp_path / "state" / "weaviate.db.adopted").exists()


async def test_the_damaged_name_of_a_journal_is_no_other_name(tmp_path: Path) -> None:
    keep_name(tmp_path, "glacier")
    async with open_kernel({}, folder=tmp_path) as kernel:
        for _ in range(2):
            with pytest.raises(VrError) as caught:
                await DeliveryLock(kernel.services).name()
            assert caught.value.category == "STATE_DAMAGED"
            assert "glacier" not in f"{caught.value.message} {caught.value.hint}"
    assert (tmp_path / "state" / "weaviate.db").exists()


async def test_one_process_delivers_at_a_time(tmp_path: Path) -> None:
    """A request may take less than half of the time after which another process takes over."""
    inside: list[str] = []

    async def deliver(name: str, services: Services) -> None:
        lock = DeliveryLock(services)
        for _ in range(5):
            async with lock.held():
                assert 0 < lock.request_s() < 20 / 2
                inside.append(name)
                await asyncio.sleep(0)
                assert inside == [name]
                inside.clear()

    async with open_kernel({}, folder=tmp_path) as one, open_kernel({}, folder=tmp_path) as other:
        await asyncio.gather(deliver("one", one.services), deliver("other", other.services))
    assert SHARE < 0.5


async def send_requests(lock: DeliveryLock) -> None:
    """Ask for request after request, until that is refused."""
    async with asyncio.timeout(10):
        while True:
            lock.request_s()
            await asyncio.sleep(0.01)


async def test_who_lost_the_lock_sends_no_request(tmp_path: Path) -> None:
    settings = {"kernel.lease_s": 2}
    async with open_kernel({}, folder=tmp_path, settings=settings) as kernel:
        lock = DeliveryLock(kernel.services)
        async with lock.held():
            lock.request_s()
            with closing(sqlite3.connect(tmp_path / "state" / "jobs.db")) as connection, connection:
                connection.execute("DELETE FROM lease")
            with pytest.raises(VrError) as caught:
                await send_requests(lock)
        assert caught.value.retryable
        async with lock.held():
            lock.request_s()
