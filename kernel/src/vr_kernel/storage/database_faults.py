"""Faults of SQLite files: which is what, the typed error that says so, and rows that are whole."""

from __future__ import annotations

import errno
import math
import os
import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vr_kernel.errors import VrError

if TYPE_CHECKING:
    from vr_kernel.log import Log
    from vr_kernel.storage.room import RoomOf

WAIT_S = 10.0
"""How long is waited for locks that other processes hold."""
CLOSE_WAIT_S = 2.0
"""The same for a program that ends."""
BRIEF_S = 0.25
"""The same once a lock has been held for `WAIT_S`: its holder stands still."""
STEP_S = 1.0
"""Most seconds counted between two tries: in a longer time this process stood still."""
# The module sqlite3 cannot decode a message of SQLite that quotes damaged names.
FAULTS = (sqlite3.Error, OSError, UnicodeDecodeError)
"""Everything that a file can fail with."""
UNAVAILABLE = "STATE_UNAVAILABLE"
DAMAGED = "STATE_DAMAGED"
"""Categories: a file cannot be used now, or not as it is."""
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR_SHORT_READ")
_FOREIGN = ("SQLITE_ERROR", "SQLITE_CONSTRAINT", "SQLITE_MISMATCH")
"""How a file of another program, or of another version, answers to our statements."""
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
CLEAN = "Free some space there; `vr clean` removes what this program can do without."
_QUOTING = ("SQLITE_ERROR", "SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CONSTRAINT")
"""Faults in whose sentence SQLite may quote what stands in the file."""
Identity = tuple[int, int, bool] | None
"""Tells a file from another one of its name: device, number, whether there is anything in it."""
read_text = partial(str, encoding="utf-8", errors="surrogateescape")
"""A `text_factory` that never fails: bytes that are no UTF-8 become characters of no text."""
MAKING_S = 5.0
"""How long a file may be without content while it is made."""
MOST_TOLD = 100
"""Damaged rows of one file that are named; there may be more."""
_TABLE = re.compile(r"CREATE TABLE IF NOT EXISTS (\w+)")


class ForeignFileError(sqlite3.DatabaseError):
    """The file is a sound database, and another program's."""

    sqlite_errorname = "SQLITE_NOTADB"


class NotBegunError(Exception):
    """No transaction could be begun, so no work was; the cause says why."""


def identity(path: Path) -> Identity:
    """Tells a file from another one of its name, or from what was emptied; None for no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size > 0


def identities(path: Path) -> tuple[Identity, Identity, Identity]:
    """Tells an open file, its log and its index from others; these two may be emptied any time."""
    log, index = identity(log_of(path)), identity(log_of(path, "shm"))
    return identity(path), log and (*log[:2], False), index and (*index[:2], False)


def log_of(path: Path, ending: str = "wal") -> Path:
    """The file of what SQLite has not brought into this one yet; with `shm` the index over it."""
    return path.with_name(f"{path.name}-{ending}")


def cause(error: BaseException) -> BaseException | None:
    """The fault of the file behind an error, or the error itself."""
    return error.__cause__ if isinstance(error, NotBegunError) else error


def is_damage(error: BaseException | None) -> bool:
    """True when the file's content is broken, or another program's."""
    return _is_any_of(error, _DAMAGED)


def is_useless(error: BaseException | None, path: Path) -> bool:
    """True when that file is broken, or not one of ours; not where it may not be written."""
    if getattr(error, "sqlite_errorname", None) == "SQLITE_READONLY":
        # A newer version of SQLite may say in a file that this one may not write it.
        return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    return _is_any_of(error, _DAMAGED + _FOREIGN)


def is_busy(error: BaseException | None) -> bool:
    """True when another connection holds a lock."""
    return _is_any_of(error, ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"))


def is_full(error: BaseException | None) -> bool:
    """True when the disk, a quota or the largest size of a file left no room."""
    if isinstance(error, OSError):
        return error.errno in _FULL
    return _is_any_of(error, ("SQLITE_FULL",))


def is_io_error(error: BaseException | None) -> bool:
    """True when the disk did not do what SQLite asked of it."""
    return _is_any_of(error, ("SQLITE_IOERR",))


def is_passing(error: BaseException | None) -> bool:
    """True for a file that could be used, and may be again: in use, out of reach, without room."""
    names = ("SQLITE_BUSY", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN")
    return isinstance(error, OSError) or _is_any_of(error, names)


def is_held(error: VrError) -> bool:
    """True for the error of a file that another process holds."""
    return is_busy(error.__cause__)


def is_of_state(error: VrError) -> bool:
    """True for the error of a file that cannot be used, whatever the reason."""
    return error.category in {UNAVAILABLE, DAMAGED}


def wording(error: BaseException) -> str:
    """The words of a fault; never what stands in the file."""
    if isinstance(error, UnicodeDecodeError):
        return "SQLITE_CORRUPT"
    name = getattr(error, "sqlite_errorname", None) or ""
    if isinstance(error, sqlite3.Error) and (not name or name.startswith(_QUOTING)):
        return name or type(error).__name__
    return str(error)


def require_own(connection: sqlite3.Connection, schema: str) -> None:
    """Leave a file alone that has tables, and none of a schema.

    Raises:
        ForeignFileError: when it is so.
    """
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    there = {name for (name,) in rows if not name.startswith("sqlite_")}
    if there and there.isdisjoint(_TABLE.findall(schema)):
        raise ForeignFileError


def explained(path: Path, error: BaseException) -> VrError:
    """The typed error of a fault of that file."""
    if is_busy(error):
        from vr_kernel.storage.lock_holders import held

        return held(path, error)
    from vr_kernel.storage.database_damage import damaged, unusable  # most programs meet none

    return damaged(path, error) if is_damage(error) else unusable(path, error)


def told_by(log: Log) -> Callable[[VrError], None]:
    """A function that writes damage down in a log."""
    return lambda error: log.warning("damage was found", reason=error.message, hint=error.hint)


def tell_emptied(path: Path, tell: Callable[[VrError], None]) -> None:
    """Say of a file that it has no content, unless somebody is just making it."""
    try:
        found = path.stat()
    except OSError:
        return
    if found.st_size == 0 and time.time() - found.st_mtime > MAKING_S:
        from vr_kernel.storage.database_damage import emptied

        tell(emptied(path))


def shown_key(key: object) -> str:
    """A row's key as it may be told: long ones are cut, damaged ones are none."""
    parts = key if isinstance(key, tuple) else (key,)
    return " / ".join(str(part)[:200] if is_text(str(part)) else "(damaged)" for part in parts)


