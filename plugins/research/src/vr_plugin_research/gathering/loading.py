"""Sources loaded as documents: pages, files, recordings, records, texts."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from vr_kernel import (
    Call,
    Change,
    Code,
    Document,
    Locator,
    RecordKind,
    Segment,
    VrError,
    entity_key,
)

from vr_plugin_research.gathering.addresses import TEXT, kind_of, record_of
from vr_plugin_research.results.sources import SourceKind

AT_ONCE = 500
"""Records that are read at once."""
MOST_RECORDS = 5_000
MOST_CHARS, MOST_PARTS = 3_000_000, 20_000
"""Characters and parts of one source that are read."""
CUT = "Only its beginning was read, as it is very long."
_WORDS = re.compile(r"\w+")
_MEDIA = ("video/", "audio/")


async def load(call: Call, address: str, texts: Mapping[str, str]) -> Document:
    """Load what an address, a path or the id of a record names, or a text that was given.

    Args:
        call: the call that reads.
        address: of the source.
        texts: given texts by their address, see `text_address`.

    Raises:
        VrError: NOT_FOUND, category RECORD_UNKNOWN; UNSUPPORTED, category DOCUMENT_EMPTY; else as
            `Documents.load`.
    """
    if address in texts:
        return clean(_pasted(address, texts[address]))
    if address.startswith(TEXT):
        raise VrError(
            f"There is no given text {address[:80]}.",
            Code.NOT_FOUND,
            category="TEXT_UNKNOWN",
            hint="Give the text itself.",
        )
    if kind_of(address, call.services) == "record":
        document = await _of_record(call, address)
    else:
        document = await call.services.documents.load(call, address)
    if not any(each.text.strip() for each in document.segments):
        raise VrError(
            f"Nothing could be read in {document.title}.",
            Code.UNSUPPORTED,
            category="DOCUMENT_EMPTY",
            hint=" ".join(document.limits) or "It holds no text.",
        )
    return await asyncio.to_thread(clean, document)


def clean(document: Document) -> Document:
    """Return a document that can be kept: without half characters, and with a digest; blocks."""
    first = _bounded(document.segments)
    segments = [replace(it, text=_whole(it.text), link=_whole(it.link)) for it in first]
    kept = replace(document, segments=segments, title=_whole(document.title))
    if len(first) < len(document.segments):
        kept = replace(kept, limits=(*kept.limits, CUT))
    return kept if kept.sha256 else replace(kept, sha256=digest_of(kept))


def _bounded(segments: Sequence[Segment]) -> list[Segment]:
    """The first parts of a document, as many as are read of one source."""
    first: list[Segment] = []
    room = MOST_CHARS
    for segment in segments[:MOST_PARTS]:
        room -= len(segment.text)
        if first and room < 0:
            break
        first.append(segment)
    return first


def wording_of(document: Document) -> str:
    """A digest of a document's words alone: copies with another layout have the same; blocks."""
    words = " ".join(word for it in document.segments for word in _WORDS.findall(it.text))
    return hashlib.sha256(words.casefold().encode(errors="backslashreplace")).hexdigest()


def _whole(text: str) -> str:
    """A text in which half characters, which nothing can store, are question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


async def load_recorded(call: Call, source: str) -> Document:
    """Load what is recorded of a source, without a look at the source itself.

    Raises:
        VrError: NOT_FOUND, category SOURCE_UNRECORDED, when no passage of it is recorded.
    """
    after, wanted = 0, entity_key("source", source)
    changes: list[Change] = []
    while len(changes) < MOST_RECORDS:
        found = await call.services.journal.of_source(call.workspace, wanted, after, AT_ONCE)
        changes += found
        if len(found) < AT_ONCE:
            break
        after = found[-1].seq
    kinds = call.services.kinds
    usable = [(kinds[it.kind], it) for it in changes if it.kind in kinds and it.fields]
    placed = [(kind, it.fields or {}) for kind, it in usable if not kind.derived]
    segments = [segment for kind, fields in placed if (segment := _segment(kind, fields))]
    if not segments:
        raise VrError(
            f"No passage of {source} is recorded.",
            Code.NOT_FOUND,
            category="SOURCE_UNRECORDED",
            hint="Read it again with content_read or video_analyze.",
        )
    title = next((str(f[k.title]) for k, f in placed if k.title and f.get(k.title)), source)
    document = Document(source, title, "text/plain", "", sorted(segments, key=_order))
    return await asyncio.to_thread(clean, document)


def source_kind(document: Document, named: str) -> SourceKind:
    """Tell what kind of source a document is."""
    if document.mime.startswith(_MEDIA):
        return "video"
    if document.source.startswith(TEXT):
        return "text"
    kinds: Mapping[str, SourceKind] = {"address": "web", "record": "record"}
    return kinds.get(named, "document")


def digest_of(document: Document) -> str:
    """The SHA-256 of a document's texts, for one that has no bytes of its own."""
    texts = "\n".join(each.text for each in document.segments)
    return hashlib.sha256(texts.encode(errors="backslashreplace")).hexdigest()


def _pasted(address: str, text: str) -> Document:
    lines = text.split("\n")
    segments = [
        Segment(line, Locator(first_line=number)) for number, line in enumerate(lines, 1) if line
    ]
    return Document(address, "Given text", "text/plain", address.removeprefix(TEXT), segments)


async def _of_record(call: Call, address: str) -> Document:
    """The source of a derived record, as what a model wrote is no evidence; else the record."""
    name, key = record_of(address)
    for kind in [name] if name else [*call.services.kinds]:
        change = await call.services.journal.record(call.workspace, kind, key)
        declared = call.services.kinds.get(kind)
        if change is None or declared is None or change.fields is None:
            continue
        source = str(change.fields.get(declared.source) or "") if declared.source else ""
        if declared.derived:
            return await _of_derived(call, address, source)
        segment = _segment(declared, change.fields)
        title = str(change.fields.get(declared.title or "") or source or address)
        segments = [segment] if segment else []
        return Document(source or address, title, "text/plain", "", segments)
    raise VrError(
        f"There is no record {address}.",
        Code.NOT_FOUND,
        category="RECORD_UNKNOWN",
        hint="knowledge_search gives the ids of records; write them as Kind/id.",
    )


async def _of_derived(call: Call, address: str, source: str) -> Document:
    if not source:
        raise VrError(
            f"The record {address} comes from a model and names no source.",
            Code.UNSUPPORTED,
            category="SOURCE_DERIVED",
            hint="Give the sources that it was made from.",
        )
    try:
        return await load_recorded(call, source)
    except VrError:
        return await call.services.documents.load(call, source)


def _segment(kind: RecordKind, fields: Mapping[str, Any]) -> Segment | None:
    """A record as a part of its source's text; None for one without text."""
    text = str(fields.get(kind.rerank) or "").strip()
    if not text:
        return None
    told = {name: fields[name] for name in kind.locator if fields.get(name) is not None}
    start, end, page = told.get("start"), told.get("end"), told.get("page")
    heading = str(told.get("locator") or "")
    place = Locator(
        start=float(start) if isinstance(start, int | float) else None,
        end=float(end) if isinstance(end, int | float) else None,
        page=page if isinstance(page, int) else None,
        heading=(heading,) if heading and page is None else (),
    )
    return Segment(text, place, str(fields.get(kind.link or "") or ""))


def _order(segment: Segment) -> tuple[float, int]:
    return segment.locator.start or 0.0, segment.locator.page or 0
