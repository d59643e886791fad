"""Hits of a search: title and moment, a line of words, and where they are from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from vr_kernel import Services, visible_line
from vr_kernel.views import MORE, Block, Cell, Item, Link, Prose, Records, Table, View, titled, view

from vr_plugin_knowledge.graph.identity import CONCEPTS, EDGES, edge_name
from vr_plugin_knowledge.graph.results import Neighbour
from vr_plugin_knowledge.matching.spelling import index_text
from vr_plugin_knowledge.matching.terms import split_terms
from vr_plugin_knowledge.results import KnowledgeHit, KnowledgeRelated, KnowledgeSearchResult
from vr_plugin_knowledge.views.concepts import item_of_entry
from vr_plugin_knowledge.views.items import item_of_record, read_fields
from vr_plugin_knowledge.views.places import name_sources, place_of

BY_MODEL = "from a model"
FAR = "None of these hits has a word of the question: they are only the nearest that there is."
BEGINNING = 4
"""Characters by which the forms of a word are taken for one."""
_Read = tuple[KnowledgeHit, Mapping[str, Any]]


@view(tool="knowledge_search")
async def show_search(services: Services, found: KnowledgeSearchResult) -> View:
    """The hits, the best first; their scores are a detail."""
    about = [_count(len(found.results), "hit")] if found.results else []
    about += [f"{titled(name)}: {value}" for name, value in (found.filters_applied or {}).items()]
    read = await _read(services, found.results)
    blocks = await _hits(services, read, found.query)
    if found.neighbours:
        near = [_neighbour(each) for each in found.neighbours]
        blocks.append(Records(near, title="Concepts that these lead to"))
    more = [MORE] if found.next_cursor else []
    far = [FAR] if read and not _share_words(services, found.query, read) else []
    return View(found.query, blocks, about, notes=[*found.notes, *far, *more])


@view(tool="knowledge_related")
async def show_related(services: Services, found: KnowledgeRelated) -> View:
    """The records that are similar, the nearest first."""
    read = await _read(services, found.results)
    blocks = await _hits(services, read, "")
    about = [_count(len(found.results), "record")] if found.results else []
    return View(f"Similar in {found.collection}", blocks, about, notes=found.notes)


async def _read(services: Services, hits: Sequence[KnowledgeHit]) -> list[_Read]:
    """Hits with the whole fields of their records."""
    return [
        (hit, await read_fields(services, hit.collection, hit.object_id, hit.properties))
        for hit in hits
    ]


def _share_words(services: Services, query: str, read: Sequence[_Read]) -> bool:
    """False when no hit has the beginning of any word of the question that tells something."""
    begun = {term.casefold()[:BEGINNING] for term in split_terms(query)}
    texts = [text for hit, fields in read for text in _searched(services, hit, fields)]
    return not begun or any(each in text for text in texts for each in begun)


def _searched(services: Services, hit: KnowledgeHit, fields: Mapping[str, Any]) -> list[str]:
    """The texts of a record that a search looks at, spelled as words of a question are."""
    kind = services.kinds.get(hit.collection)
    told = [kind.search_text(fields), kind.vector_text(fields)] if kind else [str(fields)]
    return [index_text(text).casefold() for text in told]


async def _hits(services: Services, read: Sequence[_Read], query: str) -> list[Block]:
    if not read:
        return [Prose("Nothing found.")]
    hits = [hit for hit, _ in read]
    names = await name_sources(services, (hit.source for hit in hits))
    items = [
        _item(services, hit, fields, names.get(hit.source or "", ""), query) for hit, fields in read
    ]
    reranked = any(hit.rerank_score is not None for hit in hits)
    rows: list[list[Cell]] = [
        [
            _called(services, hit, item),
            hit.collection,
            hit.score,
            *([hit.rerank_score] if reranked else []),
        ]
        for item, hit in zip(items, hits, strict=True)
    ]
    columns = ("Hit", "Collection", "Score", *(["Reranked"] if reranked else []))
    return [Records(items), Table(columns, rows, title="Scores", detail=True)]


def _called(services: Services, hit: KnowledgeHit, item: Item) -> str:
    """The title of a hit, with the sort of record where its kind has several."""
    kind = services.kinds.get(hit.collection)
    variety = visible_line(kind.variety_of(hit.properties)) if kind else ""
    return ", ".join(filter(None, [item.title, variety]))


def _item(
    services: Services, hit: KnowledgeHit, fields: Mapping[str, Any], source: str, query: str
) -> Item:
    if hit.collection in (CONCEPTS, EDGES):
        return item_of_entry(hit.collection, hit.object_id, fields)
    link = hit.link or next((each.link for each in hit.sources if each.link), "")
    item = item_of_record(
        services,
        (hit.collection, hit.object_id),
        fields,
        place_of(link, hit.locator),
        source,
        hit.summary,
        query,
    )
    return replace(item, facts=[*item.facts, BY_MODEL]) if hit.derived else item


def _neighbour(near: Neighbour) -> Item:
    identity = f"{CONCEPTS}/{near.object_id}" if near.object_id else ""
    return Item(
        visible_line(edge_name(dict(near))), visible_line(near.quote), Link(near.link), id=identity
    )


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
