"""Rows of SQLite files that may be damaged: read without errors, and checked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

read_text = partial(str, encoding="utf-8", errors="surrogateescape")
"""A `text_factory` that never fails: bytes that are not UTF-8 become lone surrogates."""


def is_sound(row: Sequence[Any], types: Sequence[type | tuple[type, ...]]) -> bool:
    """True when every value of a row has its type, and every text is valid."""
    return all(
        isinstance(value, wanted) and (not isinstance(value, str) or is_text(value))
        for value, wanted in zip(row, types, strict=True)
    )


def is_text(value: str) -> bool:
    """True for a text without bytes that `read_text` could not decode."""
    return value.isascii() or not any("\udc80" <= letter <= "\udcff" for letter in value)


def shown_key(key: object) -> str:
    """A row's key for a message: long parts are cut, damaged ones are not shown."""
    parts = key if isinstance(key, tuple) else (key,)
    return " / ".join(str(part)[:200] if is_text(str(part)) else "(damaged)" for part in parts)
