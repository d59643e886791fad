"""Rows: JSON values that registries and plugins keep, by key, in a place of their own."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, NamedTuple, Protocol, TypeAlias

from vr_kernel.errors import Code, VrError

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
_Found: TypeAlias = list[Row]
_dump = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_read = json.JSONDecoder().raw_decode


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

    async def list(self, prefix: str = "", *, after: str = "", limit: int = 1000) -> _Found:
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

    async def write(self, *changes: RowChange, paid: bool = False) -> _Found:
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


def check_key(key: object) -> str:
    """Return a key that rows can have.

    Raises:
        VrError: INVALID_INPUT for an empty or long one, or one with a NUL or a lone surrogate.
    """
    return _checked(key, "key", least=1)


def check_place(place: Place) -> Place:
    """Return a place that rows can have.

    Raises:
        VrError: INVALID_INPUT, as `check_key`; only the namespace must not be empty.
    """
    _checked(place.namespace, "namespace", least=1)
    _checked(place.workspace, "workspace")
    _checked(place.principal, "principal")
    return place


def dump_value(key: str, value: Any) -> str:
    """Return a value as JSON text.

    Raises:
        VrError: INVALID_INPUT for what is no JSON; TOO_LARGE for more than `MOST_BYTES`.
    """
    try:
        text = _dump(value)
        size = len(text) if text.isascii() else len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise VrError(
            f"The value of row {key!r} is no JSON.",
            Code.INVALID_INPUT,
            hint="Keep texts, finite numbers, booleans, null, lists and objects of those.",
        ) from error
    if size > MOST_BYTES:
        raise VrError(
            f"The value of row {key!r} has {size:,} bytes, more than {MOST_BYTES:,}.",
            Code.TOO_LARGE,
            category="ROW_TOO_LARGE",
            hint="Keep it as an artifact, and the artifact's name in the row.",
        )
    return text


def load(text: str) -> Any:
    """Return the value of JSON text, as `dump_value` writes it.

    Raises:
        ValueError: for what is no JSON.
    """
    value, end = _read(text)
    if end != len(text):
        raise ValueError("there is more behind the value")
    return value


def changed(key: str) -> VrError:
    """Return the error of a write that expected another version."""
    return VrError(
        f"Row {key!r} was changed meanwhile.",
        Code.CONFLICT,
        category=ROW_CHANGED,
        hint="Read it again, and repeat the change on what it has become.",
        retryable=True,
    )


def check_changes(changes: Sequence[RowChange]) -> list[tuple[RowChange, str]]:
    """Return changes with the JSON text of what they put, empty for a deletion.

    Raises:
        VrError: INVALID_INPUT for a change, key, value, version or time that cannot be; TOO_LARGE.
    """
    return [(it, _dumped(it)) for it in changes]


def check_list(prefix: str, after: str, limit: int) -> int:
    """Return the limit of a list of rows.

    Raises:
        VrError: INVALID_INPUT for a prefix or a limit that cannot be.
    """
    _checked(prefix, "prefix")
    _checked(after, "key")
    if not isinstance(limit, int) or limit < 0:
        raise _unfit(f"The limit of a list of rows is {limit!r}", "Give a whole number from 0.")
    return min(limit, sys.maxsize)


def _dumped(change: RowChange) -> str:
    if not isinstance(change, RowChange):
        kind = type(change).__name__
        raise _unfit(f"A change of rows is a Put or a Delete, no {kind}", "Give one or several.")
    below = isinstance(change, Delete) and change.below
    _checked(change.key, "key", least=0 if below else 1)
    if not isinstance(change.expected, int | None):
        raise _unfit(
            f"The expected version of row {change.key!r} is no whole number",
            "Give the `version` of the row that was read, or 0 for none yet.",
        )
    if isinstance(change, Delete):
        return ""
    if not _is_time(change.expires_at):
        raise _unfit(
            f"The time when row {change.key!r} expires is no number",
            "Give seconds since the epoch, such as time.time() + 60.",
        )
    return dump_value(change.key, change.value)


def _is_time(value: object) -> bool:
    if isinstance(value, int):
        return abs(value) < 2**63
    return value is None or (isinstance(value, float) and not isnan(value))


def _unfit(what: str, hint: str) -> VrError:
    return VrError(f"{what}.", Code.INVALID_INPUT, hint=hint)


def _checked(name: object, what: str, *, least: int = 0) -> str:
    if not isinstance(name, str):
        problem = f"is no text but {type(name).__name__}"
    elif not least <= len(name) <= MOST_KEY_CHARS:
        problem = "is empty" if len(name) < least else f"has more than {MOST_KEY_CHARS} characters"
    elif "\0" in name:
        problem = "has a NUL"
    elif not name.isascii() and any("\ud800" <= letter <= "\udfff" for letter in name):
        problem = "has half of a surrogate pair"
    else:
        return name
    raise VrError(
        f"The {what} of a row {problem}.",
        Code.INVALID_INPUT,
        hint=f"A {what} is valid Unicode text of up to {MOST_KEY_CHARS} characters.",
    )
