"""Hits of a search: title and moment, a line of words, and where they are from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vr_kernel import Services, visible_line
from vr_kernel.views import Block, Cell, Item, Link, Prose, Records, Table, View, titled, view

from vr_plugin_knowledge.graph.identity import CONCEPTS, EDGES, edge_name
from vr_plugin_knowledge.graph.results import Neighbour
from vr_plugin_knowledge.results import KnowledgeHit, KnowledgeRelated, KnowledgeSearchResult
from vr_plugin_knowledge.views.concepts import item_of_entry
from vr_plugin_knowledge.views.items import item_of_record, read_fields
from vr_plugin_knowledge.views.places import name_sources, place_of

BY_MODEL = "from a model"


@view(tool="knowledge_search")
async def show_search(services: Services, found: KnowledgeSearchResult) -> View:
    """The hits, the best first; their scores are a detail."""
    about = [_count(found.total_results, "hit")] if found.results else []
    about += [f"{titled(name)}: {value}" for name, value in (found.filters_applied or {}).items()]
    blocks = await _hits(services, found.results, found.query, found.total_results)
    if found.neighbours:
        near = [_neighbour(each) for each in found.neighbours]
        blocks.append(Records(near, title="Concepts that these lead to"))
    more = [f"There are more: cursor {found.next_cursor}."] if found.next_cursor else []
    return View(found.query, blocks, about, notes=[*found.notes, *more])


@view(tool="knowledge_related")
async def show_related(services: Services, found: KnowledgeRelated) -> View:
    """The records that are similar, the nearest first."""
    blocks = await _hits(services, found.results, "", found.total_results)
    about = [_count(found.total_results, "record")] if found.results else []
    return View(f"Similar in {found.collection}", blocks, about, notes=found.notes)


async def _hits(
    services: Services, hits: Sequence[KnowledgeHit], query: str, total: int
) -> list[Block]:
    if not hits:
        return [Prose("Nothing found.")]
    names = await name_sources(services, (hit.source for hit in hits))
    items = [await _item(services, hit, names.get(hit.source or "", ""), query) for hit in hits]
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
    return [Records(items, total), Table(columns, rows, title="Scores", detail=True)]


def _called(services: Services, hit: KnowledgeHit, item: Item) -> str:
    """The title of a hit, with the sort of record where its kind has several."""
    kind = services.kinds.get(hit.collection)
    variety = visible_line(kind.variety_of(hit.properties)) if kind else ""
    return ", ".join(filter(None, [item.title, variety]))


async def _item(services: Services, hit: KnowledgeHit, source: str, query: str) -> Item:
    fields = await read_fields(services, hit.collection, hit.object_id, hit.properties)
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
