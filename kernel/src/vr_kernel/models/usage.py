"""The ledger of requests to language models and their cost: one row per attempt, in SQLite."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from vr_kernel.errors import VrError
from vr_kernel.events import NO_TRACE, Trace
from vr_kernel.generation import Usage
from vr_kernel.models.usage_report import (
    TOKENS,
    Grouping,
    RecordedAttempt,
    UsageRow,
    read_newest,
    read_sums,
)
from vr_kernel.storage.kept_database import KeptDatabase
from vr_kernel.storage.patience import Patience
from vr_kernel.storage.principal_marks import mark_of

T = TypeVar("T")
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
"""
_BEGUN = (
    "at, call_id, job_id, tool, plugin, principal, provider, model, purpose, number, media_seconds"
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request to a model, before it is sent.

    Args:
        model: the one that is asked, without its provider's name before it.
        purpose: `generate`, `stream`, `embed`, `count`, `cache` or `research`.
        number: of the attempt within its call to the model, from 1.
        media_seconds: length of the media in the request, as far as known.
    """

    call_id: str
    tool: str
    plugin: str
    principal: str
    provider: str
    model: str
    purpose: str
    number: int
    media_seconds: float = 0.0
    job_id: str = ""


@dataclass(slots=True)
class Meter:
    """The cost of one call of a tool so far, the models that answered, and remarks.

    `kept_calls` of its calls of models produced cached results: they are not paid for again.
    """

    call_id: str
    tool: str
    plugin: str
    principal: str
    workspace: str = ""
    trace: Trace = NO_TRACE
    usage: Usage = field(default_factory=Usage)
    models: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    kept_calls: int = 0

    def add(self, usage: Usage, model: str = "") -> None:
        """Count what an attempt cost, and name the model that answered, if one did."""
        self.usage += usage
        if model and model not in self.models:
            self.models.append(model)

    def add_all(self, other: Meter) -> None:
        """Count everything that another meter counted."""
        self.usage += other.usage
        self.models += [model for model in other.models if model not in self.models]
        self.notes += other.notes
        self.kept_calls += other.kept_calls

    def fresh(self) -> Meter:
        """An empty meter of the same call."""
        return Meter(
            self.call_id, self.tool, self.plugin, self.principal, self.workspace, self.trace
        )


class UsageLedger:
    """Every attempt at paid work, from all processes that share the file.

    A request is not sent if its row cannot be written. The end of a request may be missing in
    reports, but never fails a call; while there is no room for it, it is held in memory and
    counted. A damaged file is set aside and a new one created.

    Args:
        path: the database file.
        warn: called once when an end cannot be written.
        owner: the principal of rows without the name of a token.
        tell: called once for each damage found in the file.
        patience: with locks, shared with the other files of the program.
    """

    def __init__(
        self,
        path: Path,
        warn: Callable[[VrError], None],
        owner: str = "",
        tell: Callable[[VrError], None] = lambda _error: None,
        patience: Patience | None = None,
    ) -> None:
        self.path = path
        self._owner = owner
        self._file = KeptDatabase(path, _SCHEMA, disposable=True, tell=tell, patience=patience)
        self._warn = warn
        self._warned = False

    async def begin(self, attempt: Attempt) -> int:
        """Record that a request is sent; returns its row.

        Raises:
            VrError: UNAVAILABLE, category STATE_UNAVAILABLE, when that cannot be written.
        """
        row = (
            time.time(),
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

        def write(connection: sqlite3.Connection) -> int:
            marks = ",".join("?" * len(row))
            statement = f"INSERT INTO attempt ({_BEGUN}) VALUES ({marks})"  # noqa: S608 - constant columns
            return connection.execute(statement, row).lastrowid or 0

        return await self._file.run(write)

    async def paid(self, row: int, model: str, usage: Usage) -> None:
        """Record the cost of an answer.

        Args:
            row: what `begin` returned.
            model: the one that answered, without its provider's name before it.
            usage: what it reported.
        """
        await self._end(row, "paid", usage, model=model)

    async def failed(self, row: int, *, code: str, usage: Usage | None, maybe_paid: bool) -> None:
        """Record that an attempt failed.

        Args:
            row: what `begin` returned.
            code: of the error.
            usage: what it cost nevertheless.
            maybe_paid: whether a reply that never arrived may have been charged.
        """
        charged = usage is not None and usage != Usage()
        state = "maybe_paid" if maybe_paid else "paid" if charged else "free"
        await self._end(row, state, usage or Usage(), code=code)

    async def report(
        self,
        by: Grouping,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        principal: str | None = None,
    ) -> list[UsageRow]:
        """Sums by tool, UTC day, answering model or plugin.

        Days come newest first, other groups by tokens, most first.

        Args:
            by: the groups of the sums.
            since: leaves out earlier attempts; UTC without a time zone.
            until: leaves out attempts from that moment on.
            principal: whose attempts; those of all when left out.

        Raises:
            VrError: UNAVAILABLE when the ledger cannot be read.
        """
        mark = None if principal is None else mark_of(principal, self._owner)
        return await self._file.look(
            partial(
                read_sums, by=by, since=since, until=until, mark=mark, leave_out=self._leave_out
            )
        )

    async def recent(self, limit: int) -> list[RecordedAttempt]:
        """The newest attempts, newest first.

        Raises:
            VrError: UNAVAILABLE when the ledger cannot be read.
        """
        return await self._file.look(partial(read_newest, limit=limit))

    def remarks(self) -> list[str]:
        """List what the reports of this process lack because of damage."""
        told = []
        aside = sorted(self.path.parent.glob(f"{self.path.name}.damaged-*[0-9]"))
        if aside:
            names = ", ".join(file.name for file in aside)
            told.append(
                f"Earlier calls are not counted: {self.path.name} was damaged, and what it held is"
                f" in {names}, in {self.path.parent}."
            )
        if self._file.left_out:
            told.append(f"Damaged rows of {self.path.name} not counted: {self._file.left_out}.")
        return told

    def _leave_out(self, row: int) -> None:
        self._file.leave_out("attempt", row)

    def close(self) -> None:
        """Close the file; a later use opens it again."""
        self._file.close()

    async def _end(
        self, row: int, state: str, usage: Usage, *, model: str = "", code: str = ""
    ) -> None:
        tokens = [getattr(usage, name) for name in TOKENS]
        values = (state, model or None, code or None, *tokens, row)
        columns = ", ".join(f"{name} = ?" for name in ("state", "answered_by", "code", *TOKENS))

        def write(connection: sqlite3.Connection) -> None:
            statement = f"UPDATE attempt SET {columns} WHERE id = ? AND state = 'sent'"  # noqa: S608 - constant columns
            connection.execute(statement, values)

        try:
            await self._file.keep(write, None)
        except VrError as error:
            if not self._warned:
                self._warned = True
                self._warn(error)
