"""Reads the ledger of model usage without a kernel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from vr_kernel.errors import VrError
from vr_kernel.models.usage import UsageLedger
from vr_kernel.spending.reports import UsageReport, make_report
from vr_kernel.state.sqlite.usage import SqliteUsage
from vr_kernel.state.usage import Grouping


def read_usage(
    state: Path, by: Grouping, since: datetime | None, tell: Callable[[VrError], None]
) -> tuple[UsageReport, list[str]]:
    """Sum the usage of models in a state folder, and return remarks on what is missing.

    Args:
        state: the state folder.
        by: groups the sums.
        since: leaves out earlier attempts; all are summed without it.
        tell: called with faults of the ledger's file.
    """
    ledger = UsageLedger(SqliteUsage(state / "usage.db", tell=tell), tell)
    try:
        report = make_report(by, asyncio.run(ledger.report(by, since=since)))
        return report, ledger.remarks()
    finally:
        ledger.close()
