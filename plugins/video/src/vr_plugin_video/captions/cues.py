"""Cues of captions: without markup, each line once, with its speaker where one is named."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Sequence

from vr_plugin_video.captions.speakers import Speakers, mark_voices
from vr_plugin_video.captions.transcripts import Segment, segment_of
from vr_plugin_video.text.plain_text import clean

LONGEST_CUE = 500
"""Characters of one cue; broadcasters allow about 80."""
CUE_LIMIT = 1 << 16
"""Characters of one cue that are read, about an hour of speech: some files have a single cue."""
_TIMING_TAG = re.compile(r"<\d+:[\d:.]+>")
_NOTE_BLOCK = re.compile(r"\n\s*\n(?:NOTE|STYLE|REGION)\b.*", re.DOTALL)
_ROLLING_GAP_S = 0.05
"""Rolling captions repeat a line in the next cue without a pause."""


def parse_captions(text: str, style: str) -> list[Segment]:
    """Segments of SRT or WebVTT text; repeats in rolling captions and markup are dropped."""
    from pysubs2 import SSAFile

    voices = style == "vtt"
    events = SSAFile.from_string(text, format_=style, keep_unknown_html_tags=voices)
    timed = [
        (e.start / 1000, e.end / 1000, mark_voices(e.plaintext) if voices else e.plaintext)
        for e in events
        if not e.is_comment
    ]
    return said_once(timed)


def said_once(events: Sequence[tuple[float, float, str]]) -> list[Segment]:
    """Segments of cues (start, end, text), which may repeat lines of the previous cue."""
    cues = [
        (start, end, _lines(raw)) for start, end, raw in sorted(events, key=lambda event: event[0])
    ]
    speakers = Speakers(line for _, _, lines in cues for line in lines)
    segments: list[Segment] = []
    shown: list[tuple[str, str]] = []
    shown_until = 0.0
    for start, end, lines in cues:
        said = _said(lines, speakers)
        rolling = start - shown_until <= _ROLLING_GAP_S
        fresh = [line for line in said if not (rolling and line in shown)]
        shown, shown_until = said, end
        segments += _pieces(start, end, fresh)
    return segments


def _lines(raw: str) -> list[str]:
    text = html.unescape(_TIMING_TAG.sub("", _NOTE_BLOCK.sub("", raw[:CUE_LIMIT])))
    return [line.strip() for line in text.splitlines() if line.strip()]


def _said(lines: Sequence[str], speakers: Speakers) -> list[tuple[str, str]]:
    """Return the lines of a cue with their speakers; a name counts until the end of the cue."""
    said, speaker = [], ""
    for line in lines:
        named, text = speakers.split(line)
        speaker = speaker if named is None else named
        if text.strip():
            said.append((speaker, text.strip()))
    return said


def _pieces(start: float, end: float, lines: Sequence[tuple[str, str]]) -> list[Segment]:
    """Make a segment for each speaker in a cue, and several for a cue of unusual length."""
    turns: list[tuple[str, str]] = []
    for speaker, text in lines:
        if turns and turns[-1][0] == speaker:
            turns[-1] = (speaker, f"{turns[-1][1]} {text}")
        else:
            turns.append((speaker, text))
    pieces = [
        (speaker, piece)
        for speaker, text in turns
        for piece in textwrap.wrap(clean(text), LONGEST_CUE)
    ]
    step = (end - start) / max(1, len(pieces))
    made = [
        segment_of(start + n * step, start + (n + 1) * step, piece, speaker)
        for n, (speaker, piece) in enumerate(pieces)
    ]
    return [segment for segment in made if segment is not None]
