"""Documents that were read, as resources that a client opens by their address."""

from __future__ import annotations

from pydantic import BaseModel
from vr_kernel import Change, Code, Content, Services, VrError, resource

from vr_plugin_content.passages.recording import PASSAGES

MOST_DOCUMENTS = 200
"""Most documents in the list, the last read first."""
MOST_CHARS = 1_000_000
"""Most characters of one document."""
AT_ONCE = 500


class ReadDocument(BaseModel):
    """A document that was read: the id in its address, its title, and where it is."""

    id: str
    title: str
    source: str
    passages: int


class ReadDocuments(BaseModel):
    """The documents that were read, the last one first."""

    documents: list[ReadDocument]


@resource("vr://documents")
async def documents(services: Services) -> ReadDocuments:
    """List the documents that were read."""
    found = await services.journal.sources(services.workspace, limit=MOST_DOCUMENTS, kind=PASSAGES)
    return ReadDocuments(
        documents=[
            ReadDocument(
                id=each.id, title=each.title, source=each.source, passages=each.kinds[PASSAGES]
            )
            for each in found
        ]
    )


@resource("vr://documents/{document_id}", mime="text/markdown")
async def document(services: Services, document_id: str) -> Content:
    """Give the text of a document that was read, each passage with its place."""
    passages = await _passages(services, document_id)
    if not passages:
        raise VrError(
            "No document of this id was read.",
            Code.NOT_FOUND,
            hint="vr://documents lists those that were; content_read reads one.",
        )
    title = str(passages[0].get("title", ""))
    parts = [f"[{each.get('locator', '')}]\n{each.get('text', '')}" for each in passages]
    text = "\n\n".join([f"# {title}", *parts])
    return Content(text[:MOST_CHARS], "text/markdown")


async def _passages(services: Services, document_id: str) -> list[dict[str, object]]:
    """The fields of the passages of a document, in its order."""
    found: list[Change] = []
    after = 0
    while True:
        some = await services.journal.of_source(services.workspace, document_id, after, AT_ONCE)
        found += [each for each in some if each.kind == PASSAGES]
        if len(some) < AT_ONCE:
            break
        after = some[-1].seq
    fields = [dict(each.fields or {}) for each in found]
    return sorted(fields, key=lambda each: int(each.get("position") or 0))
