"""Finds stretches of a video that may hold a change, by its key frames alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, pairwise
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeVar

from vr_plugin_video.media.probe import opened
from vr_plugin_video.media.streams import Packets, origin, packet_span, seek
from vr_plugin_video.vision.frames import find_landing, need_video
from vr_plugin_video.vision.likeness import KEY_SEED, difference, find_calm, gray_maker
from vr_plugin_video.vision.transitions import DRIFT, SHARE

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.packet import Packet
    from av.video.stream import VideoStream

    from vr_plugin_video.vision.likeness import Gray, Mask

STEP_S = 1.0
BLOCK = 60
"""Samples in memory at a time, 3.5 MB; restless parts are found within one block."""
QUORUM = 20
"""Fewer samples cannot tell a webcam from slides."""
NEAR_S, FAR_S = 2.5, 12.0
"""Seconds: similar key frames this near hide nothing between them; nor do less near ones,"""
HEAVY = 0.2
"""when no frame between them has this share of a key frame's bytes."""
Tick = Callable[[float], None]
"""Is called with the second of the video that the work has reached."""
T = TypeVar("T")


class Sample(NamedTuple):
    """A small gray picture, its stretch, and the second from which on it is shown."""

    stretch: int
    time: float
    gray: Gray


Timed = TypeVar("Timed", "_Key", Sample)


class Stretch(NamedTuple):
    """A part of a video in seconds, and which pixels are calm around it, None for all."""

    start: float
    end: float
    calm: Mask | None


class Survey(NamedTuple):
    """The stretches that may hold changes, the end of what could be read, and damage."""

    stretches: list[Stretch]
    until: float
    damaged: bool


class _Key(NamedTuple):
    time: float
    gray: Gray
    hidden: bool


class _Keys:
    """Key frames from `start` until past `stop`, at most one a second.

    Each says whether a change may hide between it and the previous one.
    """

    def __init__(
        self, container: InputContainer, video: VideoStream, start: float, stop: float
    ) -> None:
        seek(container, video, find_landing(container, video, start).target)
        self._packets = Packets(container, video)
        self._video = video
        self._zero = origin(container)
        self._stop = stop
        self._hidden: dict[int | None, bool] = {}
        self._gray = gray_maker()
        self.until = start

    @property
    def damaged(self) -> bool:
        """True when some of what was read so far is damaged."""
        return self._packets.damaged

    def __iter__(self) -> Iterator[_Key]:
        last, size, heaviest = -math.inf, 0, 0
        for packet in self._packets:
            time, end = packet_span(packet, self._zero) or (self.until, self.until)
            self.until = max(self.until, end)
            if not packet.is_keyframe or time < last + STEP_S:
                heaviest = max(heaviest, packet.size)
                if time > self._stop + STEP_S:
                    break
                continue
            gap = time - last
            sure = gap <= NEAR_S or (gap <= FAR_S and heaviest < HEAVY * size)
            self._hidden[packet.pts] = not sure
            last, size, heaviest = time, packet.size, 0
            yield from self._decode(packet)
            if time >= self._stop:
                break
        yield from self._decode(None)

    def _decode(self, packet: Packet[VideoStream] | None) -> Iterator[_Key]:
        import av

        with suppress(av.FFmpegError):
            for picture in self._video.codec_context.decode(packet):
                if picture.pts is not None and self._video.time_base is not None:
                    time = float(picture.pts * self._video.time_base) - self._zero
                    hidden = self._hidden.pop(picture.pts, True)
                    yield _Key(time, self._gray(picture), hidden)


def survey(file: BinaryIO, start: float, stop: float, tick: Tick) -> Survey:
    """The stretches that may hold a change, by key frames alone."""
    stretches: list[Stretch] = []
    calm: Mask | None = None
    last: list[_Key] = []
    with opened(file) as container:
        keys = _Keys(container, need_video(container), start, stop)
        for block in blocks(told(keys, tick)):
            seen = last + block
            calm = find_calm_among([(a.gray, b.gray) for a, b in pairwise(seen)], KEY_SEED, calm)
            for begin, end in _suspicious(seen, calm):
                _extend(stretches, Stretch(max(begin, start), min(end, stop), calm))
            last = seen[-1:]
        _extend(stretches, Stretch(max(start, last[0].time if last else start), stop, calm))
        return Survey(stretches, keys.until, keys.damaged)


def _suspicious(keys: Sequence[_Key], calm: Mask | None) -> Iterator[tuple[float, float]]:
    still = keys[0].gray
    for before, after in pairwise(keys):
        if (
            after.hidden
            or difference(before.gray, after.gray, calm) > SHARE
            or difference(still, after.gray, calm) > DRIFT
        ):
            yield before.time, after.time
            still = after.gray


def _extend(stretches: list[Stretch], further: Stretch) -> None:
    if stretches and stretches[-1].end >= further.start:
        stretches[-1] = stretches[-1]._replace(end=max(further.end, stretches[-1].end))
    elif further.start < further.end:
        stretches.append(further)


def blocks(items: Iterable[T]) -> Iterator[list[T]]:
    """Yield the items in lists of `BLOCK`, the last one shorter."""
    rest = iter(items)
    while block := list(islice(rest, BLOCK)):
        yield block


def told(items: Iterable[Timed], tick: Tick) -> Iterator[Timed]:
    """Yield the items, and report each of them."""
    for item in items:
        tick(item.time)
        yield item


def find_calm_among(
    pairs: Sequence[tuple[Gray, Gray]], seed: float, known: Mask | None
) -> Mask | None:
    """Like `find_calm`; returns `known` when there are too few pairs."""
    return find_calm(pairs, seed) if len(pairs) >= QUORUM - 1 else known
