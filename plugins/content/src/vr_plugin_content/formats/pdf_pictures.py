"""Pictures of the pages of a PDF, and the pictures that stand on them."""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from itertools import islice
from typing import Any

from vr_plugin_content.formats.parsed import Asked, ParsedPicture, Place
from vr_plugin_content.formats.pdf_alt_texts import alt_texts_of, mark_of
from vr_plugin_content.formats.picture_files import saved

MOST_RENDERED = 200
"""Most pages that are rendered at once."""
MOST_SIDE = 4_000
"""Longest side of a rendered page, in pixels."""
LEAST_SIDE = 32
"""Smaller pictures are rules, bullets and ornaments."""
MOST_OBJECTS = 20_000
"""Most objects of a page that are looked at for pictures."""
DEEPEST_FORM = 4
"""Forms within forms in which pictures are looked for."""
SCAN_SHARE = 0.6
"""A picture that covers more than this share of a page is the page."""
LARGEST_PNG = 2_000_000
"""Pixels above which a picture becomes a JPEG; a PNG would take seconds."""
SHARES_OF_PIXELS = 10
"""All pictures of a document may have this many times the pixels that one may have."""
_GRID = 100_000
"""Steps along each side of a page in which the library gives its places."""
_ERRORS = (RuntimeError, ValueError, OSError, ArithmeticError)
Box = tuple[float, float, float, float]


def shows_something(page: Any) -> bool:
    """True for a page with any object on it."""
    return next(iter(page.get_objects(max_depth=2)), None) is not None


def is_scan(page: Any) -> bool:
    """True for a page that a picture covers."""
    area = page.get_width() * page.get_height()
    boxes = (_box(image, page) for image in _images(page))
    return any(width * height > SCAN_SHARE * area for _, _, width, height in boxes)


def written_pages(pdf: Any, asked: Asked) -> list[ParsedPicture]:
    """Write pictures of the pages that are asked for; a damaged page is left out."""
    wanted = dict.fromkeys(asked.pages or range(1, len(pdf) + 1))
    there = (number for number in wanted if 1 <= number <= len(pdf))
    found = []
    for number in islice(there, MOST_RENDERED):
        with suppress(*_ERRORS), closing(pdf[number - 1]) as page:
            image = page.render(scale=_scale(page, asked)).to_pil()
            found.append(saved(image, asked, f"page-{number}", {"page": number}, "JPEG"))
    return found


def written_pictures(pdf: Any, asked: Asked) -> list[ParsedPicture]:
    """Write the pictures on the pages; one that is repeated, such as a logo, only once."""
    found: list[ParsedPicture] = []
    seen: set[bytes] = set()
    left = SHARES_OF_PIXELS * asked.bounds.pixels
    for number in range(1, min(len(pdf), asked.bounds.pages) + 1):
        with suppress(*_ERRORS), closing(pdf[number - 1]) as page:
            alts: Mapping[int, str] = alt_texts_of(page)
            for image in _images(page):
                if len(found) >= asked.bounds.pictures or left <= 0:
                    return found
                with suppress(*_ERRORS):  # damaged ones are left out
                    if not _is_wanted(image, seen, asked):
                        continue
                    left -= math.prod(image.get_px_size())
                    place = {"page": number, "box": [round(side, 1) for side in _box(image, page)]}
                    name, alt = f"picture-{len(found) + 1}", alts.get(mark_of(image), "")
                    found.append(_written(image, asked, name, place, alt))
    return found


def _scale(page: Any, asked: Asked) -> float:
    """Return pixels per point, so that neither a side nor the whole becomes too large."""
    width, height = (max(float(side), 1.0) for side in page.get_size())
    return min(
        asked.scale,
        (MOST_SIDE - 1) / max(width, height),
        math.sqrt(asked.bounds.pixels / (width * height)),
    )


def _images(page: Any) -> Iterator[Any]:
    import pypdfium2.raw

    for found in islice(page.get_objects(max_depth=DEEPEST_FORM), MOST_OBJECTS):
        if found.type == pypdfium2.raw.FPDF_PAGEOBJ_IMAGE:
            yield found


