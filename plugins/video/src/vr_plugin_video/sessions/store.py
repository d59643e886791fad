"""Sessions and their turns, kept as rows; each belongs to the principal that made it."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterable
from weakref import WeakValueDictionary

from vr_kernel import Services, VrError
from vr_kernel.state import ROW_CHANGED, Delete, Put, Row, RowChange, Rows

from vr_plugin_video.sessions.adoption import adopt_sessions
from vr_plugin_video.sessions.errors import SECONDS_PER_HOUR, damaged, expired, unknown
from vr_plugin_video.sessions.rows import (
    Owner,
    PageStart,
    Session,
    SessionTurn,
    late_turns_of,
    read_session,
    read_turn,
    session_key,
    session_value,
    turn_key,
    turns_of,
)
from vr_plugin_video.settings import VideoSettings

KEPT_S = 30 * 24 * SECONDS_PER_HOUR
"""Seconds for which an expired session can still be read and exported."""
ALL = 1_000_000
_ID = re.compile(r"[0-9a-f]{12}")
_SESSIONS = session_key("")


class SessionStore:
    """The sessions of one installation, and the order of turns in each.

    At most `max_sessions` are kept per principal and workspace; the least recently active ones are
    deleted.

    Args:
        services: of the plugin.
        clock: seconds since the epoch.

    Attributes:
        timeout_s: seconds without a question after which a session expires.
    """

    def __init__(self, services: Services, clock: Callable[[], float] = time.time) -> None:
        settings: VideoSettings = services.settings
        self._services = services
        self._base = services.rows
        self._places: dict[Owner, Rows] = {}
        self._most = settings.max_sessions
        self.timeout_s = settings.session_timeout_hours * SECONDS_PER_HOUR
        self.clock = clock
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._adopted = False
        self._damaged: set[str] = set()
        self._caught_up: set[str] = set()

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
        own = self._services
        await (await self._rows(Owner(own.identity.mark, own.workspace))).write()
        await self.require_room()

    async def require_room(self) -> None:
        """Check that there is room for turns that will be paid, and that none waits for room.

        Raises:
            VrError: UNAVAILABLE, category STATE_UNAVAILABLE.
        """
        await self._services.room_of(self._services.paths.state).require(1)

    @property
    def has_pending(self) -> bool:
        """True while something that was paid for waits in memory for room on the disk."""
        return self._services.room_of(self._services.paths.state).awaited

    async def add(self, session: Session) -> Session:
        """Save a new session, or return the existing one of that id; delete the least active ones.

        Raises:
            VrError: UNAVAILABLE, category STATE_UNAVAILABLE.
        """
        rows = await self._rows(session.owner)
        while True:
            known = await rows.get(session_key(session.id))
            if known is not None:
                return self._read(known)
            put = Put(session_key(session.id), session_value(session), expected=0)
            try:
                await rows.write(*await self._evictions(rows), put)
            except VrError as error:
                if error.category != ROW_CHANGED:
                    raise
            else:
                return session

    async def find(self, session_id: str, owner: Owner) -> Session:
        """A session of that owner, expired or not.

        Raises:
            VrError: NOT_FOUND, category SESSION_UNKNOWN, for a session of others just as for none;
                UNAVAILABLE, category STATE_DAMAGED.
        """
        wanted = session_id.strip().lower()
        if not _ID.fullmatch(wanted):
            raise unknown()
        session = await self._stored(wanted, owner)
        return await self._stored(wanted, owner) if await self._catch_up(session) else session

    async def live(self, session_id: str, owner: Owner) -> Session:
        """A session of that owner that has not expired.

        Raises:
            VrError: as `find`; NOT_FOUND, category SESSION_EXPIRED.
        """
        session = await self.find(session_id, owner)
        if self.is_expired(session):
            raise expired(session, self.timeout_s)
        return session

    async def turns(self, session: Session, last: int = ALL) -> list[SessionTurn]:
        """Return the last turns of a session, or all, the earliest first, without damaged ones."""
        return await self._turns_after(session, max(0, session.turn_count - last))

    async def append(self, session: Session, turn: SessionTurn) -> SessionTurn:
        """Save a turn as the newest of its session, and return it with its number.

        A call that is repeated after a crash gets the turn that it saved then. On a full disk the
        turn is held in memory until there is room, as `has_pending` says, and counted with the
        others; after those that another process saves meanwhile, which `find` sees to.

        Args:
            session: as it was last read.
            turn: its number is the least that it can have.

        Raises:
            VrError: NOT_FOUND, category SESSION_UNKNOWN, when the session was deleted for newer
                ones; UNAVAILABLE, category STATE_UNAVAILABLE.
        """
        rows = await self._rows(session.owner)
        while True:
            if session.turn_count >= turn.number:
                for each in await self._turns_after(session, turn.number - 1):
                    if each.call_id == turn.call_id:
                        return each
            numbered = turn._replace(number=session.turn_count + 1)
            active = max(session.last_active, self.clock())
            counted = session._replace(turn_count=numbered.number, last_active=active)
            key = session_key(session.id)
            try:
                await rows.write(
                    Put(key, session_value(counted), expected=session.version),
                    Put(turn_key(session.id, numbered.number), numbered._asdict()),
                    paid=True,
                )
            except VrError as error:
                if error.category != ROW_CHANGED:
                    raise
            else:
                break
            session = await self._stored(session.id, session.owner)
        if self.has_pending:
            self._caught_up.discard(session.id)
            late = late_turns_of(session.id) + turn.call_id
            end = self.clock() + KEPT_S
            await rows.write(Put(late, numbered._asdict(), expires_at=end), paid=True)
        return numbered

    async def page(self, owner: Owner, limit: int, after: PageStart | None = None) -> list[Session]:
        """Sessions of that owner, the last active first; damaged ones are left out."""
        sessions = await self._sessions(await self._rows(owner))
        behind = [it for it in sessions if after is None or _place(it) < after]
        return sorted(behind, key=_place, reverse=True)[:limit]

    @property
    def left_out(self) -> int:
        """The number of damaged rows that were met so far."""
        return len(self._damaged) + self._base.left_out

    async def _rows(self, owner: Owner) -> Rows:
        if not self._adopted:
            await adopt_sessions(self._services)
            self._adopted = True
        if owner not in self._places:
            self._places[owner] = self._base.within(owner.workspace, owner.mark)
        return self._places[owner]

    async def _stored(self, session_id: str, owner: Owner) -> Session:
        found = await (await self._rows(owner)).get(session_key(session_id))
        if found is None:
            raise unknown()
        return self._read(found)

    async def _catch_up(self, session: Session) -> bool:
        """Append turns that had to wait for room, unless they are there; True when there are any.

        They are lacking where another process wrote to the session while they waited. This looks
        once, and again after turns of this process had to wait.
        """
        if session.id in self._caught_up or self.has_pending:
            return False
        rows = await self._rows(session.owner)
        late = await rows.list(late_turns_of(session.id))
        self._caught_up.add(session.id)
        for row in late:
            try:
                if (turn := read_turn(row.value)) is not None:
                    await self.append(session, turn)
                await rows.delete(row.key)
            except VrError:
                self._caught_up.discard(session.id)
        return bool(late)

    async def _sessions(self, rows: Rows) -> list[Session]:
        found = await rows.list(_SESSIONS, limit=ALL)
        sessions = {row.key: read_session(row.value, row.version) for row in found}
        self._leave_out(key for key, session in sessions.items() if session is None)
        return [session for session in sessions.values() if session is not None]

    async def _turns_after(self, session: Session, number: int) -> list[SessionTurn]:
        rows = await self._rows(session.owner)
        after = turn_key(session.id, number)
        found = await rows.list(turns_of(session.id), after=after, limit=ALL)
        turns = {row.key: read_turn(row.value) for row in found}
        self._leave_out(key for key, turn in turns.items() if turn is None)
        return [turn for turn in turns.values() if turn is not None]

    async def _evictions(self, rows: Rows) -> list[RowChange]:
        """Return the changes that make room for one more session, and delete what is too old."""
        sessions = await self._sessions(rows)
        sessions.sort(key=lambda it: (it.last_active, it.version), reverse=True)
        oldest = self.clock() - self.timeout_s - KEPT_S
        stay = [it for it in sessions if it.last_active >= oldest][: self._most - 1]
        return [
            change
            for it in sessions[len(stay) :]
            for change in (
                Delete(session_key(it.id), expected=it.version),
                Delete(turns_of(it.id), below=True),
                Delete(late_turns_of(it.id), below=True),
            )
        ]

    def _read(self, row: Row) -> Session:
        session = read_session(row.value, row.version)
        if session is None:
            self._leave_out([row.key])
            raise damaged(row.key)
        return session

    def _leave_out(self, keys: Iterable[str]) -> None:
        for key in keys:
            if key not in self._damaged:
                self._damaged.add(key)
                error = damaged(key)
                self._services.log.warning(error.message, hint=error.hint)


def _place(session: Session) -> PageStart:
    return PageStart(session.last_active, session.id)
