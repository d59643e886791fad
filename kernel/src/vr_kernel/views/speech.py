"""Words that are said, in paragraphs as they are read."""

from __future__ import annotations

from collections.abc import Sequence

from vr_kernel.views.blocks import Line

PAUSE_S = 2.0
"""Seconds of silence that end a paragraph."""
MOST_CHARS = 600
"""Characters of a paragraph, unless a single line has more."""


def said_together(lines: Sequence[Line]) -> list[tuple[Line, ...]]:
    """Lines in paragraphs; one ends at a pause, at another speaker, or when it becomes long."""
    groups: list[list[Line]] = []
    chars = 0
    for line in lines:
        last = groups[-1][-1] if groups else None
        chars += len(line.text)
        paused = last is None or line.start - last.end >= PAUSE_S
        if last is None or paused or chars > MOST_CHARS or last.speaker != line.speaker:
            groups.append([])
            chars = len(line.text)
        groups[-1].append(line)
    return [tuple(group) for group in groups]
