"""The table of requests to models, in a SQLite file and in memory."""

from __future__ import annotations

import asyncio
from contextlib import closing
from datetime import UTC, datetime, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from vr_kernel import Log, VrError
from vr_kernel.calls.result_cache import ResultCache
from vr_kernel.models.provided import ProvidedModel
from vr_kernel.models.recorder import UsageRecorder
from vr_kernel.models.usage import Meter, UsageLedger
from vr_kernel.spending.paid_requests import PaidRequest
from vr_kernel.state import Attempt
from vr_kernel.state.sqlite.cache import SqliteCache
from vr_kernel.storage.room import Room, Rooms
from vr_testing.memory_state.journal import MemoryJournal
from vr_testing.memory_state.usage import MemoryUsage


@pytest.mark.parametrize("zone", [UTC, None])
async def test_a_report_takes_moments_of_utc(zone: timezone | None) -> None:
    """Those without a time zone, too."""
    midnight = datetime(2026, 3, 1, tzinfo=zone)
    table = MemoryUsage(lambda: datetime(2026, 3, 1, tzinfo=UTC).timestamp())
    ledger = UsageLedger(table, _fail)
    await ledger.begin(Attempt("call", "t_x", "t", "ann", "p", "m", "generate", 1))
    assert [row.key for row in await ledger.report("day", since=midnight)] == ["2026-03-01"]
    assert await ledger.report("day", until=midnight) == []


async def test_paid_answers_need_room_only_in_folders_of_this_machine(tmp_path: Path) -> None:
    """Elsewhere it is still checked that they can be kept."""
    asked: list[Path] = []
    rooms = Rooms(Log("error", "json"))

    def room_of(folder: Path) -> Room:
        asked.append(folder)
        return rooms.of(folder)

    ledger = UsageLedger(MemoryUsage(), _fail)
    journal, meter = MemoryJournal(), Meter("call", "t_x", "t", "ann")
    recorder = UsageRecorder(ledger, meter, asyncio.Semaphore(), journal, room_of=room_of)
    provider: Any = SimpleNamespace(name="p")
    request = PaidRequest(ProvidedModel(provider, "m"), "generate", lambda _allowed: None)
    assert await recorder.begin(request, 1)
    assert asked == []
    table = SqliteCache(tmp_path / "results.db")
    recorder.keep_in(ResultCache(table, ttl_days=1, warn=_fail))
    with closing(table):
        assert await recorder.begin(request, 2)
    assert asked == [tmp_path]
    blocked = SqliteCache(tmp_path / "results.db" / "results.db")
    recorder.keep_in(ResultCache(blocked, ttl_days=1, warn=_fail))
    with pytest.raises(VrError, match="cannot be used"):
        await recorder.begin(request, 3)
    assert [it.number for it in await ledger.recent(9)] == [2, 1]
    rooms.close()


def _fail(error: VrError) -> None:
    raise AssertionError(error)
