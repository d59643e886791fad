"""Answers of `content_read`: a part of a document, its outline, its pictures."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from vr_kernel import Call, Document, DocumentPicture, Heading, Segment, VrError

from vr_plugin_content.passages.recording import record_passages
from vr_plugin_content.reading.documents import pictures_of, read_any
from vr_plugin_content.reading.pages import Part, as_text, part_of
from vr_plugin_content.reading.places import select
from vr_plugin_content.results.document import ContentPage, DocumentPictureItem, OutlineItem
from vr_plugin_content.settings import ContentSettings

MOST_HEADINGS = 40
"""Most headings of an outline in an answer."""
MOST_PICTURES = 40
"""Most pictures in an answer; all of them are kept."""
TEXT_MIME = "text/markdown"


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """The arguments of one call."""

    source: str
    cursor: str
    place: str
    password: str = field(repr=False)
    pictures: bool = False


async def read_part(call: Call, request: ReadRequest) -> ContentPage:
    """Read a document, record its passages, and return the part that was asked for.

    Raises:
        VrError: as `read_any`; NOT_FOUND for a place, INVALID_INPUT for a cursor.
    """
    settings: ContentSettings = call.settings
    document = await read_any(call, request.source, request.password)
    segments = select(document, request.place) if request.place else document.segments
    part = part_of(document, segments, request.cursor, settings.page_tokens)
    begun = not request.cursor
    if begun:
        await record_passages(call, document)
    pictures: Sequence[DocumentPicture] = ()
    if request.pictures:
        pictures = await pictures_of(call, request.source, request.password)
        call.note(_told_of(pictures))
    whole = await asyncio.to_thread(_whole, call, segments) if begun and part.cursor else ""
    return _page(document, segments, part, pictures, whole, begun=begun)


def _page(
    document: Document,
    segments: Sequence[Segment],
    part: Part,
    pictures: Sequence[DocumentPicture],
    whole: str,
    *,
    begun: bool,
) -> ContentPage:
    told = [*document.limits]
    if len(pictures) > MOST_PICTURES:
        told.append(f"{len(pictures)} pictures were kept; the first {MOST_PICTURES} are listed.")
    return ContentPage(
        source=document.source,
        title=document.title,
        mime=document.mime,
        sha256=document.sha256,
        limits=told,
        text=as_text(part.segments),
        first=part.segments[0].locator.label,
        last=part.segments[-1].locator.label,
        total=len(segments),
        pages=_pages(document),
        outline=outline_of(document.outline) if begun else [],
        pictures=[_item(each) for each in pictures[:MOST_PICTURES]],
        next_cursor=part.cursor,
        text_uri=whole,
    )


def _told_of(pictures: Sequence[DocumentPicture]) -> str:
    if not pictures:
        return "It has no pictures."
    count = "1 picture is" if len(pictures) == 1 else f"{len(pictures)} pictures are"
    return f"{count} kept as files, see `pictures` in JSON, or a page of this result."


def outline_of(headings: Sequence[Heading], most: int = MOST_HEADINGS) -> list[OutlineItem]:
    """Return the headings of the highest levels, as many as there may be, in order."""
    level = max((each.level for each in headings), default=0)
    while level > 1 and sum(each.level <= level for each in headings) > most:
        level -= 1
    kept = [each for each in headings if each.level <= level][:most]
    return [
        OutlineItem(
            title=each.text, level=each.level, place=each.locator.label, page=each.locator.page
        )
        for each in kept
    ]


def _pages(document: Document) -> int | None:
    numbers = [each.locator.page or each.locator.slide or 0 for each in document.segments]
    return max(numbers, default=0) or None


def _item(picture: DocumentPicture) -> DocumentPictureItem:
    return DocumentPictureItem(
        uri=picture.uri,
        place=picture.locator.label,
        alt=picture.alt,
        width=picture.width,
        height=picture.height,
    )


def _whole(call: Call, segments: Sequence[Segment]) -> str:
    """Keep the whole text as a file, when an answer holds a part of it; empty when it cannot."""
    try:
        return call.artifact(as_text(segments).encode(), TEXT_MIME).uri
    except VrError as error:
        call.note(f"The whole text was not kept as a file: {error.message} {error.hint}")
        return ""
