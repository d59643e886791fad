"""The outline of a PDF: its bookmarks that lead to a page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from vr_plugin_content.formats.parsed import OutlineEntry

MOST_HEADINGS = 5_000
DEEPEST_HEADING = 15
HEADING_CHARS = 300


def outline_of(pdf: Any) -> Iterator[OutlineEntry]:
    """Return the headings in order; those that lead nowhere are left out.

    The library ends a walk that would go round in circles.
    """
    pages = len(pdf)
    for mark in islice(pdf.get_toc(max_depth=DEEPEST_HEADING), MOST_HEADINGS):
        with suppress(RuntimeError, ValueError, KeyError):  # a damaged entry costs itself alone
            target = mark.get_dest()
            index = target.get_index() if target is not None else None
            title = " ".join((mark.get_title() or "").replace("\0", " ").split())
            if title and index is not None and 0 <= index < pages:
                place = {"page": index + 1}
                yield OutlineEntry(title[:HEADING_CHARS], mark.level + 1, place)
