"""Times as people write them, and the part of a video that a call is about."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from vr_kernel import Code, VrError

SECONDS_PER_MINUTE = 60
SECONDS_PER_HOUR = 3600
SLACK_S = 1.0
"""Seconds by which an end may lie past the end of the video, as containers round durations."""
_CLOCK = re.compile(r"(?:(?:(\d{1,3}):)?(\d{1,3}):)?(\d{1,7}(?:\.\d{1,6})?)")
_HINT = "Give seconds, such as 93 or 93.5, or a time such as 1:33 or 01:02:33."


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a video that is asked for, in seconds; `end` None is the video's end."""

    start: float = 0.0
    end: float | None = None

    @property
    def is_whole(self) -> bool:
        """True for the whole video."""
        return self.start <= 0 and self.end is None

    def of(self, duration: float) -> Window:
        """The same part of a video of that duration, without an end that is the video's own."""
        ends = self.end is not None and self.end >= duration
        return replace(self, end=None) if ends else self

    def within(self, duration: float) -> tuple[float, float]:
        """Start and end in a video of that duration in seconds.

        Raises:
            VrError: INVALID_INPUT when the window lies outside the video.
        """
        end = duration if self.end is None else self.end
        late = []
        if self.start >= duration:
            late.append(f"start ({format_time(self.start)})")
        if end > duration + SLACK_S:
            late.append(f"end ({format_time(end)})")
        if late:
            raise VrError(
                f"Outside the video: {' and '.join(late)}.",
                Code.INVALID_INPUT,
                category="TIME_OUTSIDE_VIDEO",
                hint=f"It lasts {format_time(duration)} ({duration:.1f} seconds).",
            )
        return self.start, min(end, duration)


def parse_time(value: float | str, name: str) -> float:
    """Seconds, from a number or `ss`, `mm:ss`, `hh:mm:ss`, with or without decimals.

    Raises:
        VrError: INVALID_INPUT, naming the argument.
    """
    if isinstance(value, str):
        match = _CLOCK.fullmatch(value.strip())
        hours, minutes, seconds = match.groups() if match else (None, None, "nan")
        value = (
            int(hours or 0) * SECONDS_PER_HOUR
            + int(minutes or 0) * SECONDS_PER_MINUTE
            + float(seconds)
        )
    if not math.isfinite(value) or value < 0:
        raise VrError(
            f"{name} is not a time.", Code.INVALID_INPUT, category="TIME_INVALID", hint=_HINT
        )
    return float(value)


def parse_window(start: float | str | None, end: float | str | None) -> Window:
    """The part of a video between two times, either of which may be left out.

    Raises:
        VrError: INVALID_INPUT for a malformed time, and for an end that is not after the start.
    """
    first = 0.0 if start is None else parse_time(start, "start")
    last = None if end is None else parse_time(end, "end")
    if last is not None and last <= first:
        raise VrError(
            f"end ({format_time(last)}) is not after start ({format_time(first)}).",
            Code.INVALID_INPUT,
            category="TIME_REVERSED",
            hint="Exchange start and end, or leave out end for the rest of the video.",
        )
    return Window(first, last)


def format_time(seconds: float) -> str:
    """A time as `00:47`, from one hour on as `1:02:03`; fractions are cut."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, SECONDS_PER_MINUTE)
    if whole < SECONDS_PER_HOUR:
        return f"{minutes:02d}:{rest:02d}"
    hours, minutes = divmod(minutes, SECONDS_PER_MINUTE)
    return f"{hours}:{minutes:02d}:{rest:02d}"
