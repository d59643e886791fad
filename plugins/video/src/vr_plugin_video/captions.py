"""Captions as text: read, cleaned of marks, and each line said once."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Sequence

from vr_plugin_video.plain_text import clean
from vr_plugin_video.transcripts import Segment, segment_of

LONGEST_CUE = 500
"""Characters of one cue; broadcasters allow about 80."""
CUE_LIMIT = 1 << 16
"""What is read of one cue, about an hour of speech: some files hold all of it in one."""
_TIMING_TAG = re.compile(r"<\d+:[\d:.]+>")
_NOTE_BLOCK = re.compile(r"\n\s*\n(?:NOTE|STYLE|REGION)\b.*", re.DOTALL)
_ROLLING_GAP_S = 0.05
"""Rolling captions repeat a line in the next cue without a pause."""


def parse_captions(text: str, style: str) -> list[Segment]:
    """Segments of SRT or WebVTT text; rolling captions are said once, marks are dropped."""
    from pysubs2 import SSAFile

    events = SSAFile.from_string(text, format_=style)
    timed = [(e.start / 1000, e.end / 1000, e.plaintext) for e in events if not e.is_comment]
    return said_once(timed)


def said_once(events: Sequence[tuple[float, float, str]]) -> list[Segment]:
    """Segments of cues (start, end, text), which may repeat lines of the cue before."""
    segments: list[Segment] = []
    shown: list[str] = []
    shown_until = 0.0
    for start, end, raw in sorted(events, key=lambda event: event[0]):
        text = html.unescape(_TIMING_TAG.sub("", _NOTE_BLOCK.sub("", raw[:CUE_LIMIT])))
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        rolling = start - shown_until <= _ROLLING_GAP_S
        fresh = [line for line in lines if not (rolling and line in shown)]
        shown, shown_until = lines, end
        segments += _pieces(start, end, " ".join(fresh))
    return segments


def _pieces(start: float, end: float, text: str) -> list[Segment]:
    """One segment, or several for a cue longer than any that is read on a screen."""
    pieces = textwrap.wrap(clean(text), LONGEST_CUE) or [""]
    step = (end - start) / len(pieces)
    made = [
        segment_of(start + n * step, start + (n + 1) * step, piece)
        for n, piece in enumerate(pieces)
    ]
    return [segment for segment in made if segment is not None]
