"""Windows of a video: the longest for one call of a model, and the cuts of a longer video."""

from __future__ import annotations

import math
from collections.abc import Sequence

from vr_plugin_video.arguments import MediaResolution
from vr_plugin_video.text.times import Window

FRAME_TOKENS = {"low": 66, "medium": 258, "high": 280}
"""Tokens a frame. Source: "Video understanding" and "Media resolution" of the Gemini API; newer
models take fewer, so that windows by these numbers are never too long."""
DEFAULT_FRAME_TOKENS = 258
SOUND_TOKENS = 32
"""Tokens for a second of sound. Same source."""
DEFAULT_FPS = 1.0
OVERLAP_S = 10.0
"""Seconds that two windows share, so that no sentence is cut."""
SHIFT = 0.1
"""Distance by which a cut may move to the start of a chapter, as a share of a window."""
SHORTEST_S = 60.0
"""Shortest window, whatever is configured."""


def tokens_a_second(
    fps: float | None, resolution: MediaResolution | None, *, pictures: bool = True
) -> float:
    """Return the tokens a model needs for a second of media; without `pictures` it listens."""
    frame = FRAME_TOKENS[resolution] if resolution else DEFAULT_FRAME_TOKENS
    return SOUND_TOKENS + (frame * (fps or DEFAULT_FPS) if pictures else 0.0)


def longest_window(tokens: int, rate: float, longest_s: float = 0.0) -> float:
    """The most seconds of a video that go into one call.

    Args:
        tokens: of media that one call may have.
        rate: tokens per second of this media.
        longest_s: replaces the length by tokens, when it is not 0.
    """
    return max(SHORTEST_S, longest_s or tokens / rate)


def cut_windows(
    start: float, end: float, longest: float, chapters: Sequence[float] = ()
) -> list[Window]:
    """Windows of about equal length, none above `longest`; each overlaps the next one.

    A part that fits is one window. Cuts lie whole seconds after `start`. They depend only on the
    video itself, so that work repeated after a crash asks for the same windows.

    Args:
        start: where the wanted part begins, in seconds.
        end: where it ends; infinity when that is not known, which is one window.
        longest: in seconds, more than twice the overlap.
        chapters: when chapters begin, in seconds; a cut moves to a near one.
    """
    if math.isinf(end) or end - start <= longest:
        return [Window(start, None if math.isinf(end) else end)]
    span, room = end - start - OVERLAP_S, math.floor(longest - OVERLAP_S)
    count = math.ceil(span / room)
    step = span / count
    begins = [math.floor(chapter - start) for chapter in chapters]
    cuts = [0]
    for number in range(1, count):
        wanted = step * number
        # The rest has to fit into the remaining windows.
        first = max(cuts[-1] + 1, math.ceil(span - room * (count - number)))
        last = cuts[-1] + room
        near = [(abs(at - wanted), at) for at in begins if first <= at <= last]
        distance, best = min(near, default=(math.inf, 0))
        best = best if distance <= step * SHIFT else round(wanted)
        cuts.append(min(max(best, first), last))
    ends = [start + cut + OVERLAP_S for cut in cuts[1:]] + [end]
    return [Window(start + cut, until) for cut, until in zip(cuts, ends, strict=True)]
