"""The state of a notes folder: the pages written into it, and the notes read from it."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from vr_kernel import Services, VrError
from vr_kernel.state import ROW_CHANGED, Adopted, Delete, Put, Rows, adopt_file
from vr_kernel.storage import told_by

FORMER = "notes.db"
"""The file of an earlier version, in the state folder; it is taken over once."""
WAIT_S = 1.0
"""Longest wait for another process that is writing."""
ALL = 1_000_000


class Seen(NamedTuple):
    """A file as it was when it was read, and the number of its passages."""

    size: int
    mtime_ns: int
    passages: int


class Ledger:
    """The state of one folder in one workspace, in rows that all processes share.

    It may be lost: then existing pages are not written again, and notes are read once more.

    Args:
        services: of the knowledge plugin.
        root: the notes folder.
    """

    def __init__(self, services: Services, root: Path) -> None:
        self._services = services
        self._key = _key_of(str(root))
        self._adopted = False

    async def cursor(self) -> int:
        """The sequence number of the last change of the journal that was handled."""
        return (await self._cursor(await self._rows()))[0]

    async def move(self, start: int, end: int, work: Callable[[], Awaitable[None]]) -> bool:
        """Do `work` and move the cursor from `start` to `end`, as the only process to do so.

        Returns False and does nothing when another process has moved it or is about to.

        Raises:
            OSError: what `work` raised; then the cursor stays.
        """
        rows = await self._rows()
        name = f"knowledge/pages/{self._services.workspace}/{self._key}"
        async with self._services.leases.held(name, patience=WAIT_S) as lease:
            seq, version = await self._cursor(rows)
            if lease is None or seq != start:
                return False
            await work()
            try:
                await rows.put(f"{self._key}/cursor", end, expected=version)
            except VrError as error:
                if error.category != ROW_CHANGED:
                    raise
                return False
            return True

    async def notes(self) -> dict[str, Seen]:
        """The files that were read, by path below the folder."""
        found = await (await self._rows()).list(f"{self._key}/note/", limit=ALL)
        return {row.value[0]: Seen(*row.value[1:]) for row in found if _is_note(row.value)}

    async def keep(self, notes: Iterable[tuple[str, Seen]], gone: Iterable[str] = ()) -> None:
        """Store files that were read, and remove those that are gone."""
        puts = [_put(self._key, path, seen) for path, seen in notes]
        lost = [Delete(_note_key(self._key, path)) for path in gone]
        await (await self._rows()).write(*puts, *lost)

    async def _cursor(self, rows: Rows) -> tuple[int, int]:
        """Return the cursor, and the version of its row; 0 for none."""
        row = await rows.get(f"{self._key}/cursor")
        if row is None:
            return 0, 0
        return (row.value if isinstance(row.value, int) else 0), row.version

    async def _rows(self) -> Rows:
        if not self._adopted:
            await _adopt(self._services)
            self._adopted = True
        return self._services.rows


async def _adopt(services: Services) -> None:
    def place(put: Put, workspace: str) -> Adopted:
        return Adopted(put, workspace, services.identity.mark)

    def cursors(row: Mapping[str, Any]) -> Iterator[Adopted]:
        root, _, workspace = row["folder"].rpartition("\n")
        yield place(Put(f"{_key_of(root)}/cursor", int(row["seq"])), workspace)

    def notes(row: Mapping[str, Any]) -> Iterator[Adopted]:
        root, _, workspace = row["folder"].rpartition("\n")
        seen = Seen(row["size"], row["mtime_ns"], row["passages"])
        if not _is_note([row["path"], *seen]):
            raise ValueError("a note is damaged")
        yield place(_put(_key_of(root), row["path"], seen), workspace)

    tables = {"cursor": cursors, "note": notes}
    file, tell = services.paths.state / FORMER, told_by(services.log)
    await adopt_file(file, services.rows, services.leases, tables, tell)


def _key_of(root: str) -> str:
    return f"notes/{_digest(root)}"


def _note_key(folder: str, path: str) -> str:
    return f"{folder}/note/{_digest(path)}"


def _digest(path: str) -> str:
    """Return a part of a key for a path, which may be longer than a key."""
    return hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _put(folder: str, path: str, seen: Seen) -> Put:
    return Put(_note_key(folder, path), [path, *seen])


def _is_note(value: Any) -> bool:
    match value:
        case [str(), int(), int(), int()]:
            return True
    return False
