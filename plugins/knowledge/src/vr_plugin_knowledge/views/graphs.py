"""Graphs of concepts, and what a reading for concepts found."""

from __future__ import annotations

from collections.abc import Iterable

from vr_kernel import Services, visible_line
from vr_kernel.views import (
    Action,
    Block,
    Cell,
    Edge,
    Facts,
    File,
    Graph,
    Item,
    Link,
    Node,
    Prose,
    Quote,
    Records,
    View,
    view,
)

from vr_plugin_knowledge.graph.identity import CONCEPTS
from vr_plugin_knowledge.graph.results import (
    GraphNode,
    GraphSource,
    KnowledgeExtracted,
    KnowledgeGraph,
)

GROUPS = ("know", "fuzzy", "unknown")
"""States of a concept, in the order of a legend."""


@view(tool="knowledge_graph")
async def show_graph(services: Services, graph: KnowledgeGraph) -> View:
    """The concepts and what relates them; of an export the file, and the closest concepts."""
    del services
    about = [_counted(graph.total_nodes, "concept"), _counted(graph.total_edges, "relationship")]
    blocks: list[Block] = []
    if graph.path or graph.artifact:
        blocks.append(File(graph.artifact or graph.path or "", title="Exported"))
        items = [_item(node) for node in graph.nodes]
        blocks.append(Records(items, graph.total_nodes, title="Closest concepts"))
    elif graph.nodes:
        if len(graph.nodes) < graph.total_nodes:
            about.append(f"the {len(graph.nodes)} closest are here")
        blocks.append(_graph(graph))
    else:
        blocks.append(Prose("No concepts."))
        about = []
    return View("Knowledge graph", blocks, about, notes=graph.notes)


@view(tool="knowledge_extract")
async def show_extracted(services: Services, found: KnowledgeExtracted) -> View:
    """Counts of new entries and of records read, and the records that could not be read."""
    del services
    rows: list[tuple[str, Cell]] = [
        ("New concepts", found.new_concepts),
        ("New relationships", found.new_relationships),
        ("Concepts in what was read", found.concepts),
        ("Relationships in what was read", found.relationships),
        ("Records read now", found.records_read),
        ("Read before", found.already_read),
        ("Left for another call", found.remaining),
        ("Dropped, as their quote was not found", found.dropped),
    ]
    blocks: list[Block] = (
        [Facts([row for row in rows if row[1]])] if any(r[1] for r in rows) else []
    )
    if found.failed:
        items = [Item(it.error, id=f"{it.collection}/{it.object_id}") for it in found.failed]
        blocks.append(Records(items, title="Not read"))
    if found.concepts:
        blocks.append(Action("knowledge_graph", {}, title="See how they are related"))
    return View("Concepts", blocks, notes=found.notes)


def quotes_of(sources: Iterable[GraphSource]) -> list[Quote]:
    """The words of sources, with title, moment and link."""
    return [
        Quote(each.quote, Link(each.link, each.title or each.collection, each.seconds))
        for each in sources
    ]


def _graph(graph: KnowledgeGraph) -> Graph:
    places = {node.concept: number for number, node in enumerate(graph.nodes)}
    nodes = [
        Node(each.concept, each.state, each.description, each.score, quotes_of(each.sources))
        for each in graph.nodes
    ]
    edges = [
        Edge(
            places[each.from_concept],
            places[each.to_concept],
            each.relationship_type,
            quotes_of(each.sources),
        )
        for each in graph.edges
        if each.from_concept in places and each.to_concept in places
    ]
    states = {node.state for node in graph.nodes}
    return Graph(nodes, edges, [*GROUPS, *sorted(states.difference(GROUPS))])


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _item(node: GraphNode) -> Item:
    identity = f"{CONCEPTS}/{node.object_id}" if node.object_id else ""
    return Item(node.concept, visible_line(node.description), facts=[node.state], id=identity)
