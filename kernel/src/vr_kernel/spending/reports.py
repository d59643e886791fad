"""Costs as results show them: sums over the usage ledger, and the estimate of a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from pydantic import BaseModel

from vr_kernel.generation.requests import COST_DIGITS
from vr_kernel.state.usage import Grouping, UsageRow

__all__ = [
    "Basis",
    "Estimate",
    "Grouping",
    "UsageReport",
    "UsageRow",
    "dollars",
    "make_report",
    "money",
]

Basis = Literal["exact", "like calls", "unknown", "cached"]
"""The ground of an estimate: models that cost nothing; earlier calls of the tool; none of these
yet, or a price that is not known; or the result is there already, or needs no model."""


class UsageReport(BaseModel):
    """The usage ledger, summed; `left_out` rows are only in the total."""

    by: Grouping
    rows: list[UsageRow]
    total: UsageRow
    left_out: int = 0


class Estimate(BaseModel):
    """The cost of a call that was not made, in US dollars; nothing was asked of a model.

    `low_usd` to `high_usd` is the range in which most earlier calls would be, `most_usd` what the
    requests that are known can cost at most. Amounts that are not known are null.
    """

    tool: str
    basis: Basis
    cost_usd: float | None = None
    low_usd: float | None = None
    high_usd: float | None = None
    most_usd: float | None = None
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    models: list[str] = []
    earlier_calls: int = 0
    notes: list[str] = []

    @classmethod
    def answer_schema(cls) -> dict[str, Any]:
        """The JSON schema of an estimate as an answer of a tool, without its details."""
        properties = {
            "basis": {"enum": list(get_args(Basis))},
            **{name: {"type": ["number", "null"]} for name in ("cost_usd", "low_usd", "high_usd")},
        }
        return {"type": "object", "properties": properties, "required": list(properties)}


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
