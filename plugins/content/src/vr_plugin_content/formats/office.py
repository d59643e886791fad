"""Documents of offices and e-books: sections by heading, presentations slide by slide."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any, BinaryIO

from vr_plugin_content.formats.compound_file import has_password
from vr_plugin_content.formats.encodings import blank
from vr_plugin_content.formats.kinds import KINDS, suffix_of
from vr_plugin_content.formats.markdown_sections import LARGEST, pieces_of, unescaped
from vr_plugin_content.formats.package import shown_slides
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
TITLE_CHARS = 300
NOTHING = "-----"
"""The words of a slide, as the library gives them, that has none."""
_PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_INNER_LINK = re.compile(r"(?<!!)\[([^\]\n]*)\]\((?!https?:|mailto:)[^()\s]*\)")
"""A link to another place of the document, whose address says nothing outside of it."""
_ROW = "[TABLE_ROW]"
"""Left by the library in tables of RTF."""
_HEADING = re.compile(r"^#{1,6}\s+(.+)$", re.MULTILINE)
_RULE = re.compile(r"^-----\n\n## .*\n?", re.MULTILINE)
"""Begins a slide of an OpenDocument presentation, with the name of its page."""
_SUFFIXES = {"jpeg": "jpg", "tiff": "tif"}


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Read a document.

    Raises:
        ParseError: EXTRA_MISSING; PASSWORD_NEEDED; DOCUMENT_DAMAGED; DOCUMENT_EMPTY.
    """
    found = _extracted(file, asked, pictures=False)
    suffix, budget = suffix_of(asked.name), TextBudget(asked.bounds)
    title = " ".join((found.metadata.title or "").split())
    limits = list[str]()
    if suffix in SLIDES:
        slides, limits = _slides(found, file, suffix)
        pieces, outline = _pieces_of(slides, budget)
    else:
        pieces, outline = pieces_of(
            _clean(found.content[:LARGEST]), title or asked.name, budget, None
        )
        title = title or (outline[0].text if outline else "")
    if not pieces:
        of_another_kind = suffix in (".pptx", ".pptm") and not shown_slides(file)
        broken = of_another_kind or found.processing_warnings
        raise damaged("a document") if broken else blank()
    if len(found.content) > LARGEST and suffix not in SLIDES:
        limits.append(f"Only its first {LARGEST:,} characters were read.")
    else:
        limits += budget.limits
    return Parsed(_mime(suffix), title, pieces, outline, limits=limits)


def pictures(file: BinaryIO, asked: Asked) -> list[ParsedPicture]:
    """Write the pictures of a document into the folder of the task.

    Raises:
        ParseError: as `parse`.
    """
    found = _extracted(file, asked, pictures=True)
    on_slides = suffix_of(asked.name) in SLIDES
    shown = shown_slides(file)
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
                place=_place(image, shown, on_slides=on_slides),
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
    given = xberg.ExtractInput(
        kind="bytes", bytes=content, mime_type=_mime(suffix_of(asked.name)), filename=asked.name
    )
    try:
        result = asyncio.run(_asked(given, config))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - it has an error for each way to be broken
        raise _refused(error, content) from None
    if not result.results:
        raise _refused(result.errors[0] if result.errors else "", content)
    return result.results[0]


async def _asked(given: Any, config: Any) -> Any:
    import xberg

    return await xberg.extract(given, config)


def _mime(suffix: str) -> str:
    """The media type of a document; the library would read any archive by its content alone."""
    return next(kind.mime for kind in KINDS if suffix in kind.suffixes)


def _slides(found: Any, file: BinaryIO, suffix: str) -> tuple[list[tuple[int, str]], list[str]]:
    """The slides as they are shown, each with its number and its text, and what could not be read.

    Those of a format that tells none are one.
    """
    if suffix == ".odp":
        return [*enumerate(_RULE.split(found.content)[1:], 1)], []
    if suffix == ".ppt" and not found.pages:
        return [(1, found.content.strip().removeprefix(NOTHING))], []
    shown = shown_slides(file)
    slides = [
        (shown.get(page.page_number, 0) if shown else page.page_number, _with_notes(page))
        for page in found.pages or []
    ]
    missing = sorted({*shown.values()}.difference(number for number, _ in slides))
    limits = [f"Slide {number} is damaged, and was left out." for number in missing]
    return sorted(slide for slide in slides if slide[0]), limits


def _with_notes(page: Any) -> str:
    notes = (page.speaker_notes or "").strip()
    return f"{page.content.strip()}\n\nNotes: {notes}" if notes else str(page.content)


def _pieces_of(
    slides: list[tuple[int, str]], budget: TextBudget
) -> tuple[list[Piece], list[OutlineEntry]]:
    pieces, outline = list[Piece](), list[OutlineEntry]()
    for number, content in slides:
        place = {"slide": number}
        text = budget.take(_clean(content).strip()) if content.strip() != NOTHING else ""
        if not text:
            continue
        pieces.append(Piece(text, place))
        heading = _HEADING.search(text)
        title = heading[1] if heading else text.partition("\n")[0][:TITLE_CHARS]
        outline.append(OutlineEntry(" ".join(title.split()), 1, dict(place)))
    return pieces, outline


def _clean(text: str) -> str:
    """The text with the words of pictures and inner links instead of their names in the file."""
    plain = _INNER_LINK.sub(r"\1", _PICTURE.sub(_worded, text))
    return unescaped(plain.replace(_ROW, ""))


def _worded(match: re.Match[str]) -> str:
    words = " ".join(match[1].split())
    return f"[Picture: {words}]" if words else "[Picture]"


def _place(image: Any, shown: Mapping[int, int], *, on_slides: bool) -> dict[str, Any]:
    place: dict[str, Any] = {}
    if on_slides and image.page_number:
        place["slide"] = shown.get(image.page_number, image.page_number)
    if (box := image.bounding_box) is not None:
        sides = (box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0)
        place["box"] = [round(float(each), 1) for each in sides]
    return place


def _refused(error: object, content: bytes) -> ParseError:
    said = str(error).lower()
    if "encrypt" in said or "password" in said or has_password(content):
        message = "This document is protected by a password."
        hint = "Open it in its own program, remove the password, and save it again."
        return ParseError("PASSWORD_NEEDED", message, hint, "AUTH")
    if "limit" in said or "too large" in said or "bomb" in said:
        message = "This document unpacks to more than is read."
        return ParseError("ARCHIVE_TOO_LARGE", message, "Split it, or save it anew.", "TOO_LARGE")
    return damaged("a document")