class LeftOut:
    """The damaged rows of a file that were met, each told once.

    Args:
        path: the file.
        tell: takes the error that names a row.
    """

    def __init__(self, path: Path, tell: Callable[[VrError], None]) -> None:
        self._path = path
        self._tell = tell
        self._told: set[tuple[str, str]] = set()

    def __len__(self) -> int:
        return len(self._told)

    def add(self, table: str, key: object) -> None:
        """Say of a row that it is damaged; `key` tells which it is, not what it holds."""
        named = (table, shown_key(key))
        if named not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(named)
            from vr_kernel.storage.database_damage import row_damaged

            self._tell(row_damaged(self._path, table, key))


def is_sound(row: Sequence[Any], types: Sequence[type | tuple[type, ...]]) -> bool:
    """True when every value of a row has its type, and every text is one."""
    return all(
        isinstance(value, wanted) and (not isinstance(value, str) or is_text(value))
        for value, wanted in zip(row, types, strict=True)
    )


def is_text(value: str) -> bool:
    """True for what was read whole by `read_text`."""
    return value.isascii() or not any("\udc80" <= letter <= "\udcff" for letter in value)


def _is_any_of(error: BaseException | None, names: tuple[str, ...]) -> bool:
    name = "SQLITE_CORRUPT" if isinstance(error, UnicodeDecodeError) else ""
    return (getattr(error, "sqlite_errorname", None) or name).startswith(names)


@dataclass(slots=True)
class Wait:
    """A wait for a lock: how long it may be, when it was looked at last, how much of it counts."""

    most_s: float
    seen: float
    waited_s: float = 0.0


class Patience:
    """How long files wait for locks of other processes, all files of one program together.

    Who waited in vain for one file does not wait as long again for the next one: a process that
    stands still may hold several. Time in which this process itself was suspended does not count.

    Args:
        wait_s: for all files in turn.
        clock: in seconds, never set back.
        step_s: what counts, at most, of the time between two tries.
    """

    def __init__(
        self,
        wait_s: float = WAIT_S,
        clock: Callable[[], float] = time.monotonic,
        step_s: float = STEP_S,
    ) -> None:
        self.wait_s = wait_s
        self.clock = clock
        self.room_of: RoomOf | None = None  # finds these files space for what was paid for
        self._step_s = step_s
        self._locked: dict[Path, tuple[float, float]] = {}

    def hurry(self) -> None:
        """Wait less from now on: the program ends."""
        self.wait_s = min(self.wait_s, CLOSE_WAIT_S)

    def begin(self, most_s: float = math.inf) -> Wait:
        """Begin to wait, for `most_s` at most."""
        return Wait(most_s, self.clock())

    def found_locked(self, path: Path) -> None:
        """Somebody else holds that file now."""
        now = self.clock()
        self._locked[path] = (min(self._since(path, now), now), now)

    def found_free(self, path: Path) -> None:
        """Nobody else holds that file any more."""
        self._locked.pop(path, None)

    def is_over(self, wait: Wait) -> bool:
        """True when enough was waited; called at each try."""
        now = self.clock()
        if now - wait.seen > self._step_s:
            self._locked.clear()
        wait.waited_s += min(now - wait.seen, self._step_s)
        wait.seen = now
        first = min((self._since(path, now) for path in [*self._locked]), default=now)
        allowed = max(first + self.wait_s - now + wait.waited_s, BRIEF_S)
        return wait.waited_s >= min(wait.most_s, self.wait_s, allowed)

    def _since(self, path: Path, now: float) -> float:
        """The moment since which the file has been locked, as far as somebody looked."""
        since, seen = self._locked.get(path, (now, now))
        return since if now - seen < self.wait_s else now
