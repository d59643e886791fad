"""PDF: the text of each page, its outline, pictures of pages, and the pictures on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from vr_plugin_content.formats.parsed import (
    Asked,
    OutlineEntry,
    Parsed,
    ParsedPicture,
    ParseError,
    Piece,
    TextBudget,
    damaged,
)
from vr_plugin_content.formats.picture_files import saved

MIME = "application/pdf"
MOST_HEADINGS = 5_000
DEEPEST_HEADING = 15
LEAST_WORDS = 3
"""A page with fewer characters has no text worth the name."""
MOST_RENDERED = 200
"""Most pages that are rendered at once."""
MOST_SIDE = 4_000
"""Longest side of a rendered page, in pixels."""
LEAST_SIDE = 32
"""Smaller pictures are rules, bullets and ornaments."""
MOST_OBJECTS = 10_000
"""Most objects of a page that are looked at for pictures."""
NO_TITLES = frozenset({"untitled", "(anonymous)", "(unspecified)", "unknown"})
"""Titles that programs write for want of one."""
_SPACES = re.compile(r"[ \t]+(?=\n|\Z)")
_HYPHEN = re.compile("[\u00ad\ufffe]\r?\n?")


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Read the text of each page.

    Raises:
        ParseError: PASSWORD_NEEDED, PASSWORD_WRONG; DOCUMENT_DAMAGED.
    """
    with _opened(file, asked) as pdf:
        budget, pages = TextBudget(asked.bounds), len(pdf)
        found = Parsed(MIME, _title(pdf), pages=pages)
        for number in range(1, min(pages, asked.bounds.pages) + 1):
            with _page(pdf, number) as page:
                text = budget.take(_text(page))
                if text.strip():
                    found.pieces.append(Piece(text, {"page": number}))
                if len(text.strip()) < LEAST_WORDS and _shows_something(page):
                    found.wordless.append(number)
            if budget.left <= 0:
                break
        found.outline = list(_outline(pdf, pages))
        if pages > asked.bounds.pages:
            found.limits.append(f"Only {asked.bounds.pages:,} of {pages:,} pages; see max_pages.")
        found.limits += budget.limits
        return found


def render(file: BinaryIO, asked: Asked) -> list[ParsedPicture]:
    """Write pictures of pages into the folder of the task.

    Raises:
        ParseError: as `parse`.
    """
    with _opened(file, asked) as pdf:
        wanted = asked.pages or tuple(range(1, len(pdf) + 1))
        there = [number for number in wanted if 1 <= number <= len(pdf)]
        return [_rendered(pdf, number, asked) for number in there[:MOST_RENDERED]]


def pictures(file: BinaryIO, asked: Asked) -> list[ParsedPicture]:
    """Write the pictures on the pages into the folder of the task.

    Raises:
        ParseError: as `parse`.
    """
    found: list[ParsedPicture] = []
    with _opened(file, asked) as pdf:
        for number in range(1, min(len(pdf), asked.bounds.pages) + 1):
            with _page(pdf, number) as page:
                for image in _images(page):
                    if len(found) == asked.bounds.pictures:
                        return found
                    with suppress(ValueError, OSError, RuntimeError):  # damaged ones are left out
                        found += _written(image, page, number, len(found), asked)
    return found


@contextmanager
def _opened(file: BinaryIO, asked: Asked) -> Iterator[Any]:
    import pypdfium2

    try:
        pdf = pypdfium2.PdfDocument(file, password=asked.password or None, autoclose=False)
    except pypdfium2.PdfiumError as error:
        raise _refused(error, asked) from None
    try:
        if len(pdf) == 0:
            raise damaged("PDF")
        yield pdf
    except pypdfium2.PdfiumError:
        raise damaged("PDF") from None
    finally:
        pdf.close()


@contextmanager
def _page(pdf: Any, number: int) -> Iterator[Any]:
    page = pdf[number - 1]
    try:
        yield page
    finally:
        page.close()


def _text(page: Any) -> str:
    words = page.get_textpage()
    try:
        text = words.get_text_range()
    finally:
        words.close()
    joined = _HYPHEN.sub("", text).replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return _SPACES.sub("", joined).strip("\n")


def _shows_something(page: Any) -> bool:
    return next(iter(page.get_objects(max_depth=2)), None) is not None


def _title(pdf: Any) -> str:
    with suppress(Exception):  # a title is worth no failure
        title = str(pdf.get_metadata_value("Title")).strip("\0 ")
        return "" if title.lower() in NO_TITLES else title
    return ""


def _outline(pdf: Any, pages: int) -> Iterator[OutlineEntry]:
    for at, mark in enumerate(pdf.get_toc(max_depth=DEEPEST_HEADING)):
        if at == MOST_HEADINGS:
            return
        target = mark.get_dest()
        index = target.get_index() if target is not None else None
        title = " ".join((mark.get_title() or "").split())
        if title and index is not None and 0 <= index < pages:
            yield OutlineEntry(title, mark.level + 1, {"page": index + 1})


def _rendered(pdf: Any, number: int, asked: Asked) -> ParsedPicture:
    with _page(pdf, number) as page:
        width, height = page.get_size()
        longest = max(width, height, 1.0)
        scale = min(asked.scale, MOST_SIDE / longest)
        image = page.render(scale=scale).to_pil()
        return saved(image, asked, f"page-{number}", {"page": number}, "JPEG")


def _images(page: Any) -> Iterator[Any]:
    import pypdfium2.raw

    kinds = (pypdfium2.raw.FPDF_PAGEOBJ_IMAGE,)
    for at, found in enumerate(page.get_objects(filter=kinds, max_depth=3)):
        if at == MOST_OBJECTS:
            return
        yield found


def _written(
    image: Any, page: Any, number: int, count: int, asked: Asked
) -> Iterator[ParsedPicture]:
    """Write a picture; nothing for one that is tiny, or too large to be decoded."""
    width, height = image.get_px_size()
    if min(width, height) < LEAST_SIDE or width * height > asked.bounds.pixels:
        return
    left, bottom, right, top = image.get_bounds()
    box = [left, page.get_height() - top, right - left, top - bottom]
    place = {"page": number, "box": [round(float(each), 1) for each in box]}
    decoded = image.get_bitmap(render=False).to_pil()
    yield saved(decoded, asked, f"picture-{count + 1}", place, "PNG")


def _refused(error: Exception, asked: Asked) -> ParseError:
    if "password" not in str(error).lower():
        return damaged("PDF")
    hint = "Give its password as password; it is kept nowhere."
    if asked.password:
        message = "The password does not open this document."
        return ParseError("PASSWORD_WRONG", message, hint, "AUTH")
    message = "This document is protected by a password."
    return ParseError("PASSWORD_NEEDED", message, hint, "AUTH")
