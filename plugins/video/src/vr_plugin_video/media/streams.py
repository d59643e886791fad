"""The streams of an opened file: found, sought in, read as packets or decoded.

Seconds count from the earliest stream's start, so that sound and pictures stay in step.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.container import InputContainer
    from av.packet import Packet
    from av.stream import Stream
    from av.video.stream import VideoStream

MAX_DURATION = 7 * 24 * 3600.0
"""Longest believable recording in seconds."""
SLACK_S = 1.0
"""Seconds before its stated end at which a whole file may stop."""
TAIL_S = 3.0
"""Seconds of a file that are read to see if its end is there."""
FIRST_FRAME_S = 5.0
"""Processor time for a first frame; an honest file's first packets have one."""
UNMEASURED = frozenset({"aac", "ac3", "eac3", "amr"})
"""Formats that state no duration; the demuxer would guess one from the bit rate."""


def find_video(container: InputContainer) -> VideoStream | None:
    """The first stream of moving pictures that can be decoded; cover art does not count."""
    from av.stream import Disposition

    for stream in container.streams.video:
        context = stream.codec_context
        if context is None or stream.disposition & Disposition.attached_pic:
            continue
        if context.width > 0 and context.height > 0:
            return stream
    return None


def find_audio(container: InputContainer) -> AudioStream | None:
    """The first sound stream that can be decoded."""
    return next((s for s in container.streams.audio if s.codec_context is not None), None)


def timed_streams(container: InputContainer) -> list[VideoStream | AudioStream]:
    """The streams that make up the recording, sound last."""
    found = (find_video(container), find_audio(container))
    return [stream for stream in found if stream is not None]


def origin(container: InputContainer) -> float:
    """The container's own time of second 0; all other times count from it."""
    return (container.start_time or 0) / 1_000_000


class Packets:
    """Packets from the present position to the end of what is readable, to be iterated once.

    `damaged` tells afterwards whether some were broken; those are left out.
    """

    def __init__(self, container: InputContainer, *streams: Stream) -> None:
        self._container = container
        self._streams = streams
        self.damaged = False

    def __iter__(self) -> Iterator[Packet[Any]]:
        import av

        try:
            for packet in self._container.demux(*self._streams):
                if packet.is_corrupt:
                    self.damaged = True
                elif packet.size:
                    yield packet
        except av.FFmpegError:
            self.damaged = True


def decode_stream(container: InputContainer, stream: VideoStream | AudioStream) -> Iterator[Any]:
    """Decoded frames from the present position on; what is damaged is left out."""
    import av

    for packet in Packets(container, stream):
        with suppress(av.FFmpegError):
            yield from packet.decode()
    with suppress(av.FFmpegError):
        yield from stream.codec_context.decode(None)


def decodable(container: InputContainer) -> list[VideoStream | AudioStream]:
    """Return the timed streams of which a frame can be decoded from the present position on.

    It stops at the first stream that has one: where pictures can be decoded, sound may stay
    untried.
    """
    import av

    streams = timed_streams(container)
    found: list[VideoStream | AudioStream] = []
    end = time.thread_time() + FIRST_FRAME_S
    for packet in Packets(container, *streams):
        with suppress(av.FFmpegError):
            if packet.stream not in found and packet.decode():
                found.append(packet.stream)
        if streams[0] in found or time.thread_time() > end:
            break
    for stream in streams:
        with suppress(av.FFmpegError):
            if stream not in found and stream.codec_context.decode(None):
                found.append(stream)
    return found


def packet_span(packet: Packet[Any], zero: float) -> tuple[float, float] | None:
    """Return start and end of a packet in seconds; None when it has no believable time."""
    stamp = packet.dts if packet.pts is None else packet.pts
    if stamp is None or not packet.time_base:
        return None
    start = float(stamp * packet.time_base) - zero
    end = start + float(max(0, packet.duration or 0) * packet.time_base)
    return (start, end) if start >= -MAX_DURATION and end <= MAX_DURATION else None


def seek(container: InputContainer, stream: Stream, seconds: float, *, exact: bool = False) -> None:
    """Go to the last key frame at or before a time, or to the packet itself when `exact`.

    Where the format cannot seek, go to the start.
    """
    import av

    base = stream.time_base
    target = min(seconds, MAX_DURATION) + origin(container)
    offset = int(target / base) if base else 0
    try:
        container.seek(offset, stream=stream, any_frame=exact)
    except av.FFmpegError:
        rewind(container)


def rewind(container: InputContainer) -> None:
    """Go to the first packet."""
    import av

    start = container.start_time or 0
    for target in (
        start - 1_000_000,
        start,
    ):  # some formats land late, others refuse early times
        with suppress(av.FFmpegError):
            container.seek(target, any_frame=True)
            return


def measure(container: InputContainer) -> tuple[float, bool]:
    """Duration in seconds, and whether the file is whole; moves the position."""
    stated = (container.duration or 0) / 1_000_000
    if container.format.name in UNMEASURED or not 0 < stated <= MAX_DURATION:
        rewind(container)
        last, whole = _last_end(container)
        return max(last, 0.0), whole
    seek(container, timed_streams(container)[-1], max(0.0, stated - TAIL_S), exact=True)
    last, whole = _last_end(container)
    if whole and last <= 0:  # the stated end lies far beyond the last packet
        rewind(container)
        last, whole = _last_end(container)
    offset = origin(container)
    if offset > SLACK_S and abs(last + offset - stated) < SLACK_S:  # Matroska counts from 0
        stated -= offset
    return stated, whole and last >= stated - SLACK_S


def _last_end(container: InputContainer) -> tuple[float, bool]:
    """Read on to the last packet; return its end in seconds, and True if all packets were whole."""
    zero = origin(container)
    found = Packets(container, *timed_streams(container))
    spans = (packet_span(packet, zero) for packet in found)
    last = max((span[1] for span in spans if span), default=0.0)
    return last, not found.damaged
