"""Recognised words joined to sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from vr_plugin_video.captions.transcripts import Segment, segment_of

LONGEST_SENTENCE_S = 20.0
SENTENCE_PAUSE_S = 1.5
_SENTENCE_ENDS = tuple(".?!。？！")  # noqa: RUF001 - full-width marks end sentences too


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it was heard, with its leading space; times in seconds."""

    start: float
    end: float
    text: str


def sentences(words: Sequence[Word]) -> list[Segment]:
    """Words joined up to full stops, pauses, or 20 seconds."""
    groups: list[list[Word]] = [[]]
    for word, following in zip_longest(words, words[1:]):
        groups[-1].append(word)
        if following is None:
            break
        ended = word.text.rstrip().endswith(_SENTENCE_ENDS)
        paused = following.start - word.end > SENTENCE_PAUSE_S
        if ended or paused or following.end - groups[-1][0].start > LONGEST_SENTENCE_S:
            groups.append([])
    made = [
        segment_of(group[0].start, group[-1].end, "".join(word.text for word in group))
        for group in groups
        if group
    ]
    return [segment for segment in made if segment is not None]
