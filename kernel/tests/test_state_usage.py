"""The table of requests to models, in a SQLite file and in memory."""

from __future__ import annotations

from datetime import UTC, datetime, timezone

import pytest
from vr_kernel import VrError
from vr_kernel.models.usage import UsageLedger
from vr_kernel.state import Attempt
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


def _fail(error: VrError) -> None:
    raise AssertionError(error)
