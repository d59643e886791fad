"""Decodes untrusted bytes into pixels."""

from __future__ import annotations

import struct
from io import BytesIO
from typing import TYPE_CHECKING

from vr_kernel import Code, VrError

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "WEBP")
PIXEL_LIMIT = 40_000_000
"""Most pixels of a picture; an 8K frame has 33 million."""
SHAPE_LIMIT = 50
"""Largest ratio of one side to the other; RapidOCR fails at about 66."""


def decode_picture(data: bytes) -> Image:
    """The upright picture, in colour, with an alpha channel if it has transparent parts.

    Raises:
        VrError: INVALID_INPUT for bytes that are no whole PNG, JPEG or WebP; TOO_LARGE.
    """
    from PIL import Image, ImageOps

    bombs = (Image.DecompressionBombError, Image.DecompressionBombWarning)
    try:
        with Image.open(BytesIO(data), formats=FORMATS) as picture:
            _check_size(*picture.size)
            upright = ImageOps.exif_transpose(picture)
            return upright.convert("RGBA" if upright.has_transparency_data else "RGB")
    except bombs:
        raise _too_large() from None
    except (OSError, SyntaxError, ValueError, EOFError, struct.error) as error:
        raise _unreadable() from error


def _check_size(width: int, height: int) -> None:
    if width * height > PIXEL_LIMIT:
        raise _too_large()
    if max(width, height) > SHAPE_LIMIT * min(width, height):
        raise VrError(
            f"A picture of {width} x {height} pixels is too narrow to be read.",
            Code.INVALID_INPUT,
            category="PICTURE_UNREADABLE",
            hint=f"One side may be {SHAPE_LIMIT} times the other at most.",
        )


def _unreadable() -> VrError:
    return VrError(
        "The bytes are not a whole picture.",
        Code.INVALID_INPUT,
        category="PICTURE_UNREADABLE",
        hint=f"Give one encoded picture: {', '.join(FORMATS)}.",
    )


def _too_large() -> VrError:
    return VrError(
        f"The picture has more than {PIXEL_LIMIT // 1_000_000} million pixels.",
        Code.TOO_LARGE,
        hint="Scale it down; text needs a height of about 12 pixels.",
    )
