"""The window that a command writes to: its width, and what it can show."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

from vr_cli.folding import COLUMNS, columns_of

NARROWEST = 12
"""Fewest columns that are believed; a narrower terminal folds the lines itself."""
WIDEST_TEXT = 100
"""Columns of running text, which nobody reads well in longer lines."""


@dataclass(frozen=True, slots=True)
class Window:
    """A window, and the signs that it can show.

    Attributes:
        width: in columns.
        colour: whether sequences for colours, bold signs and links are understood.
        links: whether links may be opened by a click.
        plain: whether only the signs of ASCII are sure to arrive.
    """

    width: int = COLUMNS
    colour: bool = False
    links: bool = False
    plain: bool = False


def window_of(stream: TextIO, environ: Mapping[str, str] = os.environ) -> Window:
    """Find out what a stream can show; NO_COLOR, FORCE_COLOR, TERM and COLUMNS are obeyed."""
    terminal = stream.isatty()
    dumb = environ.get("TERM", "") in ("dumb", "unknown")
    forced = environ.get("FORCE_COLOR", "0") not in ("", "0")
    coloured = (terminal and not dumb) or forced
    colour = coloured and not environ.get("NO_COLOR")
    encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
    return Window(
        max(columns_of(stream, environ), NARROWEST),
        colour,
        colour and terminal and not dumb,
        not encoding.replace("-", "").startswith("utf"),
    )
