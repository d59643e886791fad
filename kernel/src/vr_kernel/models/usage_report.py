"""Sums over the usage ledger, and its newest rows."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel

from vr_kernel.generation import Usage
from vr_kernel.storage.damaged_rows import MOST_TOLD
from vr_kernel.storage.principal_marks import MARK
from vr_kernel.storage.sound_rows import is_sound

Grouping = Literal["tool", "day", "model", "plugin"]
"""The groups of sums: `day` is a UTC date, `model` is `provider/model` that answered."""
UNHEARD_S = 3600.0
"""Age in seconds from which an attempt without a recorded end counts as `maybe_paid`."""
TOKENS = ("input_tokens", "output_tokens", "thinking_tokens", "cached_tokens")
_SUMS = (*TOKENS, "media_seconds")
_MODEL = "provider || '/' || coalesce(answered_by, model)"
_GROUPS: dict[Grouping, str] = {
    "tool": "tool",
    "day": "date(at, 'unixepoch')",
    "model": _MODEL,
    "plugin": "plugin",
}
_STATE = "CASE WHEN state = 'sent' AND at < :heard THEN 'maybe_paid' ELSE state END"
_COUNTED = " AND ".join(f"typeof({name}) = 'integer'" for name in TOKENS)
_SOUND = (
    f"({_COUNTED} AND typeof(media_seconds) = 'real' AND typeof(at) = 'real'"
    " AND state IN ('sent', 'paid', 'free', 'maybe_paid'))"
)
_NEWEST_TYPES = (float, str, str, str, str, int, str, str, int, int, int, int)
_MOST_TOKENS = "sum(input_tokens) + sum(output_tokens) + sum(thinking_tokens) DESC, 1"


class UsageRow(BaseModel):
    """Sums over attempts; `calls` were paid; `maybe_paid` may have been, without a reply."""

    key: str
    calls: int = 0
    attempts: int = 0
    maybe_paid: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    thinking_tokens: int = 0
    cached_tokens: int = 0
    media_seconds: float = 0.0


class UsageReport(BaseModel):
    """The usage ledger, summed; `left_out` rows are only in the total."""

    by: Grouping
    rows: list[UsageRow]
    total: UsageRow
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class RecordedAttempt:
    """An attempt as recorded in the ledger.

    `state` is `sent`, `paid`, `free` (it cost nothing) or `maybe_paid`; `model` is
    `provider/model` of the one that answered, else of the one asked; `code` says why it failed.
    """

    at: datetime
    call_id: str
    tool: str
    model: str
    purpose: str
    number: int
    state: str
    code: str
    usage: Usage


def read_sums(
    connection: sqlite3.Connection,
    by: Grouping,
    since: datetime | None,
    until: datetime | None,
    mark: str | None = None,
    leave_out: Callable[[int], None] = lambda _id: None,
) -> list[UsageRow]:
    """One row per group: days newest first, other groups with most tokens first.

    `leave_out` is called with the ids of damaged rows, which are not counted.
    """
    for (number,) in connection.execute(
        f"SELECT id FROM attempt WHERE {_SOUND} IS NOT TRUE LIMIT {MOST_TOLD}"  # noqa: S608 - constant text
    ):
        leave_out(number)
    sums = ", ".join(f"sum({name})" for name in _SUMS)
    order = "1 DESC" if by == "day" else _MOST_TOKENS
    rows = connection.execute(
        f"SELECT {_GROUPS[by]}, sum(state = 'paid'), count(*), sum({_STATE} = 'maybe_paid'),"  # noqa: S608 - constant text
        f" {sums}, min(id)"
        f" FROM attempt WHERE {_SOUND} AND at >= :since AND at < :until"
        f" AND coalesce(:mark, {MARK}) = {MARK} GROUP BY 1 ORDER BY {order}",
        {
            "heard": time.time() - UNHEARD_S,
            "since": _seconds(since, float("-inf")),
            "until": _seconds(until, float("inf")),
            "mark": mark,
        },
    )
    found = []
    for *row, first in rows:
        if is_sound(row[:1], (str,)):
            found.append(UsageRow(**dict(zip(UsageRow.model_fields, row, strict=True))))
        else:
            leave_out(first)
    return found


def read_newest(connection: sqlite3.Connection, limit: int) -> list[RecordedAttempt]:
    """The newest attempts, newest first; damaged ones are left out."""
    rows = connection.execute(
        f"SELECT at, call_id, tool, {_MODEL}, purpose, number, {_STATE}, coalesce(code, ''),"  # noqa: S608 - constant text
        f" {', '.join(TOKENS)} FROM attempt ORDER BY id DESC LIMIT :limit",
        {"heard": time.time() - UNHEARD_S, "limit": limit},
    )
    return [_recorded(row) for row in rows if is_sound(row, _NEWEST_TYPES)]


def make_report(by: Grouping, rows: Sequence[UsageRow], limit: int | None = None) -> UsageReport:
    """The first `limit` rows, and the total of all."""
    names = [name for name in UsageRow.model_fields if name != "key"]
    total = UsageRow(key="total", **{n: sum(getattr(row, n) for row in rows) for n in names})
    shown = list(rows[:limit])
    return UsageReport(by=by, rows=shown, total=total, left_out=len(rows) - len(shown))


def _seconds(moment: datetime | None, otherwise: float) -> float:
    if moment is None:
        return otherwise
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _recorded(row: Sequence[object]) -> RecordedAttempt:
    at, call_id, tool, model, purpose, number, state, code, *tokens = row
    return RecordedAttempt(
        at=datetime.fromtimestamp(float(str(at)), UTC),
        call_id=str(call_id),
        tool=str(tool),
        model=str(model),
        purpose=str(purpose),
        number=int(str(number)),
        state=str(state),
        code=str(code),
        usage=Usage(calls=int(state == "paid"), **dict(zip(TOKENS, tokens, strict=True))),
    )
