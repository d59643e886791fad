"""Checks the pictures given to the program: a whole PNG or JPEG of bounded size, nothing else.

Tesseract would take other bytes for a list of files to open.
"""

from __future__ import annotations

import struct

from vr_kernel import Code, VrError

PIXEL_LIMIT = 40_000_000
"""Most pixels of a picture; an 8K frame has 33 million."""
_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
_MARK = 0xFF
_FRAME_HEADERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers SOF0 to SOF15, by ITU-T T.81 table B.1; the others of that range are tables."""


def check_picture(data: bytes) -> None:
    """Refuse bytes that Tesseract must not get.

    Raises:
        VrError: INVALID_INPUT for anything but a PNG or JPEG, TOO_LARGE for too many pixels.
    """
    try:
        width, height = _png_size(data) if data.startswith(_PNG) else _jpeg_size(data)
    except (struct.error, IndexError):
        raise unreadable() from None
    if width * height > PIXEL_LIMIT:
        raise VrError(
            f"The picture has more than {PIXEL_LIMIT // 1_000_000} million pixels.",
            Code.TOO_LARGE,
            hint="Scale it down; text needs a height of about 20 pixels.",
        )


def unreadable() -> VrError:
    """The error for bytes that are no whole picture."""
    return VrError(
        "The bytes are not a whole picture.",
        Code.INVALID_INPUT,
        category="PICTURE_UNREADABLE",
        hint="Give one encoded picture: PNG or JPEG.",
    )


def _png_size(data: bytes) -> tuple[int, int]:
    if data[12:16] != b"IHDR":
        raise unreadable()
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _jpeg_size(data: bytes) -> tuple[int, int]:
    if not data.startswith(_JPEG):
        raise unreadable()
    place = 2
    while data[place] == _MARK:
        marker = data[place + 1]
        if marker in _FRAME_HEADERS:
            height, width = struct.unpack_from(">HH", data, place + 5)
            return width, height
        # A marker may be preceded by any number of fill bytes.
        place += 1 if marker == _MARK else 2 + struct.unpack_from(">H", data, place + 2)[0]
    raise unreadable()
