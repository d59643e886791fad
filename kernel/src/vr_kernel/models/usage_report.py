"""A report of the sums over the usage ledger."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from vr_kernel.generation.requests import COST_DIGITS
from vr_kernel.state.usage import Grouping, UsageRow

__all__ = ["Grouping", "UsageReport", "UsageRow", "dollars", "make_report", "money"]


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
    total.cost_usd = round(total.cost_usd, COST_DIGITS)
    shown = list(rows[:limit])
    return UsageReport(by=by, rows=shown, total=total, left_out=len(rows) - len(shown))


def money(row: UsageRow) -> str:
    """The cost of a row in words: `≥` stands before one without all of its calls."""
    if row.unpriced and not row.cost_usd:
        return "?"
    return f"{'≥ ' if row.unpriced else ''}{dollars(row.cost_usd)}"


def dollars(amount: float) -> str:
    """An amount of US dollars, with as many digits as tell something."""
    digits = 2 if amount == 0 or amount >= 1 else 4
    return f"${amount:,.{digits}f}"
