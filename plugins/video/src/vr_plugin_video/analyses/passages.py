"""Passages of speech, long enough to be found by a question."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from vr_plugin_video.analyses.outline import Part
from vr_plugin_video.captions.transcripts import Segment, named

LONGEST_S = 40.0
LONGEST_CHARS = 400


def passages(segments: Sequence[Segment], boundaries: Sequence[float]) -> list[Segment]:
    """Segments joined up to 40 s and 400 characters, never across a boundary (seconds).

    The text names the speaker where the speaker changes.
    """
    joined: list[Segment] = []
    section = -1
    for segment, words in zip(segments, named(segments), strict=True):
        own = bisect_right(boundaries, _middle(segment))
        last = joined[-1] if joined else None
        if last is not None and own == section and _fits(last, segment.end, words):
            text = f"{last.text} {words}"
            joined[-1] = Segment(start=last.start, end=max(last.end, segment.end), text=text)
        else:
            joined.append(Segment(start=segment.start, end=segment.end, text=words))
        section = own
    return joined


def title_at(parts: Sequence[Part], segment: Segment) -> str:
    """The title of the part that a segment is said in, empty when there is none."""
    middle = _middle(segment)
    return next((part.title for part in parts if part.start <= middle < part.end), "")


def _middle(segment: Segment) -> float:
    return (segment.start + segment.end) / 2


def _fits(last: Segment, end: float, words: str) -> bool:
    return end - last.start <= LONGEST_S and len(last.text) + 1 + len(words) <= LONGEST_CHARS
