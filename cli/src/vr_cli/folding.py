"""Folds texts for people between words, where they are printed at a terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TextIO

COLUMNS = 80
"""Columns where the width is not known."""
WIDEST, MOST_DIGITS = 10_000, 9
"""Most columns that are believed, and the digits of their number that are read."""
LEAST_WIDTH = 30
"""Width of folded text, in characters; a narrower terminal folds it itself."""
BELOW = "    "
"""Before a text that stands below its head, as there is no room beside it."""
_COMMAND = re.compile("`[^`]+`")
_KEPT = "\0"


def columns_of(stream: TextIO, environ: Mapping[str, str] = os.environ) -> int:
    """The width of the terminal that a stream is; `COLUMNS` is obeyed."""
    given = environ.get("COLUMNS", "")
    if given.isdecimal() and (columns := int(given[:MOST_DIGITS])):
        return min(columns, WIDEST)
    with suppress(OSError, ValueError, AttributeError):
        return os.get_terminal_size(stream.fileno()).columns or COLUMNS
    return COLUMNS


def folded(head: str, text: str, stream: TextIO | None = None) -> list[str]:
    """A text after a head: folded for a terminal, on one line where there is none.

    A command between backquotes stays on one line where it has room there: it may be copied.

    Args:
        head: stands before the text, or above it where the terminal is narrow.
        text: on one line.
        stream: that it is printed on; stdout when left out.
    """
    stream = stream or sys.stdout
    if not stream.isatty():
        return [head + text]
    columns = max(columns_of(stream), LEAST_WIDTH)
    if columns - len(head) >= LEAST_WIDTH:
        lines = _wrapped(text, columns - len(head)) or [""]
        return [f"{' ' * len(head) if number else head}{it}" for number, it in enumerate(lines)]
    above = [head.rstrip()] if head.strip() else []
    return [*above, *(f"{BELOW}{it}" for it in _wrapped(text, columns - len(BELOW)))]


def _wrapped(text: str, width: int) -> list[str]:
    import textwrap

    def kept_whole(found: re.Match[str]) -> str:
        return found[0].replace(" ", _KEPT) if len(found[0]) < width else found[0]

    kept = _COMMAND.sub(kept_whole, text)
    lines = textwrap.wrap(kept, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace(_KEPT, " ") for line in lines]
