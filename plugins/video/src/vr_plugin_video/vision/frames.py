"""Frames of a video: the one shown at a given time, and all of a stretch."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple

from vr_plugin_video.media.probe import no_stream, opened
from vr_plugin_video.media.streams import (
    MAX_DURATION,
    Packets,
    decode_stream,
    find_video,
    measure,
    origin,
    packet_span,
    seek,
)

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

EPSILON = 0.001
"""Seconds within which times are the same, as containers round them."""
BACK_OFF = (0.0, 5.0, 20.0, 60.0)
"""Seconds by which to seek earlier, where a format lands between key frames."""
DEFAULT_RATE = 25.0
JPEG_QUALITY = 90
QUARTER = 90
"""Degrees by which phones store pictures rotated."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture as PNG or JPEG bytes, and from which second on the video shows it."""

    time: float
    image: bytes
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A decoded picture that is on screen from `time` until `until`, for one of the stretches."""

    stretch: int
    time: float
    until: float
    picture: VideoFrame


class Landing(NamedTuple):
    """A time to seek to, and the time of the key frame found there."""

    target: float
    key: float


def grab_frames(
    file: BinaryIO,
    times: Sequence[float],
    *,
    width: int | None = None,
    format: Literal["png", "jpeg"] = "jpeg",  # noqa: A002 - the word for it in every library
) -> list[Frame]:
    """The picture on screen at each time in seconds, earliest first.

    Only times past the readable end are left out.

    Args:
        file: an opened media file.
        times: in any order.
        width: pictures are scaled down to this many pixels; they are never enlarged.
        format: how pictures are encoded.

    Raises:
        VrError: as `media.opened`; UNSUPPORTED for a file without pictures.
    """
    wanted = sorted(max(0.0, time) for time in times)
    with opened(file) as container:
        video = need_video(container)
        # Frame threads decode ahead, which is wasted before the next seek.
        video.thread_type = "SLICE"
        frames: list[Frame] = []
        late: list[tuple[float, Frame]] = []
        last: Shown | None = None
        for shown in walk(container, video, [(time, time) for time in wanted]):
            if last is None or shown.time != last.time:
                frame = _encode(shown, width, format)
            last = shown
            if wanted[shown.stretch] < shown.until + EPSILON:
                frames.append(frame)
            else:
                late.append((wanted[shown.stretch], frame))
        return frames + _repeated(container, late)


def need_video(container: InputContainer) -> VideoStream:
    """The video stream, set up for fast decoding.

    Raises:
        VrError: UNSUPPORTED when there is none.
    """
    video = find_video(container)
    if video is None:
        raise no_stream("pictures")
    video.thread_type = "AUTO"
    return video


def walk(
    container: InputContainer, video: VideoStream, stretches: Sequence[tuple[float, float]]
) -> Iterator[Shown]:
    """Yield every picture shown during each stretch, decoding no key frame interval twice.

    The first one of a stretch is on screen at its start. Stretches ascend and do not overlap.
    """
    landings = [find_landing(container, video, start) for start, _ in stretches]
    frames: Iterator[tuple[float, VideoFrame]] = iter(())
    now = ahead = None
    for number, (start, end) in enumerate(stretches):
        target, key = landings[number]
        if now is None or key > now[0]:
            seek(container, video, target)
            frames = decode(container, video)
            now, ahead = next(frames, None), next(frames, None)
        while ahead is not None and ahead[0] <= start + EPSILON:
            now, ahead = ahead, next(frames, None)
        while now is not None:
            yield Shown(number, now[0], ahead[0] if ahead else _end(*now), now[1])
            if ahead is None or ahead[0] > end + EPSILON:
                break
            now, ahead = ahead, next(frames, None)


def decode(container: InputContainer, video: VideoStream) -> Iterator[tuple[float, VideoFrame]]:
    """Pictures from the present position on, with rising times in seconds.

    What is damaged is left out; a missing or backward time follows the one before it.
    """
    zero = origin(container)
    base = video.time_base or Fraction(1)
    step = 1 / float(video.average_rate or DEFAULT_RATE)
    last: float | None = None
    for picture in decode_stream(container, video):
        stamp = picture.dts if picture.pts is None else picture.pts
        time = None if stamp is None else float(stamp * base) - zero
        if time is None or abs(time) > MAX_DURATION or (last is not None and time <= last):
            time = 0.0 if last is None else last + step
        last = time
        yield time, picture


def find_landing(container: InputContainer, video: VideoStream, time: float) -> Landing:
    """Find where to begin decoding for the picture at `time`; moves the position.

    Where nothing more can be read, the key frame's time is infinity.
    """
    empty = True
    for back in BACK_OFF:
        seek(container, video, time - back)
        key, met = _next_key(container, video)
        empty = empty and not met
        if key is not None and (key <= time + EPSILON or time < back):
            return Landing(time - back, key)
    return Landing(time, math.inf) if empty else Landing(-BACK_OFF[-1], 0.0)


def _next_key(container: InputContainer, video: VideoStream) -> tuple[float | None, bool]:
    """The time of the next key frame, and whether there are any packets."""
    zero = origin(container)
    met = False
    for packet in Packets(container, video):
        met = True
        if packet.is_keyframe:
            span = packet_span(packet, zero)
            return (span[0] if span else 0.0), met
    return None, met


def _end(time: float, picture: VideoFrame) -> float:
    return time + float(max(0, picture.duration or 0) * (picture.time_base or 0))


def _repeated(container: InputContainer, late: Sequence[tuple[float, Frame]]) -> list[Frame]:
    """Yield the last picture again for later times, as a complete file shows it until its end."""
    if not late:
        return []
    duration, whole = measure(container)
    return [frame for time, frame in late if whole and time <= duration + EPSILON]


def _encode(shown: Shown, width: int | None, form: Literal["png", "jpeg"]) -> Frame:
    from PIL import Image

    picture = shown.picture
    turns = round(picture.rotation / QUARTER) % 4
    size = picture.width, picture.height
    wide, tall = size[::-1] if turns % 2 else size
    if width is not None and width < wide:
        wide, tall = max(1, width), max(1, round(tall * width / wide))
    lying = (tall, wide) if turns % 2 else (wide, tall)
    scaled = picture.reformat(*lying, format="rgb24", interpolation="AREA")
    image = Image.fromarray(scaled.to_ndarray())
    if turns:
        image = image.transpose(Image.Transpose[f"ROTATE_{turns * QUARTER}"])
    buffer = io.BytesIO()
    if form == "png":
        image.save(buffer, "PNG")
    else:
        image.save(buffer, "JPEG", quality=JPEG_QUALITY)
    return Frame(max(0.0, shown.time), buffer.getvalue(), wide, tall)
