"""Checks of rows: names, versions and times that can be, and values as JSON text."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from math import isnan
from typing import Any

from vr_kernel.errors import Code, VrError
from vr_kernel.isolation.previewing import refuse_in_preview
from vr_kernel.state.rows import (
    MOST_BYTES,
    MOST_KEY_CHARS,
    ROW_CHANGED,
    Delete,
    Place,
    RowChange,
)

_dump = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_read = json.JSONDecoder().raw_decode


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
        VrError: INVALID_INPUT for a change, key, value, version or time that cannot be; TOO_LARGE;
            UNAVAILABLE, category PREVIEWED, within a preview.
    """
    if changes:
        refuse_in_preview("write rows")
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
