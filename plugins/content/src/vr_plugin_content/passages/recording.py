"""Records the passages of a document: once, and anew when the document has changed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence

from vr_kernel import Call, Document, Record, RecordKind, VrError, entity_key

from vr_plugin_content.passages.chunks import Chunk, chunks_of
from vr_plugin_content.passages.listings import Listings
from vr_plugin_content.settings import ContentSettings

PASSAGES = "DocumentPassages"
"""The kernel's kind of record for passages of documents."""
AT_ONCE = 500
"""Records that are read at once."""


async def record_passages(call: Call, document: Document) -> None:
    """Record what searches are to find of a document, and forget what is no longer in it.

    Pages of contents and indexes are not recorded: they would be found before what they point to.
    Nothing is written when all of it is recorded already. A journal that cannot be read costs the
    passages, which a remark says, and not the result.
    """
    settings: ContentSettings = call.settings
    kind = call.services.kinds[PASSAGES]
    records = await asyncio.to_thread(_records, kind, document, settings.passage_chars)
    keys = {record.key or "" for record in records}
    try:
        if await call.services.journal.has(call.workspace, [(PASSAGES, key) for key in keys]):
            return
        stale = [key async for key in _known(call, document.source) if key not in keys]
    except VrError as error:
        call.note(f"The passages were not recorded for searches: {error.message}")
        return
    call.record(*records)
    if stale:
        call.forget(PASSAGES, *stale)


def _records(kind: RecordKind, document: Document, most_chars: int) -> list[Record]:
    """The passages of a document; blocks."""
    return list(_passages(kind, document, chunks_of(document, most_chars)))


def _passages(kind: RecordKind, document: Document, chunks: Sequence[Chunk]) -> Iterator[Record]:
    listings = Listings(document)
    for position, chunk in enumerate(chunks):
        if listings.hold(chunk.text, chunk.locator.page):
            continue
        fields = {
            "source": document.source,
            "sha256": document.sha256,
            "title": document.title,
            "heading": " > ".join(chunk.headings),
            "page": chunk.locator.page,
            "locator": chunk.locator.label,
            "position": position,
            "text": chunk.text,
            "link": chunk.link,
        }
        given = {name: value for name, value in fields.items() if value not in (None, "")}
        yield Record(PASSAGES, given, kind.identify(given))


async def _known(call: Call, source: str) -> AsyncIterator[str]:
    """The keys of all passages that are recorded of a source."""
    after, wanted = 0, entity_key("source", source)
    while True:
        found = await call.services.journal.of_source(call.workspace, wanted, after, AT_ONCE)
        for change in found:
            if change.kind == PASSAGES:
                yield change.key
        if len(found) < AT_ONCE:
            return
        after = found[-1].seq
