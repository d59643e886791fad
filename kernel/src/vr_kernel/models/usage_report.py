"""A report of the sums over the usage ledger."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from vr_kernel.state.usage import Grouping, UsageRow

__all__ = ["Grouping", "UsageReport", "UsageRow", "make_report"]


class UsageReport(BaseModel):
    """The usage ledger, summed; `left_out` rows are only in the total."""

    by: Grouping
    rows: list[UsageRow]
    total: UsageRow
    left_out: int = 0


def make_report(by: Grouping, rows: Sequence[UsageRow], limit: int | None = None) -> UsageReport:
    """The first `limit` rows, and the total of all."""
    names = [name for name in UsageRow.model_fields if name != "key"]
    total = UsageRow(key="total", **{n: sum(getattr(row, n) for row in rows) for n in names})
    shown = list(rows[:limit])
    return UsageReport(by=by, rows=shown, total=total, left_out=len(rows) - len(shown))
