"""Pictures as items of embedders and rerankers, checked by their first bytes."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass, field
from struct import unpack_from

from vr_kernel.errors import Code, VrError

MOST_BYTES = 10_000_000
"""Largest encoded picture; in base64 it fits into a request of 20 MB, which services take."""
MOST_PIXELS = 40_000_000
"""Most pixels of a picture; an 8K frame has 33 million."""
JPEG_SEGMENTS = 1000
"""Segments of a JPEG in which its size is looked for; a colour profile may take 255."""
_FRAMES = frozenset(range(0xFFC0, 0xFFD0)) - {0xFFC4, 0xFFC8, 0xFFCC}
"""Markers of JPEG segments that begin with the size of the picture."""
_FILL = 0xFFFF
_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


@dataclass(frozen=True, slots=True)
class Picture:
    """An encoded PNG, JPEG, WebP or GIF.

    It holds bytes, not a path: its vector is kept by the digest of just these bytes, even when
    the file is changed meanwhile, and a provider need not be allowed to read the user's files.

    Args:
        data: the encoded picture, at most 10 MB and 40 million pixels.
        mime: its media type; read from the bytes when left out.

    Raises:
        VrError: INVALID_INPUT, category PICTURE_UNREADABLE, for bytes that are no such picture, or
            of another type than `mime` says; TOO_LARGE for too many bytes or pixels.
    """

    data: bytes = field(repr=False)
    mime: str = ""

    def __post_init__(self) -> None:
        """Check the bytes; only their beginning is read, nothing is decoded."""
        if len(self.data) > MOST_BYTES:
            raise _too_large(f"{len(self.data):,} bytes; at most {MOST_BYTES:,} are taken")
        found = _type_of(self.data)
        if self.mime not in ("", found):
            raise _unreadable(f"It was said to be {self.mime}, but is {found}.")
        width, height = _size_of(self.data, found)
        if width * height > MOST_PIXELS:
            raise _too_large(f"{width} x {height} pixels; at most {MOST_PIXELS:,} are taken")
        object.__setattr__(self, "mime", found)

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()


def _type_of(data: bytes) -> str:
    for beginning, mime in _BEGINNINGS.items():
        if data.startswith(beginning):
            return mime
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    raise _unreadable("It is empty." if not data else "It is no PNG, JPEG, WebP or GIF.")


def _size_of(data: bytes, mime: str) -> tuple[int, int]:
    """Width and height as the header says; both are at least 1."""
    try:
        if mime == "image/png":
            size = unpack_from(">II", data, 16) if data[12:16] == b"IHDR" else (0, 0)
        elif mime == "image/gif":
            size = unpack_from("<HH", data, 6)
        elif mime == "image/jpeg":
            size = _jpeg_size(data)
        else:
            size = _webp_size(data)
    except struct.error:
        size = (0, 0)
    if not all(size):
        raise _unreadable("Its header does not tell its size.")
    return size[0], size[1]


def _jpeg_size(data: bytes) -> tuple[int, ...]:
    place = 2
    for _ in range(JPEG_SEGMENTS):
        marker, length = unpack_from(">HH", data, place)
        if marker in _FRAMES:
            return unpack_from(">HH", data, place + 5)[::-1]
        place += 1 if marker == _FILL else 2 + length  # a segment may begin with fill bytes
    return 0, 0


def _webp_size(data: bytes) -> tuple[int, ...]:
    form = data[12:16]
    if form == b"VP8 ":
        width, height = unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    if form == b"VP8L":
        (bits,) = unpack_from("<I", data, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    low_width, high_width, low_height, high_height = unpack_from("<HBHB", data, 24)
    return (high_width << 16 | low_width) + 1, (high_height << 16 | low_height) + 1


def _unreadable(problem: str) -> VrError:
    return VrError(
        f"This is not a picture that can be taken. {problem}",
        Code.INVALID_INPUT,
        category="PICTURE_UNREADABLE",
        hint="Give one whole PNG, JPEG, WebP or GIF.",
    )


def _too_large(measure: str) -> VrError:
    return VrError(
        f"The picture has {measure}.",
        Code.TOO_LARGE,
        category="PICTURE_TOO_LARGE",
        hint="Scale it down: models look at about 1,000 pixels a side.",
    )
