"""Selects records to read for concepts: requested, and not in the graph yet."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vr_kernel import Call, Change, RecordKind, entity_key

from vr_plugin_knowledge.derived import named_sources
from vr_plugin_knowledge.excerpts import value_of
from vr_plugin_knowledge.graph.citations import Citation, version_of
from vr_plugin_knowledge.graph.concepts import Origin
from vr_plugin_knowledge.graph.network import Network
from vr_plugin_knowledge.graph.reading import Reading, Source, reading_key

BATCH = 500
_TITLES = ("title", "video_title", "source_title")


@dataclass(frozen=True, slots=True)
class Wanted:
    """The requested records; None stands for any."""

    kinds: Mapping[str, RecordKind]
    source: str | None = None
    object_ids: Collection[str] | None = None

    def takes(self, change: Change, workspace: str) -> bool:
        """True when a record is requested."""
        if change.fields is None or change.workspace != workspace or change.kind not in self.kinds:
            return False
        if self.object_ids is not None and change.key not in self.object_ids:
            return False
        return self.source in (None, value_of(change.fields, self.kinds[change.kind].source))


@dataclass(slots=True)
class Selection:
    """Records that were found: to read now, already in the graph, or left for another call."""

    sources: list[Source] = field(default_factory=list)
    known: int = 0
    remaining: int = 0


async def select(call: Call, wanted: Wanted, network: Network, limit: int) -> Selection:
    """The first `limit` records that are not read yet, the oldest first.

    Records that were read are known by the graph's citations, which name versions. Those without
    concepts, or whose citations were lost, are in the cache: they are read again at no cost.

    Raises:
        VrError: AUTH or UNAVAILABLE when there are records to read and no model can be asked.
    """
    chosen = Selection()
    paid = 0
    async for source in _sources(call, wanted):
        if _cites(network, source.citation):
            chosen.known += 1
        elif await call.services.cache.model(reading_key(call, source), Reading).get() is not None:
            chosen.sources.append(source)
        elif paid < limit:
            paid += 1
            chosen.sources.append(source)
        else:
            chosen.remaining += 1
    return chosen


async def _sources(call: Call, wanted: Wanted) -> AsyncIterator[Source]:
    after = 0
    journal, kinds = call.services.journal, wanted.kinds
    while kinds and (changes := await journal.changes(after, BATCH, kinds, call.workspace)):
        after = changes[-1].seq
        for change in changes:
            if wanted.takes(change, call.workspace):
                source = await _source(call, change, wanted.kinds[change.kind])
                if source.text.strip():
                    yield source


async def _source(call: Call, change: Change, kind: RecordKind) -> Source:
    fields = change.fields or {}
    text = text_of(kind, fields)
    link = value_of(fields, kind.link) or value_of(fields, kind.source) or ""
    title = await _title(call, kind, fields)
    citation = Citation(change.kind, change.key, version_of(text), link=link, title=title)
    origin = Origin(
        url=value_of(fields, kind.source) or "",
        title=title,
        category=kind.category or "analysis",
    )
    return Source(text, citation, origin, named_sources(change.provenance) if kind.derived else ())


async def _title(call: Call, kind: RecordKind, fields: Mapping[str, Any]) -> str:
    """The title of what a record is about: a video's, rather than that of a slide in it."""
    own = next((str(fields[name]) for name in _TITLES if fields.get(name)), "")
    source = value_of(fields, kind.source)
    if kind.title or not source:
        return value_of(fields, kind.title) or own
    found = await call.services.journal.source(call.workspace, entity_key("source", source))
    return found.title if found and found.title else own


def text_of(kind: RecordKind, fields: Mapping[str, Any]) -> str:
    """The words of a record: all text that it is found by, in declared order."""
    told = [f.name for f in kind.fields if f.searchable or f.vectorised or f.name == kind.rerank]
    return "\n".join(_lines([fields.get(name) for name in told]))


def _lines(values: Sequence[Any]) -> list[str]:
    flat = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return [item for item in flat if isinstance(item, str) and item.strip()]


def _cites(network: Network, citation: Citation) -> bool:
    """True when this version of a record is cited."""
    cited = (each for found in network.citing(*citation.record) for each in found.citations)
    return any((e.record, e.version) == (citation.record, citation.version) for e in cited)
