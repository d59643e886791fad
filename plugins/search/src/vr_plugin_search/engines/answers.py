"""Values of answers, whatever they are: a service may send anything anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any

TEXT_CHARS = 20_000
"""Longest text that is looked at; what is kept is cut further."""
MOST_ROWS = 500
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_LAST_YEAR = 2200


def at(value: Any, *path: str) -> Any:
    """The value at a path of names; None where there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def text(value: Any, *path: str) -> str:
    """The text at a path; empty for anything else."""
    found = at(value, *path)
    return found[:TEXT_CHARS] if isinstance(found, str) else ""


def number(value: Any, *path: str) -> int | None:
    """The whole number at a path; None for anything else."""
    found = at(value, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def year(value: Any, *path: str) -> int | None:
    """The year at a path; None for anything else."""
    found = number(value, *path)
    return found if found is not None and 0 < found < _LAST_YEAR else None


def truth(value: Any, *path: str) -> bool | None:
    """The truth value at a path; None for anything else."""
    found = at(value, *path)
    return found if isinstance(found, bool) else None


def rows(value: Any, *path: str) -> Iterator[Mapping[str, Any]]:
    """The objects of the list at a path; nothing for anything else."""
    found = at(value, *path)
    for each in found[:MOST_ROWS] if isinstance(found, list) else ():
        if isinstance(each, Mapping):
            yield each


def texts(value: Any, *path: str) -> list[str]:
    """The texts of the list at a path."""
    found = at(value, *path)
    listed = found[:MOST_ROWS] if isinstance(found, list) else ()
    return [each[:TEXT_CHARS] for each in listed if isinstance(each, str)]


def day(value: Any, *path: str) -> date | None:
    """The day of a date or a time in ISO 8601 at a path; None for anything else."""
    found = text(value, *path).strip()
    if not _DAY.match(found):
        return None
    try:
        return datetime.fromisoformat(found).date()
    except ValueError:
        return _first_ten(found)


def _first_ten(said: str) -> date | None:
    try:
        return date.fromisoformat(said[:10])
    except ValueError:
        return None
