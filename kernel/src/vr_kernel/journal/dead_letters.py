"""Records that a store rejected: kept as rows until they are sent again or given up."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from vr_kernel.errors import reason_of
from vr_kernel.records import Change

if TYPE_CHECKING:
    from vr_kernel.state.adoption import Adopt, Adopted
    from vr_kernel.state.rows import OpenRows, Put

NAMESPACE = "dead letters"
"""Of the rows; no plugin can have this name."""
FORMER_FILE, FORMER_TABLE = "refused.db", "refused"
"""The place where an earlier version kept them."""
REASON_CHARS = 1000


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record that a store rejected, and the reason."""

    workspace: str
    kind: str
    key: str
    reason: str
    tries: int
    refused_at: str


_Found: TypeAlias = list[DeadLetter]


class DeadLetters:
    """The failed lists of all stores of one state folder. The records stay in the journal."""

    def __init__(self, rows: OpenRows) -> None:
        self._rows = rows

    async def add(self, store: str, change: Change, error: BaseException, tries: int) -> None:
        """Add a record that a store refused.

        Raises:
            VrError: UNAVAILABLE when the list cannot be written.
        """
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        reason = reason_of(error)[:REASON_CHARS]
        letter = DeadLetter(change.workspace, change.kind, change.key, reason, tries, now)
        await (await self._rows()).write(_put(store, letter))

    async def forget(self, store: str, records: Sequence[tuple[str, str, str]]) -> None:
        """Take records, as workspace, kind and key, off the list of a store."""
        from vr_kernel.state.rows import Delete

        changes = [Delete(_key(store, *record)) for record in records]
        await (await self._rows()).write(*changes)

    async def list(self, store: str) -> _Found:
        """The records that a store refused, the latest first."""
        found = sorted(await self._found(store), key=lambda it: (it.kind, it.key))
        return sorted(found, key=lambda it: it.refused_at, reverse=True)

    async def count(self, store: str) -> int:
        """Count the records that a store refused."""
        return len(await self._found(store))

    async def _found(self, store: str) -> _Found:
        rows = await (await self._rows()).list(f"{store}/", limit=sys.maxsize)
        found = [_letter(row.value) for row in rows if row.key.rpartition("/")[0] == store]
        return [letter for letter in found if letter is not None]


def former_tables() -> Mapping[str, Adopt]:
    """Return what becomes of the table of an earlier version."""
    return {FORMER_TABLE: _adopted}


def _adopted(row: Mapping[str, Any]) -> Iterator[Adopted]:
    from vr_kernel.state.adoption import Adopted

    if (letter := _letter({k: value for k, value in row.items() if k != "store"})) is None:
        raise TypeError
    yield Adopted(_put(row["store"], letter))


def _put(store: str, letter: DeadLetter) -> Put:
    from vr_kernel.state.rows import Put

    return Put(_key(store, letter.workspace, letter.kind, letter.key), asdict(letter))


def _key(store: str, *record: str) -> str:
    """The row of a record; its own key may be of any length."""
    return f"{store}/{hashlib.sha256(json.dumps(record).encode()).hexdigest()}"


def _letter(value: Mapping[str, Any]) -> DeadLetter | None:
    """The letter of a row; None for a row of another form."""
    from vr_kernel.storage.sound_rows import is_sound

    try:
        letter = DeadLetter(**value)
    except TypeError:
        return None
    values = (*asdict(letter).values(),)
    return letter if is_sound(values, (str, str, str, str, int, str)) else None
