"""Pictures: a page without words, which a recogniser or a model looks at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from vr_plugin_content.formats.kinds import KINDS, suffix_of
from vr_plugin_content.formats.parsed import Asked, Parsed, ParsedPicture, ParseError, damaged
from vr_plugin_content.formats.picture_files import saved

MOST_SIDE = 4_000
"""Longest side of what is handed on, in pixels; a larger picture is made smaller."""
FORMATS = ("PNG", "JPEG", "GIF", "WEBP")


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Check that a picture can be decoded; its text is read by a recogniser.

    Raises:
        ParseError: PICTURE_TOO_LARGE; DOCUMENT_DAMAGED.
    """
    with _opened(file, asked) as image:
        image.load()
    mime = next(kind.mime for kind in KINDS if suffix_of(asked.name) in kind.suffixes)
    return Parsed(mime, wordless=[1], pages=1)


def render(file: BinaryIO, asked: Asked) -> list[ParsedPicture]:
    """Write the picture, upright and of its first frame, into the folder of the task.

    Its place is the box that it covers in pixels of the original.

    Raises:
        ParseError: as `parse`.
    """
    from PIL import ImageOps

    with _opened(file, asked) as image:
        upright = ImageOps.exif_transpose(image)
        box = [0, 0, upright.width, upright.height]
        if max(upright.size) > MOST_SIDE:
            upright.thumbnail((MOST_SIDE, MOST_SIDE))
        return [saved(upright, asked, "page-1", {"page": 1, "box": box}, "PNG")]


@contextmanager
def _opened(file: BinaryIO, asked: Asked) -> Iterator[Any]:
    from PIL import Image, UnidentifiedImageError

    try:
        image = Image.open(file, formats=FORMATS)
        if image.width * image.height > asked.bounds.pixels:
            raise _too_large(image.width, image.height)
        yield image
    except ParseError:
        raise
    except Image.DecompressionBombError:
        raise _too_large(0, 0) from None
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError):
        raise damaged("a picture") from None


def _too_large(width: int, height: int) -> ParseError:
    size = f"{width:,} x {height:,} pixels" if width else "too many pixels"
    message, hint = f"The picture has {size}.", "Make it smaller, at most 100 million pixels."
    return ParseError("PICTURE_TOO_LARGE", message, hint, "TOO_LARGE")
