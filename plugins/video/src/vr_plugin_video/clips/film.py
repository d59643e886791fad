"""Clips as films (mp4) and as sound (mp3)."""

from __future__ import annotations

import heapq
import io
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from vr_plugin_video.clips.output import Output, find_encoder, nothing_there
from vr_plugin_video.clips.pictures import Canvas, Fit, Picture, pictures_of
from vr_plugin_video.clips.request import ClipRequest, WrittenClip
from vr_plugin_video.clips.sound import RATE, layout_of, sound_of
from vr_plugin_video.media.probe import opened
from vr_plugin_video.media.samples import need_audio
from vr_plugin_video.vision.frames import DEFAULT_RATE

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.packet import Packet

FULL_HD = Fit(1920, 1080, even=True)
CLOCK = Fraction(1, 60_000)
"""Time base of pictures; MPEG-4 takes no finer one than 1/65535 s."""
BITS_PER_PIXEL = 0.1
"""Bit rate for encoders that take no quality setting."""
SOUND_BITS = 128_000
KEY_FRAME_S = 2
X264 = {"preset": "veryfast", "crf": "20"}


def write_film(request: ClipRequest) -> WrittenClip:
    """Write an mp4 of H.264 and AAC, of at most 1080p, that begins and ends where it should."""
    with ExitStack() as stack:
        seen = stack.enter_context(opened(_own_position(request.file)))
        pictures = pictures_of(seen, request)
        first = next(pictures, None)
        if first is None:
            raise nothing_there()
        canvas = Canvas(seen, first, FULL_HD, "yuv420p")
        output = stack.enter_context(Output(request, "mp4", movflags="+faststart"))
        film = _Film(request, output, canvas)
        tracks = [film.packets(chain([first], pictures))]
        if request.media.has_audio:
            heard = stack.enter_context(opened(_own_position(request.file)))
            tracks.append(_sound_packets(request, output, heard, "aac"))
        for packet in heapq.merge(*tracks, key=_time):
            output.mux(packet)
    return WrittenClip("video/mp4", film.until, canvas.width, canvas.height)


def write_sound(request: ClipRequest) -> WrittenClip:
    """Write an mp3, or a wave file where no encoder for mp3 is there."""
    encoder = find_encoder("libmp3lame", "libshine", "pcm_s16le")
    wave = encoder == "pcm_s16le"
    silent = True
    with opened(request.file) as heard, Output(request, "wav" if wave else "mp3") as output:
        for packet in _sound_packets(request, output, heard, encoder):
            silent = False
            output.mux(packet)
        if silent:
            raise nothing_there()
    return WrittenClip("audio/x-wav" if wave else "audio/mpeg", request.end)


class _Film:
    """Encodes the pictures of a film."""

    def __init__(self, request: ClipRequest, output: Output, canvas: Canvas) -> None:
        self._order = request
        self._canvas = canvas
        self._fps = request.media.fps or DEFAULT_RATE
        self.until = 0.0
        self._last = -1
        name = find_encoder("libx264", "libopenh264", "mpeg4")
        rate = Fraction(self._fps).limit_denominator(1001)
        stream = output.add(name, rate=rate, options=X264 if name == "libx264" else {})
        stream.width, stream.height, stream.pix_fmt = canvas.width, canvas.height, "yuv420p"
        stream.codec_context.time_base = CLOCK
        stream.gop_size = max(1, round(self._fps * KEY_FRAME_S))
        if name != "libx264":
            pixels = canvas.width * canvas.height * self._fps
            stream.bit_rate = round(pixels * BITS_PER_PIXEL)
        self._stream = stream

    def packets(self, pictures: Iterator[Picture]) -> Iterator[Packet[Any]]:
        """The pictures, encoded; the last one is repeated where it stays on screen for long."""
        for picture in pictures:
            last = picture
            yield from self._encode(picture)
        self.until = last.until
        closing = last.until - 1 / self._fps
        if closing > last.time + 1 / self._fps:
            yield from self._encode(replace(last, time=closing))
        yield from self._stream.encode(None)

    def _encode(self, picture: Picture) -> list[Packet[Any]]:
        frame = self._canvas.draw(picture.frame)
        frame.time_base = CLOCK
        # Pictures closer than a tick would have the same time, which no container allows.
        self._last = max(self._last + 1, round((picture.time - self._order.start) / CLOCK))
        frame.pts = self._last
        frame.duration = round((picture.until - picture.time) / CLOCK)
        packets: list[Packet[Any]] = self._stream.encode(frame)
        return packets


def _sound_packets(
    request: ClipRequest, output: Output, heard: InputContainer, encoder: str
) -> Iterator[Packet[Any]]:
    source = need_audio(heard)
    stream = output.add(encoder, rate=RATE, layout=layout_of(source))
    if not encoder.startswith("pcm"):
        stream.bit_rate = SOUND_BITS
    return _encoded(request, stream, heard, source)


def _encoded(
    request: ClipRequest, stream: Any, heard: InputContainer, source: Any
) -> Iterator[Any]:
    for frame in sound_of(heard, source, request):
        yield from stream.encode(frame)
    yield from stream.encode(None)


def _time(packet: Packet[Any]) -> float:
    stamp = packet.pts if packet.dts is None else packet.dts
    return float((stamp or 0) * (packet.time_base or 0))


def _own_position(file: BinaryIO) -> BinaryIO:
    return cast("BinaryIO", _OwnPosition(file))


class _OwnPosition:
    """A file object with its own position in a file that several readers share by turns."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._at = 0

    def read(self, size: int = -1) -> bytes:
        self._file.seek(self._at)
        data = self._file.read(size)
        self._at += len(data)
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_CUR:
            offset, whence = offset + self._at, io.SEEK_SET
        self._at = self._file.seek(offset, whence)
        return self._at

    def tell(self) -> int:
        return self._at
