"""The views of all records about one source as one view: one player, one transcript."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from vr_kernel.views.blocks import Block, Media, Pictures, Transcript
from vr_kernel.views.model import View

_LONE = (Media, Transcript, Pictures)
"""Blocks that a page has once, pictures once under a heading: the first of a kind stays."""


def joined(views: Sequence[View], title: str, source: str) -> View:
    """Join the views of one source: that of the film first, the others in order, no heading twice.

    Args:
        views: at least one.
        title: of the source; that of the first view when it is empty.
        source: its address or path.
    """
    views = sorted(views, key=lambda view: not any(isinstance(it, Media) for it in view.blocks))
    title = title or views[0].title
    notes = dict.fromkeys(note for view in views for note in view.notes)
    return View(title, list(_blocks(views, title)), views[0].about, source, list(notes))


def _blocks(views: Sequence[View], of: str) -> Iterator[Block]:
    seen = {of}
    lone: set[tuple[type[Block], str]] = set()
    for number, view in enumerate(views):
        for position, block in enumerate(view.blocks):
            kept = (type(block), block.title if isinstance(block, Pictures) else "")
            if isinstance(block, _LONE) and kept in lone:
                continue
            lone.add(kept)
            title = block.title
            if number and position == 0 and not title and view.title != of:
                title = view.title
            title = _fresh(title, view.title, seen)
            named = replace(block, title=title) if title != block.title else block
            # Its start is of one record, while this is of all.
            yield replace(named, start=None) if isinstance(named, Media) else named


def _fresh(title: str, of: str, seen: set[str]) -> str:
    """A heading that no block before has; it names its view when it would come twice."""
    if not title:
        return ""
    wanted, number = title, 2
    if wanted in seen and of != title:
        wanted = f"{title}: {of}"
    named = wanted
    while wanted in seen:
        wanted, number = f"{named} (no. {number} of this name)", number + 1
    seen.add(wanted)
    return wanted
