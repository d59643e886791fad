"""Rows: JSON values that registries and plugins keep, by key, in a place of their own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

MOST_BYTES = 1_000_000
"""Most bytes of a value as JSON; what is larger belongs into an artifact, and its name here."""
MOST_KEY_CHARS = 1000
"""Most characters of a key, and of each part of a place."""
ROW_CHANGED = "ROW_CHANGED"
"""Category of the error of a write that expected another version."""


class Place(NamedTuple):
    """The owner of rows: a namespace, such as a plugin's name, within a workspace."""

    namespace: str
    workspace: str = ""
    principal: str = ""


class Row(NamedTuple):
    """A value that was kept.

    Attributes:
        key: names it within its place.
        value: any JSON value.
        version: of the last write; it rises, and no two writes of a place have the same.
        expires_at: seconds since the epoch after which it counts as missing; None for never.
    """

    key: str
    value: Any
    version: int
    expires_at: float | None = None


@dataclass(frozen=True, slots=True)
class Put:
    """A write of one row.

    Args:
        key: names the row within its place.
        value: any JSON value of up to 1 MB.
        expected: the version that the row must have, 0 for none yet; any when left out.
        expires_at: seconds since the epoch after which it counts as missing.
    """

    key: str
    value: Any
    expected: int | None = None
    expires_at: float | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """A deletion of one row, or with `below` of all rows whose key begins with this one.

    `expected` is the version that the row must have; a missing row has 0.
    """

    key: str
    expected: int | None = None
    below: bool = False


RowChange = Put | Delete
RowList: TypeAlias = list[Row]


class Rows(Protocol):
    """The rows of one place.

    Every method raises `VrError`: INVALID_INPUT for a key that is empty, too long, or has a NUL or
    a lone surrogate; UNAVAILABLE when the rows cannot be read or written.
    """

    def within(self, workspace: str = "", principal: str = "") -> Rows:
        """Return the rows of the same namespace in another workspace, for another principal.

        Raises:
            VrError: INVALID_INPUT for a name that no place can have.
        """

    @property
    def left_out(self) -> int:
        """Number of damaged rows met so far, in all places; the log names each."""

    async def get(self, key: str) -> Row | None:
        """Return a row; None when it is missing, expired or damaged."""

    async def list(self, prefix: str = "", *, after: str = "", limit: int = 1000) -> RowList:
        """List rows whose key begins with `prefix` and lies behind `after`, sorted by key.

        Raises:
            VrError: INVALID_INPUT, also for a limit below 0.
        """

    async def put(
        self,
        key: str,
        value: Any,
        *,
        expected: int | None = None,
        expires_at: float | None = None,
    ) -> Row:
        """Write one row and return it; the arguments are those of `Put`.

        Raises:
            VrError: as `write`.
        """

    async def delete(self, key: str, *, expected: int | None = None) -> bool:
        """Delete one row; False when there was none.

        Raises:
            VrError: as `write`.
        """

    async def write(self, *changes: RowChange, paid: bool = False) -> RowList:
        """Do all changes or none, and return the rows that were put, in order.

        With `paid` the changes belong to something that was paid for: while there is no room for
        them they are held in memory, and found by reads of this process.

        Raises:
            VrError: CONFLICT, category ROW_CHANGED, when a row has another version than expected;
                TOO_LARGE for a value above 1 MB; INVALID_INPUT for what is no JSON, for a change
                that is no `Put` or `Delete`, and for a version or a time that is no number.
        """


class RowSpace(Protocol):
    """The rows of all places."""

    def of(self, place: Place) -> Rows:
        """Return the rows of one place.

        Raises:
            VrError: INVALID_INPUT for a name with a NUL or a lone surrogate, or too long.
        """


class RowsOf(Protocol):
    """Opens the rows of a place."""

    def __call__(self, namespace: str, workspace: str = "", principal: str = "") -> Rows:
        """Return the rows of one place; see `RowSpace.of`."""


OpenRows = Callable[[], Awaitable[Rows]]
"""Opens the rows of a place that something else must come before."""
