"""Chapters, as people write them into the description of a video."""

from __future__ import annotations

import re
from itertools import pairwise

from vr_plugin_video.media.info import Chapter
from vr_plugin_video.text.plain_text import one_line

LEAST = 3
"""Least number of chapters, by YouTube's own rule."""
TITLE_CHARS = 200
_TIME = re.compile(r"(?<![\d:.])(?:(\d{1,2}):)?(\d{1,3}):([0-5]\d)(?!\d|:\d)")
_MARKS = " \t-–—:|.,()[]{}<>•*·►▶→~_#"  # noqa: RUF001 - the dashes that people write


def parse_chapters(description: str, duration: float = 0.0) -> tuple[Chapter, ...]:
    """Chapters by the times at the beginning or end of lines; `duration` in seconds, 0 unknown.

    As at YouTube, the first is at 0:00, there are three or more, and their times rise; else none.
    """
    starts = [found for line in description.splitlines() if (found := _start(line))]
    zero = next((index for index, (at, _) in enumerate(starts) if at == 0), None)
    if zero is None:
        return ()
    listed = starts[zero:]
    times = [at for at, _ in listed]
    rising = all(earlier < later for earlier, later in pairwise(times))
    if len(listed) < LEAST or not rising or (duration and times[-1] >= duration):
        return ()
    ends = [*times[1:], max(duration, times[-1])]
    return tuple(Chapter(at, end, title) for (at, title), end in zip(listed, ends, strict=True))


def _start(line: str) -> tuple[float, str] | None:
    """The time in seconds that a line begins or ends with, and the rest of it as a title."""
    match = _TIME.search(line)
    if match is None:
        return None
    before, after = line[: match.start()].strip(_MARKS), line[match.end() :].strip(_MARKS)
    if (before and after and not before.isdecimal()) or not (before or after):
        return None
    hours, minutes, seconds = (int(group or 0) for group in match.groups())
    return float(hours * 3600 + minutes * 60 + seconds), one_line(after or before, TITLE_CHARS)
