"""Findings of a benchmark: rows, with or without a bar, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Value = float | int | str
COLUMNS = ("what", "ours", "floor", "peer", "ratio", "target", "result")


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. `ratio` is ours to the floor; `passed` is None where there is no bar."""

    what: str
    ours: Value
    floor: Value = ""
    peer: Value = ""
    ratio: float | None = None
    target: str = ""
    passed: bool | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as text, one cell a column."""
        verdict = {None: "", True: "pass", False: "FAIL"}[self.passed]
        ratio = "" if self.ratio is None else f"{self.ratio:.2f} x"
        values = (shown(self.ours), shown(self.floor), shown(self.peer))
        return (self.what, *values, ratio, self.target, verdict)


def bar(
    what: str,
    ours: Value,
    *,
    sign: Literal["<=", ">="],
    limit: float,
    by: float | None = None,
    unit: str = "",
    floor: Value = "",
    peer: Value = "",
    ratio: float | None = None,
) -> Row:
    """A row that passes or fails.

    Args:
        what: what is measured, with its unit.
        ours: our figure.
        sign: the side of the limit that is good.
        limit: what to reach.
        by: the number that is held against the limit; the ratio, or ours, when left out.
        unit: said behind the limit.
        floor: the floor's figure.
        peer: the peer's figure.
        ratio: ours to the floor.
    """
    value = by if by is not None else ratio if ratio is not None else float(ours)
    passed = value <= limit if sign == "<=" else value >= limit
    target = f"{sign} {limit:g} {unit}".strip()
    return Row(what, ours, floor, peer, ratio, target, passed)


def shown(value: Value) -> str:
    """A number with three significant digits; text as it is."""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return str(value)


def table(rows: Sequence[Row]) -> str:
    """The rows below a head, in columns."""
    lines = [COLUMNS, *(row.cells for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    ruled = [lines[0], tuple("-" * width for width in widths), *lines[1:]]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in ruled
    )


def as_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows as JSON values."""
    return [asdict(row) for row in rows]
