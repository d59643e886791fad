"""The table of requests to models, in a SQLite file and in memory."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timezone
from pathlib import Path

import pytest
from vr_kernel import VrError
from vr_kernel.models.usage import UsageLedger
from vr_kernel.state import Attempt, UsageTable
from vr_kernel.state.sqlite.usage import SqliteUsage
from vr_testing import MemoryUsage, UsageContract


class TestMemoryUsage(UsageContract):
    """Attempts in memory."""

    @asynccontextmanager
    async def opened(self, clock: Callable[[], float]) -> AsyncIterator[UsageTable]:
        """Open an empty table."""
        yield MemoryUsage(clock)


class TestSqliteUsage(UsageContract):
    """Attempts in a file."""

    @asynccontextmanager
    async def opened(self, clock: Callable[[], float]) -> AsyncIterator[UsageTable]:
        """Open an empty table, of a program that the owner ann runs."""
        with (
            tempfile.TemporaryDirectory() as folder,
            closing(SqliteUsage(Path(folder) / "usage.db", "ann", clock=clock)) as table,
        ):
            yield table


@pytest.mark.parametrize("zone", [UTC, None])
async def test_a_report_takes_moments_of_utc(zone: timezone | None) -> None:
    """Those without a time zone, too."""
    midnight = datetime(2026, 3, 1, tzinfo=zone)
    table = MemoryUsage(lambda: datetime(2026, 3, 1, tzinfo=UTC).timestamp())
    ledger = UsageLedger(table, _fail)
    await ledger.begin(Attempt("call", "t_x", "t", "ann", "p", "m", "generate", 1))
    assert [row.key for row in await ledger.report("day", since=midnight)] == ["2026-03-01"]
    assert await ledger.report("day", until=midnight) == []


def _fail(error: VrError) -> None:
    raise AssertionError(error)
