"""Requests to language models and their cost, in a SQLite file."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from vr_kernel.errors import VrError
from vr_kernel.generation import Usage
from vr_kernel.generation.requests import COST_DIGITS
from vr_kernel.state.sqlite.table_file import TableFile
from vr_kernel.state.usage import (
    LEAST_USD,
    TOKENS,
    UNHEARD_S,
    Attempt,
    AttemptState,
    Grouping,
    Limit,
    LimitReachedError,
    RecordedAttempt,
    Spent,
    UsageRow,
)
from vr_kernel.storage.damaged_rows import MOST_TOLD
from vr_kernel.storage.patience import Patience
from vr_kernel.storage.principal_marks import MARK, mark_of, principal_of
from vr_kernel.storage.sound_rows import is_sound

_SCHEMA = """
CREATE TABLE IF NOT EXISTS attempt (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,
    call_id TEXT NOT NULL,
    job_id TEXT,
    tool TEXT NOT NULL,
    plugin TEXT NOT NULL,
    principal TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    answered_by TEXT,
    purpose TEXT NOT NULL,
    number INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'sent',
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    thinking_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    media_seconds REAL NOT NULL DEFAULT 0,
    price_table TEXT,
    usd REAL,
    code TEXT
);
CREATE TABLE IF NOT EXISTS foreseen (
    attempt INTEGER PRIMARY KEY,
    tokens INTEGER NOT NULL,
    most_usd REAL
);
CREATE INDEX IF NOT EXISTS attempt_at ON attempt (at);
CREATE INDEX IF NOT EXISTS attempt_call ON attempt (call_id);
"""
MOST_COUNTED = 10**12
"""Most tokens of a row: sums of them stay in 64 bits."""
_BEGUN = (
    "at, call_id, job_id, tool, plugin, principal, provider, model, purpose, number, media_seconds"
)
_SUMS = (*TOKENS, "media_seconds", "coalesce(usd, 0.0)", "state = 'paid' AND usd IS NULL")
_MODEL = "provider || '/' || coalesce(answered_by, model)"
_GROUPS: dict[Grouping, str] = {
    "tool": "tool",
    "day": "date(at, 'unixepoch')",
    "model": _MODEL,
    "plugin": "plugin",
    "provider": "provider",
    "principal": MARK,
}
_STATE = "CASE WHEN state = 'sent' AND at < :heard THEN 'maybe_paid' ELSE state END"
_COUNTED = " AND ".join(f"typeof({name}) = 'integer'" for name in TOKENS)
_SOUND = (
    f"({_COUNTED} AND typeof(media_seconds) = 'real' AND typeof(at) = 'real'"
    " AND typeof(usd) IN ('real', 'null')"
    " AND state IN ('sent', 'paid', 'free', 'maybe_paid'))"
)
_NEWEST_TYPES = (float, str, str, str, str, int, str, str, int, int, int, int, float, str, int)
_BEGUN_WITH = " FROM attempt LEFT JOIN foreseen ON foreseen.attempt = attempt.id"
_MOST = "CASE WHEN typeof(most_usd) = 'real' THEN most_usd ELSE 0.0 END"
_COST = f"CASE state WHEN 'free' THEN 0.0 WHEN 'paid' THEN coalesce(usd, 0.0) ELSE {_MOST} END"
_SPENT = (
    f"SELECT total({_COST}), total(CASE WHEN state = 'sent' AND at >= :heard THEN {_MOST} END)"
    f"{_BEGUN_WITH} WHERE at >= :since AND typeof(usd) IN ('real', 'null')"
)
_SPENT_BY_CALL = f"{_SPENT} AND call_id = :call"
_SPENT_BY_ONE = f"{_SPENT} AND {MARK} = :mark"
_MOST_TOKENS = "sum(input_tokens) + sum(output_tokens) + sum(thinking_tokens) DESC, 1"


class SqliteUsage(TableFile):
    """The attempts in one file; see `UsageTable`.

    Args:
        path, tell, patience: as `TableFile`.
        owner: the principal of rows without the name of a token.
        clock: seconds since the epoch.
    """

    schema = _SCHEMA

    def __init__(
        self,
        path: Path,
        owner: str = "",
        tell: Callable[[VrError], None] = lambda _error: None,
        patience: Patience | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(path, tell, patience)
        self._owner = owner
        self._clock = clock

    async def begin(self, attempt: Attempt, limits: Sequence[Limit] = ()) -> int:
        """Add an attempt that is about to be sent, unless it could pass a limit."""
        row = (
            self._clock(),
            attempt.call_id,
            attempt.job_id or None,
            attempt.tool,
            attempt.plugin,
            mark_of(attempt.principal, self._owner),
            attempt.provider,
            attempt.model,
            attempt.purpose,
            attempt.number,
            attempt.media_seconds,
        )

        def write(connection: sqlite3.Connection) -> int | LimitReachedError:
            for limit in limits:
                spent = self._spent(connection, limit)
                if spent.usd + (attempt.most_usd or 0.0) > limit.usd + LEAST_USD:
                    return LimitReachedError(limit, spent)
            marks = ",".join("?" * len(row))
            statement = f"INSERT INTO attempt ({_BEGUN}) VALUES ({marks})"  # noqa: S608 - constant columns
            number = connection.execute(statement, row).lastrowid or 0
            foreseen = (number, attempt.tokens, attempt.most_usd)
            connection.execute("INSERT OR REPLACE INTO foreseen VALUES (?, ?, ?)", foreseen)
            return number

        begun = await self.database.run(write)
        if isinstance(begun, LimitReachedError):
            raise begun
        return begun

    async def spent(self, limit: Limit) -> Spent:
        """Sum what the attempts that a limit counts have cost, or may."""
        return await self.database.look(partial(self._spent, limit=limit))

    async def end(
        self,
        number: int,
        state: AttemptState,
        usage: Usage,
        *,
        model: str = "",
        code: str = "",
        prices: str = "",
    ) -> None:
        """Record the end of an attempt; the first end stands."""
        tokens = [min(getattr(usage, name), MOST_COUNTED) for name in TOKENS]
        cost = (usage.cost_usd, prices or None)
        values = (state, model or None, code or None, *cost, *tokens, number)
        named = ("state", "answered_by", "code", "usd", "price_table", *TOKENS)
        columns = ", ".join(f"{name} = ?" for name in named)

        def write(connection: sqlite3.Connection) -> None:
            statement = f"UPDATE attempt SET {columns} WHERE id = ? AND state = 'sent'"  # noqa: S608 - constant columns
            connection.execute(statement, values)

        await self.database.keep(write, None)

    async def sums(
        self, by: Grouping, since: float, until: float, principal: str | None = None
    ) -> list[UsageRow]:
        """Sum the sound attempts of a time; days newest first, other groups most tokens first."""
        bounds = {
            "heard": self._clock() - UNHEARD_S,
            "since": since,
            "until": until,
            "mark": None if principal is None else mark_of(principal, self._owner),
        }
        return await self.database.look(partial(self._sums, by=by, bounds=bounds))

    async def newest(self, limit: int, tool: str = "") -> list[RecordedAttempt]:
        """List the newest sound attempts, of one tool or of all, newest first."""
        values = {"heard": self._clock() - UNHEARD_S, "limit": limit, "tool": tool}

        def read(connection: sqlite3.Connection) -> list[RecordedAttempt]:
            rows = connection.execute(
                f"SELECT at, call_id, tool, {_MODEL}, purpose, number, {_STATE},"
                f" coalesce(code, ''), {', '.join(TOKENS)}, coalesce(usd, -1.0),"
                f" provider || '/' || model, coalesce(tokens, 0){_BEGUN_WITH}"
                " WHERE :tool IN ('', tool) ORDER BY id DESC LIMIT :limit",
                values,
            )
            return [_recorded(row) for row in rows if is_sound(row, _NEWEST_TYPES)]

        return await self.database.look(read)

    def remarks(self) -> list[str]:
        """Say what the sums of this process lack because of damage."""
        told = []
        aside = sorted(self.path.parent.glob(f"{self.path.name}.damaged-*[0-9]"))
        if aside:
            names = ", ".join(file.name for file in aside)
            told.append(
                f"Earlier calls are not counted: {self.path.name} was damaged, and what it held is"
                f" in {names}, in {self.path.parent}."
            )
        if self.database.left_out:
            told.append(f"Damaged rows of {self.path.name} not counted: {self.database.left_out}.")
        return told

    def _spent(self, connection: sqlite3.Connection, limit: Limit) -> Spent:
        values: dict[str, object] = {"since": limit.since, "heard": self._clock() - UNHEARD_S}
        statement = _SPENT
        if limit.call_id:
            statement, values["call"] = _SPENT_BY_CALL, limit.call_id
        elif limit.principal is not None:
            statement = _SPENT_BY_ONE
            values["mark"] = mark_of(limit.principal, self._owner)
        usd, under_way = connection.execute(statement, values).fetchone()
        return Spent(usd, under_way)

    def _sums(
        self, connection: sqlite3.Connection, by: Grouping, bounds: Mapping[str, object]
    ) -> list[UsageRow]:
        for (number,) in connection.execute(
            f"SELECT id FROM attempt WHERE {_SOUND} IS NOT TRUE LIMIT {MOST_TOLD}"  # noqa: S608 - constant text
        ):
            self.database.leave_out("attempt", number)
        sums = ", ".join(f"sum({name})" for name in _SUMS)
        order = "1 DESC" if by == "day" else _MOST_TOKENS
        rows = connection.execute(
            f"SELECT {_GROUPS[by]}, sum(state = 'paid'), count(*), sum({_STATE} = 'maybe_paid'),"  # noqa: S608 - constant text
            f" {sums}, min(id)"
            f" FROM attempt WHERE {_SOUND} AND at >= :since AND at < :until"
            f" AND coalesce(:mark, {MARK}) = {MARK} GROUP BY 1 ORDER BY {order}",
            bounds,
        )
        found = []
        for *row, first in rows:
            if is_sound(row[:1], (str,)):
                values = dict(zip(UsageRow.model_fields, row, strict=True))
                if by == "principal":
                    values["key"] = principal_of(values["key"], self._owner)
                values["cost_usd"] = round(values["cost_usd"], COST_DIGITS)
                found.append(UsageRow(**values))
            else:
                self.database.leave_out("attempt", first)
        return found


def _recorded(row: Sequence[object]) -> RecordedAttempt:
    at, call_id, tool, model, purpose, number, state, code, *counts, usd, asked, tokens = row
    cost = float(str(usd))
    return RecordedAttempt(
        at=datetime.fromtimestamp(float(str(at)), UTC),
        call_id=str(call_id),
        tool=str(tool),
        model=str(model),
        purpose=str(purpose),
        number=int(str(number)),
        state=str(state),
        code=str(code),
        usage=Usage(
            calls=int(state == "paid"),
            cost_usd=None if cost < 0 else cost,
            **dict(zip(TOKENS, counts, strict=True)),
        ),
        asked=str(asked),
        tokens=int(str(tokens)),
    )
