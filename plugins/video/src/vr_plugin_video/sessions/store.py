"""Sessions and their turns, in one SQLite file; each belongs to the principal that made it."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, replace
from itertools import islice
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from vr_kernel import Code, Services, VrError
from vr_kernel.storage import is_sound, row_damaged, told_by

from vr_plugin_video.sessions.database import PATIENCE_S, Database
from vr_plugin_video.sessions.rows import (
    MARK,
    SESSION_TYPES,
    TURN_TYPES,
    Owner,
    PageStart,
    Session,
    SessionTurn,
    Types,
    owner_in,
)
from vr_plugin_video.settings import VideoSettings

FILE_NAME = "sessions.db"
SECONDS_PER_HOUR = 3600.0
KEPT_S = 30 * 24 * SECONDS_PER_HOUR
"""Seconds for which an expired session can still be read and exported."""
_ID = re.compile(r"[0-9a-f]{12}")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS session (
    id TEXT PRIMARY KEY, principal TEXT, workspace TEXT, video_id TEXT, title TEXT, address TEXT,
    path TEXT, digest TEXT, duration REAL, description TEXT, created_at REAL, last_active REAL,
    turn_count INTEGER
);
CREATE INDEX IF NOT EXISTS session_owner ON session (principal, workspace, last_active, id);
CREATE TABLE IF NOT EXISTS turn (
    session_id TEXT REFERENCES session (id) ON DELETE CASCADE, number INTEGER,
    call_id TEXT UNIQUE, prompt TEXT, response TEXT, model TEXT, asked_at REAL,
    PRIMARY KEY (session_id, number)
);
"""
_OWNED = f"{MARK} = ? AND workspace = ?"


