"""The views of documents: of a part that was read, and of recorded passages."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby, islice

from vr_kernel import Services, StoredRecord, visible_line
from vr_kernel.views import (
    MORE,
    Block,
    Code,
    DocumentPage,
    Image,
    Pages,
    Pictures,
    Prose,
    View,
    view,
)

from vr_plugin_content.formats.kinds import PDF, TEXT, kind_by_mime, kind_by_name
from vr_plugin_content.results.document import ContentPage
from vr_plugin_content.views.headings import headings_of
from vr_plugin_content.views.known import Known, known_of
from vr_plugin_content.views.marks import marked_on
from vr_plugin_content.views.page_images import images_of
from vr_plugin_content.views.places import (
    address_of,
    counted,
    facts,
    kind_words,
    name_of,
    outline,
)

FOLDER = "inode/directory"
_LINES = re.compile(r"(?:^|, )lines? \d+(?:-\d+)?$")
MOST_PAGES = 2_000
MOST_HEADINGS = 400
MOST_SECTIONS = 12
"""Sections without pages that are parts by themselves."""


@view(tool="content_read")
async def show_part(services: Services, page: ContentPage) -> View:
    """Show a part of a document."""
    ends = [page.first, page.last] if page.next_cursor else []
    part = " to ".join(dict.fromkeys(ends))
    pages = f"{page.pages} pages" if page.pages and page.pages > 1 else ""
    blocks: list[Block] = [_as_it_is(page.text, page.mime)]
    blocks += (
        [
            Pictures(
                [Image(each.uri, each.alt or each.place) for each in page.pictures],
                title="Pictures",
                detail=True,
            )
        ]
        if page.pictures
        else []
    )
    blocks += outline(page.outline, address_of(page.source))
    notes = [*page.limits, *([MORE] if page.next_cursor else [])]
    about = [each for each in (kind_words(page.mime), pages, part) if each]
    return View(page.title, blocks, about, page.source, notes)


def _as_it_is(text: str, mime: str, title: str = "", *, detail: bool = False) -> Block:
    """A text of a document; lines of code, of pages and of folders stay lines."""
    has_lines = mime == FOLDER or kind_by_mime(mime) in (PDF, TEXT)
    shown = Code if has_lines or mime.startswith("image/") else Prose
    return shown(text, title=title, detail=detail)


@view(kind="DocumentPassages")
async def show_passages(services: Services, records: Sequence[StoredRecord]) -> View:
    """Show recorded passages: one by itself, or a document page by page with its quotes marked."""
    began, first = asyncio.get_running_loop().time(), records[0].fields
    source, title = str(first.get("source", "")), str(first.get("title", ""))
    if len(records) == 1:
        return _passage(records[0], title or name_of(source))
    ordered = sorted(records, key=_position)
    paged = [each for each in ordered if _page_of(each) is not None]
    known = await known_of(services, source)
    analysed, notes = known.analyses > 0, list[str]()
    if paged:
        shown = await _pages(services, source, paged, known, began)
        headings = max(known.outline, headings_of(paged, MOST_HEADINGS), key=len)
        blocks = [
            *outline(headings, address_of(source), detail=analysed),
            replace(shown, detail=analysed or bool(headings)),
        ]
        about = [f"{counted(len(records), 'passage')} on {counted(len(shown.items), 'page')}"]
        notes = _missing(shown.items)
    else:
        blocks = _sections(ordered, detail=analysed)
        about = [counted(len(records), "passage")]
    opened = source if address_of(source) else ""
    return View(title or name_of(source), blocks, about, opened, notes)


def _missing(pages: Sequence[DocumentPage]) -> list[str]:
    """Remarks on pages, and pictures of pages, that are not here."""
    missing = pages[-1].number - len(pages)
    pictured = sum(bool(page.image) for page in pages)
    notes = []
    if missing > 0:
        notes.append(f"{counted(missing, 'page')} not shown: contents, index, or without words.")
    if 0 < pictured < len(pages):
        notes.append(f"{counted(pictured, 'page')} with their picture, those with quotes first.")
    return notes


def _passage(record: StoredRecord, title: str) -> View:
    """A passage as a search finds it; its link opens the document at its page."""
    fields = record.fields
    number, heading = _page_of(record), str(fields.get("heading", ""))
    place = str(fields.get("locator", "")) or (f"p. {number}" if number is not None else "")
    blocks: list[Block] = [Prose(str(fields.get("text", "")))]
    blocks += facts([("Section", heading if heading not in place else "")])
    address = str(fields.get("link") or "") or address_of(str(fields.get("source", "")))
    return View(title, blocks, [place] if place else [], address)


async def _pages(
    services: Services,
    source: str,
    records: Sequence[StoredRecord],
    known: Known,
    began: float,
) -> Pages:
    grouped = groupby(records, key=lambda it: _page_of(it) or 0)
    texts = {number: _text_of(group) for number, group in islice(grouped, MOST_PAGES)}
    marked = await asyncio.to_thread(marked_on, texts, known.points)
    wanted = sorted(texts, key=lambda number: (not marked[number], number))
    images = await images_of(services, source, wanted, began)
    items = [
        DocumentPage(number, text, images.get(number, ""), marked[number])
        for number, text in texts.items()
    ]
    return Pages(items, title="Pages")


def _sections(records: Sequence[StoredRecord], *, detail: bool) -> list[Block]:
    """Passages without pages, below their places; many of them as one text."""
    grouped = groupby(records, key=lambda it: visible_line(str(it.fields.get("locator", ""))))
    texts = [(place, _text_of(group)) for place, group in grouped]
    if len(texts) <= MOST_SECTIONS:
        return [_as_it_is(text, _mime(place), place, detail=detail) for place, text in texts]
    whole = "\n\n".join(_below_heading(place, text) for place, text in texts)
    return [Prose(whole, title="Text", detail=detail)]


def _mime(place: str) -> str:
    """The media type of the text at a place: that of its file in a folder, else with headings."""
    match = _LINES.search(place)
    kind = kind_by_name(place[: match.start()].rpartition("/")[2]) if match else None
    return "text/plain" if match and (match.start() == 0 or kind is TEXT) else "text/markdown"


def _below_heading(place: str, text: str) -> str:
    """A text of many below its place; its lines stay lines."""
    if _mime(place) == "text/plain":
        return f"### {place}\n\n````\n{text}\n````"
    return f"### {place}\n\n{_below(place, text)}"


def _text_of(records: Iterable[StoredRecord]) -> str:
    """The texts of passages, with an empty line between those that no sentence joins."""
    whole = ""
    for record in records:
        text = str(record.fields.get("text", ""))
        goes_on = text[:1].islower() and whole[-1:] not in (".", "!", "?", ":")
        whole += ("\n" if goes_on else "\n\n") + text if whole else text
    return whole


def _below(place: str, text: str) -> str:
    """A text without the heading that it begins with, where its place names it."""
    first, _, rest = text.partition("\n")
    title = first.lstrip("#").strip()
    return rest.lstrip() if first.startswith("#") and title in place else text


def _position(record: StoredRecord) -> tuple[int, int]:
    position = record.fields.get("position")
    return _page_of(record) or 0, position if isinstance(position, int) else 0


def _page_of(record: StoredRecord) -> int | None:
    page = record.fields.get("page")
    return page if isinstance(page, int) else None
