"""Documents of offices and e-books: sections by heading, presentations slide by slide."""

from __future__ import annotations

import asyncio
import re
from typing import Any, BinaryIO

from vr_plugin_content.formats.encodings import blank
from vr_plugin_content.formats.kinds import KINDS, suffix_of
from vr_plugin_content.formats.markdown_sections import LARGEST, pieces_of, unescaped
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

SLIDES = frozenset({".pptx", ".pptm", ".odp", ".ppt"})
LEAST_SIDE = 32
_PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_HEADING = re.compile(r"^#{1,6}\s+(.+)$", re.MULTILINE)
_SUFFIXES = {"jpeg": "jpg", "tiff": "tif"}


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Read a document.

    Raises:
        ParseError: EXTRA_MISSING; PASSWORD_NEEDED; DOCUMENT_DAMAGED; DOCUMENT_EMPTY.
    """
    found = _extracted(file, asked, pictures=False)
    suffix, budget = suffix_of(asked.name), TextBudget(asked.bounds)
    mime = next(kind.mime for kind in KINDS if suffix in kind.suffixes)
    title = " ".join((found.metadata.title or "").split())
    if suffix in SLIDES and found.pages:
        pieces, outline = _slides(found.pages, budget)
    else:
        pieces, outline = pieces_of(
            _clean(found.content[:LARGEST]), title or asked.name, budget, None
        )
    if not pieces:
        raise blank()
    limits = budget.limits
    if len(found.content) > LARGEST:
        limits = [f"Only its first {LARGEST:,} characters were read."]
    if suffix not in SLIDES:
        title = title or (outline[0].text if outline else "")
    return Parsed(mime, title, pieces, outline, limits=limits)


def pictures(file: BinaryIO, asked: Asked) -> list[ParsedPicture]:
    """Write the pictures of a document into the folder of the task.

    Raises:
        ParseError: as `parse`.
    """
    found = _extracted(file, asked, pictures=True)
    on_slides = suffix_of(asked.name) in SLIDES
    assert asked.folder is not None
    written: list[ParsedPicture] = []
    for image in (found.images or [])[: asked.bounds.pictures]:
        if (
            not image.data
            or min(image.width or LEAST_SIDE, image.height or LEAST_SIDE) < LEAST_SIDE
        ):
            continue
        form = image.format.lower()
        name = f"picture-{len(written) + 1}.{_SUFFIXES.get(form, form)}"
        (asked.folder / name).write_bytes(bytes(image.data))
        written.append(
            ParsedPicture(
                file=name,
                mime=f"image/{'svg+xml' if form == 'svg' else form}",
                place=_place(image, on_slides=on_slides),
                alt=" ".join((image.description or "").split()),
                width=image.width or 0,
                height=image.height or 0,
            )
        )
    return written


def _extracted(file: BinaryIO, asked: Asked, *, pictures: bool) -> Any:
    """The document as the library reads it."""
    import xberg

    content = file.read()
    config = xberg.ExtractionConfig(
        output_format="markdown",
        use_cache=False,
        pages=xberg.PageConfig(extract_pages=True),
        images=xberg.ImageExtractionConfig(extract_images=pictures),
    )
    given = xberg.ExtractInput(kind="bytes", bytes=content, mime_type=None, filename=asked.name)
    try:
        result = asyncio.run(_asked(given, config))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - it has an error for each way to be broken
        raise _refused(error) from None
    if not result.results:
        raise _refused(result.errors[0] if result.errors else "")
    return result.results[0]


async def _asked(given: Any, config: Any) -> Any:
    import xberg

    return await xberg.extract(given, config)


def _slides(pages: list[Any], budget: TextBudget) -> tuple[list[Piece], list[OutlineEntry]]:
    pieces, outline = list[Piece](), list[OutlineEntry]()
    for page in pages:
        place = {"slide": page.page_number}
        text = budget.take(_clean(page.content).strip())
        if not text:
            continue
        pieces.append(Piece(text, place))
        if heading := _HEADING.search(text):
            outline.append(OutlineEntry(" ".join(heading[1].split()), 1, dict(place)))
    return pieces, outline


def _clean(text: str) -> str:
    """The text with the words of pictures instead of their names in the file."""
    return unescaped(_PICTURE.sub(_worded, text))


def _worded(match: re.Match[str]) -> str:
    words = " ".join(match[1].split())
    return f"[Picture: {words}]" if words else "[Picture]"


def _place(image: Any, *, on_slides: bool) -> dict[str, Any]:
    place: dict[str, Any] = {}
    if on_slides and image.page_number:
        place["slide"] = image.page_number
    if (box := image.bounding_box) is not None:
        sides = (box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0)
        place["box"] = [round(float(each), 1) for each in sides]
    return place


def _refused(error: object) -> ParseError:
    said = str(error).lower()
    if "encrypt" in said or "password" in said:
        message = "This document is protected by a password."
        hint = "Open it in its own program, remove the password, and save it again."
        return ParseError("PASSWORD_NEEDED", message, hint, "AUTH")
    if "limit" in said or "too large" in said or "bomb" in said:
        message = "This document unpacks to more than is read."
        return ParseError("ARCHIVE_TOO_LARGE", message, "Split it, or save it anew.", "TOO_LARGE")
    return damaged("a document")
