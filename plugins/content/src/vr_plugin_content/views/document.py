"""The views of documents: of a part that was read, and of recorded passages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from vr_kernel import Services, StoredRecord
from vr_kernel.views import MORE, Block, DocumentPage, Image, Pages, Pictures, Prose, View, view

from vr_plugin_content.models import ContentPage
from vr_plugin_content.views.marks import quotes_about
from vr_plugin_content.views.page_images import images_of
from vr_plugin_content.views.places import (
    address_of,
    facts,
    kind_words,
    name_of,
    outline,
)

MOST_PAGES = 2_000


@view(tool="content_read")
async def show_part(services: Services, page: ContentPage) -> View:
    """Show a part of a document."""
    whole = page.next_cursor is None and not page.text_uri
    part = (
        "" if whole else f"{page.first} to {page.last}" if page.last != page.first else page.first
    )
    pages = f"{page.pages} pages" if page.pages and page.pages > 1 else ""
    blocks: list[Block] = [Prose(page.text)]
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


@view(kind="DocumentPassages")
async def show_passages(services: Services, records: Sequence[StoredRecord]) -> View:
    """Show recorded passages: one by itself, or a document page by page with its quotes marked."""
    first = records[0].fields
    source, title = str(first.get("source", "")), str(first.get("title", ""))
    link = address_of(source)
    if len(records) == 1:
        return _passage(records[0], title or name_of(source))
    ordered = sorted(records, key=_position)
    paged = [each for each in ordered if isinstance(each.fields.get("page"), int)]
    if paged:
        marks = await quotes_about(services, source)
        blocks: list[Block] = [await _pages(services, source, paged, marks)]
    else:
        blocks = list(_sections(ordered))
    about = [f"{len(records):,} passages"]
    return View(title or name_of(source), blocks, about, source if link else "")


def _passage(record: StoredRecord, title: str) -> View:
    fields = record.fields
    place = str(fields.get("locator", ""))
    blocks: list[Block] = [Prose(str(fields.get("text", "")))]
    blocks += facts([("Section", str(fields.get("heading", "")))])
    source = str(fields.get("link") or fields.get("source") or "")
    return View(title, blocks, [place] if place else [], source)


async def _pages(
    services: Services,
    source: str,
    records: Sequence[StoredRecord],
    marks: Sequence[str],
) -> Pages:
    texts = {
        int(number): "\n\n".join(str(each.fields.get("text", "")) for each in group)
        for number, group in groupby(records, key=lambda it: it.fields["page"])
    }
    marked = {number: _within(text, marks) for number, text in texts.items()}
    wanted = sorted(texts, key=lambda number: (not marked[number], number))
    images = await images_of(services, source, wanted)
    items = [
        DocumentPage(number, text, images.get(number, ""), marked[number])
        for number, text in [*texts.items()][:MOST_PAGES]
    ]
    return Pages(items, title="Pages")


def _sections(records: Sequence[StoredRecord]) -> Sequence[Block]:
    """Passages without pages, below their places."""
    grouped = groupby(records, key=lambda it: str(it.fields.get("locator", "")))
    return [
        Prose("\n\n".join(str(each.fields.get("text", "")) for each in group), title=place)
        for place, group in grouped
    ]


def _within(text: str, quotes: Sequence[str]) -> list[str]:
    plain = " ".join(text.split())
    return [quote for quote in quotes if " ".join(quote.split()) in plain]


def _position(record: StoredRecord) -> tuple[int, int]:
    numbers = (record.fields.get("page"), record.fields.get("position"))
    page, position = (it if isinstance(it, int) else 0 for it in numbers)
    return page, position
