"""A part of a graph as a result that a client can read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from vr_kernel import fit

from vr_plugin_knowledge.excerpts import cut, json_tokens
from vr_plugin_knowledge.graph.citations import Citation
from vr_plugin_knowledge.graph.concepts import UNKNOWN
from vr_plugin_knowledge.graph.results import GraphEdge, GraphNode, GraphSource, KnowledgeGraph
from vr_plugin_knowledge.graph.traversal import Region

RESULT_TOKENS = 3500
SCORE_DIGITS = 6
MOST_SHOWN = 100
"""More never fit."""
_DETAILS = ((3, 300), (1, 160), (1, 80), (0, 60))
"""Sources per entry and characters per text, from much detail to little."""


def present(region: Region, limit: int, derived: Collection[str] = ()) -> KnowledgeGraph:
    """The `limit` closest concepts, fewer and shorter ones when they do not fit.

    Sources in the collections `derived` are marked so.
    """
    limit = min(limit, MOST_SHOWN)
    whole = _detailed(region, limit, *_DETAILS[0], derived)
    return fit(whole, _shorter(region, limit, derived), RESULT_TOKENS, json_tokens)


def _shorter(region: Region, limit: int, derived: Collection[str]) -> Iterator[KnowledgeGraph]:
    """Fewer details, then fewer concepts."""
    for sources, chars in _DETAILS[1:]:
        yield _detailed(region, limit, sources, chars, derived)
    while limit > 1:
        limit = max(1, limit * 3 // 4)
        yield _detailed(region, limit, *_DETAILS[-1], derived)


def _detailed(
    region: Region, limit: int, sources: int, chars: int, derived: Collection[str]
) -> KnowledgeGraph:
    shown = region.cut(limit)
    nodes = [
        GraphNode(
            concept=concept.name,
            object_id=concept.key or None,
            state=concept.state or UNKNOWN,
            description=cut(concept.description, chars),
            score=round(region.score(identity), SCORE_DIGITS),
            depth=region.depths[identity],
            sources=_sources(concept.citations, sources, chars, derived),
        )
        for identity, concept in shown.concepts.items()
    ]
    edges = [
        GraphEdge(
            from_concept=shown.concepts[each.start].name,
            relationship_type=each.kind,
            to_concept=shown.concepts[each.end].name,
            object_id=each.key or None,
            sources=_sources(each.citations, sources, chars, derived),
        )
        for each in shown.relations
    ]
    return KnowledgeGraph(
        nodes=nodes,
        edges=edges,
        total_nodes=len(region.concepts),
        total_edges=len(region.relations),
    )


def _sources(
    citations: Iterable[Citation], most: int, chars: int, derived: Collection[str]
) -> list[GraphSource]:
    return [
        GraphSource(
            collection=each.collection,
            object_id=each.object_id,
            title=cut(each.title, chars),
            quote=cut(each.quote, chars),
            link=each.link,
            seconds=each.seconds,
            derived=each.collection in derived,
        )
        for each in list(citations)[:most]
    ]
