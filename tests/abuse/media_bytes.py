"""Media files by hand: containers that say what no muxer would write."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterable
from functools import cache

SIZE = (160, 120)
_EBML = "1a45dfa3"
UNKNOWN_SIZE = b"\x01" + b"\xff" * 7


def element(name: str, content: bytes | int, size: bytes | None = None) -> bytes:
    """One element of Matroska; `size` is what it says of itself when that is not true."""
    body = content if isinstance(content, bytes) else content.to_bytes(8, "big")
    stated = size or b"\x01" + len(body).to_bytes(7, "big")
    return bytes.fromhex(name) + stated + body


def matroska(
    *,
    tracks: bytes,
    blocks: Iterable[bytes] = (),
    scale: int = 1_000_000,
    duration: float = 1000.0,
    more: bytes = b"",
) -> bytes:
    """A Matroska file of one cluster; `scale` in nanoseconds a unit, `duration` in units."""
    head = element(_EBML, element("4282", b"matroska") + element("4287", 4) + element("4285", 2))
    info = element("2ad7b1", scale) + element("4489", struct.pack(">d", duration))
    cluster = element("1f43b675", element("e7", 0) + b"".join(element("a3", b) for b in blocks))
    segment = element("1549a966", info) + element("1654ae6b", tracks) + more + cluster
    return head + element("18538067", segment)


def block(track: int, time: int, content: bytes) -> bytes:
    """A block of a track, which is a key frame."""
    return bytes([0x80 | track]) + struct.pack(">hB", time, 0x80) + content


def picture_track(
    number: int = 1, *, size: tuple[int, int] = SIZE, codec: bytes = b"V_MJPEG", frame_ns: int = 0
) -> bytes:
    """A track of pictures."""
    rate = element("23e383", frame_ns) if frame_ns else b""
    inner = element("e0", element("b0", size[0]) + element("ba", size[1]))
    return _track(number, 1, codec, rate + inner)


def sound_track(number: int = 1, *, rate: float = 8000.0, channels: int = 1) -> bytes:
    """A track of uncompressed sound."""
    inner = element("b5", struct.pack(">d", rate)) + element("9f", channels) + element("6264", 16)
    return _track(number, 2, b"A_PCM/INT/LIT", element("e1", inner))


def subtitle_track(number: int = 2) -> bytes:
    """A track of text."""
    return _track(number, 0x11, b"S_TEXT/UTF8", b"")


def chapters(marks: Iterable[tuple[int, int, bytes]]) -> bytes:
    """Chapters of start, end in nanoseconds, and title."""
    atoms = b"".join(
        element(
            "b6",
            element("73c4", number)
            + element("91", start)
            + element("92", end)
            + element("80", element("85", title) + element("437c", b"eng")),
        )
        for number, (start, end, title) in enumerate(marks, 1)
    )
    return element("1043a770", element("45b9", atoms))


def titled(title: bytes) -> bytes:
    """The tag that names the whole file."""
    simple = element("67c8", element("45a3", b"TITLE") + element("4487", title))
    return element("1254c367", element("7373", element("63c0", b"") + simple))


def png(width: int, height: int) -> bytes:
    """A PNG that announces a size, and holds a single row of it at most."""

    def chunk(name: bytes, content: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(name + content))
        return struct.pack(">I", len(content)) + name + content + check

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    body = zlib.compress(bytes(1000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def gif(width: int, height: int, frames: int) -> bytes:
    """A GIF of many frames that announce that size each."""
    screen = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes(6)
    frame = b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02\x02\x4c\x01\x00"
    return screen + frame * frames + b";"


def wave(
    samples: bytes, *, channels: int = 1, rate: int = 8000, stated: int | None = None
) -> bytes:
    """A wave file of 16 bits a sample; `stated` is the size it claims."""
    size = len(samples) if stated is None else stated
    head = struct.pack(
        "<HHIIHH",
        1,
        channels,
        rate,
        (rate * channels * 2) & 0xFFFFFFFF,
        (channels * 2) & 0xFFFF,
        16,
    )
    body = b"WAVEfmt " + struct.pack("<I", 16) + head + b"data" + struct.pack("<I", size) + samples
    return b"RIFF" + struct.pack("<I", min(size + 36, 0xFFFFFFFF)) + body


@cache
def jpeg() -> bytes:
    """A small grey picture."""
    from PIL import Image

    target = io.BytesIO()
    Image.new("L", SIZE, 128).save(target, "JPEG")
    return target.getvalue()


@cache
def encoded(form: str, codec: str) -> bytes:
    """Two seconds of noise that a real muxer wrote, in a container and codec."""
    import av
    import numpy as np

    noise = np.random.default_rng(7)
    target = io.BytesIO()
    with av.open(target, "w", format=form) as output:
        if codec in ("mp3", "aac"):
            _add_sound(output, codec)
        else:
            stream = output.add_stream(codec, rate=5)
            stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
            for _ in range(10):
                pixels = noise.integers(0, 255, (SIZE[1], SIZE[0], 3), np.uint8)
                output.mux(stream.encode(av.VideoFrame.from_ndarray(pixels)))
            output.mux(stream.encode(None))
    return target.getvalue()


def _add_sound(output: object, codec: str) -> None:
    import av
    import numpy as np

    stream = output.add_stream(codec, rate=16000)
    for number in range(30):
        samples = np.full((1, 1152 if codec == "mp3" else 1024), number, np.int16)
        frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
        frame.sample_rate = 16000
        output.mux(stream.encode(frame))
    output.mux(stream.encode(None))


def patched(content: bytes, box: bytes, at: int, value: bytes, which: int = 0) -> bytes:
    """An MP4 with bytes of one of its boxes changed, counted from behind the box's name."""
    place = -1
    for _ in range(which + 1):
        place = content.index(box, place + 1)
    start = place + len(box) + at
    return content[:start] + value + content[start + len(value) :]


def _track(number: int, kind: int, codec: bytes, more: bytes) -> bytes:
    ids = element("d7", number) + element("73c5", number) + element("83", kind)
    return element("ae", ids + element("86", codec) + more)
