"""Pictures: a page without words, which a recogniser or a model looks at."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, Literal

from vr_plugin_content.formats.encodings import blank
from vr_plugin_content.formats.parsed import Asked, Parsed, ParsedPicture, ParseError, damaged
from vr_plugin_content.formats.picture_files import saved

MOST_SIDE = 4_000
"""Longest side of what is handed on, in pixels; a larger picture is made smaller."""
FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
BRIGHT = 160
"""Mean brightness above which what is drawn on nothing needs a dark ground."""
_MIMES = {"PNG": "image/png", "GIF": "image/gif", "WEBP": "image/webp"}
_ORIENTATION = 0x0112  # of Exif; from 5 on, a camera was held upright and width is height
_SIDEWAYS = 5


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Check that a picture can be decoded; its text is read by a recogniser.

    Raises:
        ParseError: PICTURE_TOO_LARGE; DOCUMENT_EMPTY; DOCUMENT_DAMAGED.
    """
    with _opened(file, asked) as image:
        image.load()
        moves = getattr(image, "is_animated", False) and image.format != "JPEG"
        limits = ["It is an animation, of which the first picture is read."] if moves else []
        mime = _MIMES.get(image.format, "image/jpeg")  # a phone's JPEG with two pictures is an MPO
        return Parsed(mime, wordless=[1], pages=1, limits=limits)


def render(file: BinaryIO, asked: Asked) -> list[ParsedPicture]:
    """Write the picture, upright and of its first frame, into the folder of the task.

    Its place is page 1, and the box that it covers in pixels of the original held upright: with
    its width, boxes in what is written are scaled back.

    Raises:
        ParseError: as `parse`.
    """
    with _opened(file, asked) as image:
        width, height = _upright_size(image)
        form: Literal["JPEG", "PNG"] = "PNG" if image.format in _MIMES else "JPEG"
        small = _bounded(image)
        place = {"page": 1, "box": [0, 0, width, height]}
        return [saved(_on_ground(_upright(small)), asked, "page-1", place, form)]


@contextmanager
def _opened(file: BinaryIO, asked: Asked) -> Iterator[Any]:
    from PIL import Image, UnidentifiedImageError

    if not file.read(1):
        raise blank()
    file.seek(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the size is checked here
            image = Image.open(file, formats=FORMATS)
            if image.width * image.height > asked.bounds.pixels:
                raise _too_large(f"{image.width:,} x {image.height:,} px", asked)
            yield image
    except Image.DecompressionBombError:
        raise _too_large("too many pixels", asked) from None
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError):
        raise damaged("a picture") from None


def _bounded(image: Any) -> Any:
    if image.mode == "P":  # a palette cannot be made smaller
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    image.thumbnail((MOST_SIDE, MOST_SIDE))
    return image


def _upright(image: Any) -> Any:
    from PIL import ImageOps

    with suppress(Exception):  # what a camera noted may be damaged; the picture is whole
        return ImageOps.exif_transpose(image)
    return image


def _upright_size(image: Any) -> tuple[int, int]:
    width, height = image.size
    with suppress(Exception):
        if _SIDEWAYS <= image.getexif().get(_ORIENTATION, 1) < _SIDEWAYS + 4:
            return height, width
    return width, height


def _on_ground(image: Any) -> Any:
    """Put a picture with transparent parts on white, or on black when what it shows is bright."""
    from PIL import Image, ImageStat

    if "A" not in image.getbands() and "transparency" not in image.info:
        return image
    shown = image.convert("RGBA")
    drawn = shown.getchannel("A").point(lambda alpha: 255 * (alpha > 0))
    if not drawn.getbbox():
        return shown.convert("RGB")
    bright = ImageStat.Stat(shown.convert("L"), drawn).mean[0] > BRIGHT
    ground = Image.new("RGBA", shown.size, "black" if bright else "white")
    return Image.alpha_composite(ground, shown).convert("RGB")


def _too_large(size: str, asked: Asked) -> ParseError:
    message = f"The picture is too large to be read: {size}."
    hint = f"Make it smaller, at most {asked.bounds.pixels // 1_000_000} million pixels."
    return ParseError("PICTURE_TOO_LARGE", message, hint, "TOO_LARGE")
