"""Lasting changes of the picture: slides, scenes, bullets that appear.

Key frames, which are cheap, tell which stretches may hold a change. Only those are decoded and
sampled once a second; each change found is then timed to the frame. Parts that always move, such as
a webcam, are ignored. Film is experimental: only its cuts count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, BinaryIO

from vr_plugin_video.media.info import MediaInfo
from vr_plugin_video.media.probe import opened
from vr_plugin_video.vision.frames import EPSILON, Shown, need_video, walk
from vr_plugin_video.vision.likeness import SEED, gray_maker
from vr_plugin_video.vision.survey import (
    BLOCK,
    STEP_S,
    Sample,
    Stretch,
    Tick,
    blocks,
    find_calm_among,
    survey,
    told,
)
from vr_plugin_video.vision.transitions import (
    HOLD_S,
    REVERT_S,
    Transition,
    TransitionDetector,
    locate,
)

if TYPE_CHECKING:
    from av.container import InputContainer

    from vr_plugin_video.vision.likeness import Gray, Mask

FAST_FPS = 20.0
"""From this frame rate on, frames that no other frame refers to are not decoded."""
FRAMES = 150
"""Most frames that are compared to time one change."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The times in seconds at which slides or scenes begin; the first is the start of the search.

    `complete` is False when the video could be read only up to `looked_until`, or not wholly.
    """

    times: tuple[float, ...]
    complete: bool
    looked_until: float


def find_changes(
    file: BinaryIO,
    media: MediaInfo,
    *,
    start: float = 0.0,
    end: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> Changes:
    """Find every lasting change of the picture between two times in seconds.

    A transition counts once, a flash not at all. A change is timed to the first frame of the new
    picture, or the middle of a fade. Memory does not grow with the duration.

    Args:
        file: an opened media file.
        media: the result of `media.probe`.
        start: where to begin.
        end: where to stop; the end of the video when left out.
        progress: is called at each picture with the share that is done, from 0 to 1; what it raises
            ends the search.

    Raises:
        VrError: as `media.opened`; UNSUPPORTED for a file without pictures.
    """
    stop = media.duration if end is None else min(end, media.duration)
    first, second, third = (
        _tick(progress, (start, stop), *part) for part in ((0.0, 0.3), (0.3, 0.8), (0.8, 1.0))
    )
    seen = survey(file, start, stop, first)
    found = _watch(file, seen.stretches, stop, second)
    times = _date(file, found, start, third)
    complete = not seen.damaged and (media.complete or seen.until >= stop - HOLD_S)
    until = stop if complete else max(start, min(stop, seen.until))
    return Changes((start, *times), complete, until)


def _watch(
    file: BinaryIO, stretches: Sequence[Stretch], stop: float, tick: Tick
) -> list[Transition]:
    """The transitions inside the stretches, by one picture a second."""
    watch = TransitionDetector()
    calm: Mask | None = None
    counted: Mask | None = None
    pairs: list[tuple[Gray, Gray]] = []
    last: list[Sample] = []
    with opened(file) as container:
        for block in blocks(told(_samples(container, stretches), tick)):
            seen = last + block
            pairs += [
                (a.gray, b.gray)
                for a, b in pairwise(seen)
                if a.stretch == b.stretch and a.gray is not b.gray
            ]
            pairs = pairs[-BLOCK:]
            calm = find_calm_among(pairs, SEED, calm)
            for sample in block:
                counted = stretches[sample.stretch].calm if calm is None else calm
                if last and last[0].stretch != sample.stretch:
                    watch.leave(counted, at_end=False)
                watch.see(sample.time, sample.gray, counted)
                last = [sample]
    at_end = not stretches or stretches[-1].end >= stop - EPSILON
    watch.leave(counted, at_end=at_end)
    return watch.found


def _samples(container: InputContainer, stretches: Sequence[Stretch]) -> Iterator[Sample]:
    """Yield a picture per second of each stretch, and its last one; a lasting one comes twice."""
    video = need_video(container)
    if float(video.average_rate or 0) >= FAST_FPS:
        video.codec_context.skip_frame = "NONREF"
    gray = gray_maker()
    last: Shown | None = None
    for shown in walk(container, video, [(s.start, s.end) for s in stretches]):
        number = shown.stretch
        end = stretches[number].end
        due = last is None or number != last.stretch or shown.time >= last.time + STEP_S - EPSILON
        if due or shown.until > end + EPSILON:
            last = shown
            sample = Sample(number, shown.time, gray(shown.picture))
            yield sample
            if min(shown.until, end) >= shown.time + 2 * STEP_S:
                yield sample._replace(time=min(shown.until, end))


def _date(
    file: BinaryIO, transitions: Sequence[Transition], start: float, tick: Tick
) -> list[float]:
    """Return the times at which new pictures begin; interruptions are left out."""
    times: list[float] = []
    with opened(file) as container:
        for transition, frames in _close_ups(container, transitions):
            tick(transition.after)
            time = locate(transition, frames)
            if time is None or time < start + HOLD_S:
                continue
            if transition.reverts and times and time - times[-1] < REVERT_S:
                times.pop()
            elif not times or time > times[-1]:
                times.append(time)
    return times


def _close_ups(
    container: InputContainer, transitions: Sequence[Transition]
) -> Iterator[tuple[Transition, list[tuple[float, Gray]]]]:
    """Transitions with the frames around them, evenly thinned out where there are many."""
    gray = gray_maker()
    pictures = walk(container, need_video(container), [(t.before, t.after) for t in transitions])
    for number, group in groupby(pictures, key=lambda shown: shown.stretch):
        before, after = transitions[number][:2]
        frames: list[tuple[float, Gray]] = []
        for shown in group:
            spaced = not frames or shown.time >= frames[-1][0] + (after - before) / FRAMES
            if spaced or shown.until > after + EPSILON:
                frames.append((shown.time, gray(shown.picture)))
        yield transitions[number], frames


def _tick(
    progress: Callable[[float], None] | None, span: tuple[float, float], low: float, high: float
) -> Tick:
    """Progress of one pass, which takes the share done from `low` to `high`."""
    length = max(span[1] - span[0], EPSILON)

    def tick(time: float) -> None:
        if progress is not None:
            progress(low + (high - low) * min(1.0, max(0.0, (time - span[0]) / length)))

    return tick