class SessionStore:
    """The sessions of one installation, and the order of turns in each.

    Args:
        path: the database.
        most: sessions that are kept per principal; the least recently active ones are deleted.
        timeout_s: seconds without a question after which a session expires.
        clock: seconds since the epoch.
        patience_s: see `Database`.
        tell: is called with each damaged row, once.
        room_of: see `Database`.
    """

    def __init__(
        self,
        path: Path,
        *,
        most: int,
        timeout_s: float,
        clock: Callable[[], float] = time.time,
        patience_s: float = PATIENCE_S,
        tell: Callable[[VrError], None] = lambda _error: None,
        room_of: Callable[[Path], Any] | None = None,
    ) -> None:
        how: Any = {"patience_s": patience_s, "tell": tell, "room_of": room_of}
        self._database = Database(path, _SCHEMA, **how)
        self.require_room = self._database.require_room
        self._most = most
        self.timeout_s = timeout_s
        self.clock = clock
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @classmethod
    def of(cls, services: Services) -> SessionStore:
        """The store that the settings describe."""
        settings: VideoSettings = services.settings
        return cls(
            session_file(services),
            most=settings.max_sessions,
            timeout_s=settings.session_timeout_hours * SECONDS_PER_HOUR,
            tell=told_by(services.log),
            room_of=services.room_of,
        )

    async def aclose(self) -> None:
        """Close the database."""
        await asyncio.to_thread(self._database.close)

    def order(self, session_id: str) -> asyncio.Lock:
        """The lock of one session, which its turns take in the order they came."""
        return self._turns.setdefault(session_id, asyncio.Lock())

    def expires_at(self, session: Session) -> float:
        """Return the time at which a session expires if nothing is asked before."""
        return session.last_active + self.timeout_s

    def is_expired(self, session: Session) -> bool:
        """True when nothing was asked for longer than the timeout."""
        return self.clock() >= self.expires_at(session)

    async def check(self) -> None:
        """Check that a session could be saved now; saves none.

        Raises:
            VrError: as `add`.
        """
        await self._database.write(lambda _connection: None)
        await self.require_room()

    async def add(self, session: Session) -> Session:
        """Save a new session, or return the existing one of that id; delete the least active ones.

        Raises:
            VrError: UNAVAILABLE, category STATE_UNAVAILABLE.
        """

        def write(connection: sqlite3.Connection) -> Session:
            known = self._find(connection, session.id, session.owner)
            if known is not None:
                return known
            oldest = self.clock() - self.timeout_s - KEPT_S
            connection.execute("DELETE FROM session WHERE last_active < ?", (oldest,))
            connection.execute(
                f"DELETE FROM session WHERE id IN (SELECT id FROM session WHERE {MARK} = ?"  # noqa: S608 - constant text
                " ORDER BY last_active DESC, rowid DESC LIMIT -1 OFFSET ?)",
                (session.owner.mark, self._most - 1),
            )
            connection.execute(
                "INSERT INTO session VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", astuple(session)
            )
            return session

        return await self._database.write(write)

    async def find(self, session_id: str, owner: Owner) -> Session:
        """A session of that owner, expired or not.

        Raises:
            VrError: NOT_FOUND, category SESSION_UNKNOWN, for a session of others just as for none;
                UNAVAILABLE, category STATE_DAMAGED.
        """
        wanted = session_id.strip().lower()
        found = None
        if _ID.fullmatch(wanted):
            found = await self._database.read(lambda it: self._find(it, wanted, owner))
        if found is None:
            raise _unknown()
        return found

    async def live(self, session_id: str, owner: Owner) -> Session:
        """A session of that owner that has not expired.

        Raises:
            VrError: as `find`; NOT_FOUND, category SESSION_EXPIRED.
        """
        session = await self.find(session_id, owner)
        if self.is_expired(session):
            raise self._expired(session)
        return session

    async def turns(self, session_id: str, last: int = -1) -> list[SessionTurn]:
        """Return the last turns of a session, or all, the earliest first, without damaged ones."""

        def read(connection: sqlite3.Connection) -> list[SessionTurn]:
            rows = connection.execute(
                "SELECT * FROM turn WHERE session_id = ? ORDER BY number DESC LIMIT ?",
                (session_id, last),
            ).fetchall()
            sound = self._sound("turn", TURN_TYPES, reversed(rows), 2)
            return [SessionTurn(*row) for row in sound]

        return await self._database.read(read)

    async def append(self, turn: SessionTurn) -> SessionTurn:
        """Save a turn as the newest of its session, and return it with its number.

        A call that is repeated after a crash gets the turn that it saved then. On a full disk the
        turn is held in memory until there is room, as `has_pending` says, and counted with the
        others.

        Raises:
            VrError: NOT_FOUND, category SESSION_UNKNOWN, when the session was deleted for newer
                ones; UNAVAILABLE, category STATE_UNAVAILABLE.
        """

        def write(connection: sqlite3.Connection) -> SessionTurn:
            known = self._turn_of(connection, turn.call_id)
            if known is not None:
                return known
            counted = connection.execute(
                "UPDATE session SET turn_count = turn_count + 1,"
                " last_active = max(last_active, ?) WHERE id = ? RETURNING turn_count",
                (self.clock(), turn.session_id),
            ).fetchone()
            if counted is None:
                raise _unknown()
            numbered = replace(turn, number=counted[0])
            connection.execute("INSERT INTO turn VALUES (?,?,?,?,?,?,?)", astuple(numbered))
            return numbered

        return await self._database.keep(write, turn)

    @property
    def has_pending(self) -> bool:
        """True while a turn waits in memory for room on the disk."""
        return self._database.has_pending

    async def page(self, owner: Owner, limit: int, after: PageStart | None = None) -> list[Session]:
        """Sessions of that owner, the last active first; damaged ones are left out."""
        behind = " AND (last_active, id) < (?, ?)" if after else ""

        def read(connection: sqlite3.Connection) -> list[Session]:
            rows = connection.execute(
                f"SELECT * FROM session WHERE {_OWNED}{behind}"  # noqa: S608 - constant text
                " ORDER BY last_active DESC, id DESC",
                (*owner, *(after or ())),
            )
            sound = self._sound("session", SESSION_TYPES, rows, 1)
            return [Session(*row) for row in islice(sound, limit)]

        return await self._database.read(read)

    @property
    def left_out(self) -> int:
        """The number of damaged rows that were met so far."""
        return len(self._database.left_out)

    def _sound(
        self, table: str, types: Types, rows: Iterable[tuple[Any, ...]], keys: int
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the sound rows; damaged ones are reported by their first columns, the keys."""
        for row in rows:
            if is_sound(row, types):
                yield row
            else:
                self._database.left_out.add(table, row[:keys])

    def _find(
        self, connection: sqlite3.Connection, session_id: str, owner: Owner
    ) -> Session | None:
        row = connection.execute("SELECT * FROM session WHERE id = ?", (session_id,)).fetchone()
        if row is None or owner_in(row) != owner:
            return None
        if not is_sound(row, SESSION_TYPES):
            raise self._damaged("session", session_id)
        return Session(*row)

    def _turn_of(self, connection: sqlite3.Connection, call_id: str) -> SessionTurn | None:
        row = connection.execute("SELECT * FROM turn WHERE call_id = ?", (call_id,)).fetchone()
        if row and not is_sound(row, TURN_TYPES):
            raise self._damaged("turn", row[:2])
        return SessionTurn(*row) if row else None

    def _damaged(self, table: str, key: object) -> VrError:
        self._database.left_out.add(table, key)
        return row_damaged(self._database.path, table, key)

    def _expired(self, session: Session) -> VrError:
        where = f"url={session.address!r}" if session.address else f"file_path={session.path!r}"
        return VrError(
            f"Session {session.id} expired: nothing was asked for"
            f" {self.timeout_s / SECONDS_PER_HOUR:g} hours.",
            Code.NOT_FOUND,
            category="SESSION_EXPIRED",
            hint=f"Begin a new one: video_create_session({where}). What was said is in"
            " video_export_session; session_timeout_hours in [plugins.video] sets the time.",
        )


def session_file(services: Services) -> Path:
    """Return the file of sessions that the settings name."""
    settings: VideoSettings = services.settings
    return services.paths.state / Path(settings.session_db_path or FILE_NAME).expanduser()


def _unknown() -> VrError:
    return VrError(
        "There is no such session.",
        Code.NOT_FOUND,
        category="SESSION_UNKNOWN",
        hint="video_list_sessions names yours; video_create_session begins one.",
    )