def _is_wanted(image: Any, seen: set[bytes], asked: Asked) -> bool:
    """True for a picture that is new, not tiny, and not too large to be decoded."""
    width, height = image.get_px_size()
    if min(width, height) < LEAST_SIDE or width * height > asked.bounds.pixels:
        return False
    digest = hashlib.sha256(image.get_data()).digest()
    new = digest not in seen
    seen.add(digest)
    return new


def _box(image: Any, page: Any) -> Box:
    """Return left, top, width and height in points of the page as it is shown."""
    left, bottom, right, top = image.get_bounds()
    corners = [(x, y) for x in (left, right) for y in (bottom, top)]
    form = image.container
    while form is not None:
        matrix = form.get_matrix()
        corners = [matrix.on_point(x, y) for x, y in corners]
        form = form.container
    shown = [_shown(page, x, y) for x, y in corners]
    (lefts, tops), (width, height) = zip(*shown, strict=True), page.get_size()
    start, end = max(min(lefts), 0.0), min(max(lefts), width)
    upper, lower = max(min(tops), 0.0), min(max(tops), height)
    return start, upper, max(end - start, 0.0), max(lower - upper, 0.0)


def _shown(page: Any, x: float, y: float) -> tuple[float, float]:
    """Return a point of the page's own coordinates from the left and the top of what is shown."""
    import ctypes

    import pypdfium2.raw

    across, down = ctypes.c_int(), ctypes.c_int()
    at = (0, 0, _GRID, _GRID, 0, x, y)
    if not pypdfium2.raw.FPDF_PageToDevice(page, *at, across, down):
        raise ValueError("no place on the page")
    return across.value * page.get_width() / _GRID, down.value * page.get_height() / _GRID


def _written(image: Any, asked: Asked, name: str, place: Place, alt: str) -> ParsedPicture:
    content = _photograph(image) if _is_upright(image) else None
    if content is not None and asked.folder is not None:
        (asked.folder / f"{name}.jpg").write_bytes(content)
        return ParsedPicture(f"{name}.jpg", "image/jpeg", place, alt, *image.get_px_size())
    decoded = _decoded(image, asked)
    small = decoded.width * decoded.height <= LARGEST_PNG
    return saved(decoded, asked, name, place, "PNG" if small else "JPEG", alt)


def _is_upright(image: Any) -> bool:
    """True for a picture that is shown as it is stored, neither turned nor mirrored."""
    if image.page.get_rotation() or image.container is not None:
        return False
    across, slant, skew, down, *_ = image.get_matrix().get()
    return bool(across > 0 and down > 0 and max(abs(slant), abs(skew)) < min(across, down) / 100)


def _photograph(image: Any) -> bytes | None:
    """Return a JPEG as it stands in the document; None when it has to be made anew."""
    from PIL import Image

    if image.get_filters() != ["DCTDecode"]:
        return None
    content = bytes(image.get_data())
    with suppress(*_ERRORS), Image.open(io.BytesIO(content), formats=["JPEG"]) as opened:
        if opened.mode in ("L", "RGB") and opened.size == image.get_px_size():
            opened.load()
            return content
    return None


def _decoded(image: Any, asked: Asked) -> Any:
    """Return a picture as it is shown, on white where it is transparent."""
    from PIL import Image

    (width, height), (left, bottom, right, top) = image.get_px_size(), image.get_bounds()
    wide, high = max(right - left, 1e-3), max(top - bottom, 1e-3)
    across, down = (height, width) if (width < height) != (wide < high) else (width, height)
    by = max(across / wide, down / high)
    bounded = by * by * wide * high <= min(asked.bounds.pixels, 4 * width * height)
    shown = image.get_bitmap(render=bounded).to_pil()
    if shown.mode == "RGBA":
        white = Image.new("RGBA", shown.size, "white")
        shown = Image.alpha_composite(white, shown).convert("RGB")
    turned = -image.page.get_rotation()
    return shown.rotate(turned, expand=True) if turned else shown
