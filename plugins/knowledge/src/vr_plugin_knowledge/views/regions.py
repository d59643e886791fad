"""A part of the graph as a picture: its concepts where they were laid out, with their quotes."""

from __future__ import annotations

from vr_kernel.views import Edge, Graph, Node, View

from vr_plugin_knowledge.graph.concepts import UNKNOWN, Concept
from vr_plugin_knowledge.graph.layout import lay_out
from vr_plugin_knowledge.graph.traversal import Region
from vr_plugin_knowledge.views.concepts import quote_of
from vr_plugin_knowledge.views.graphs import GROUPS

NODE_QUOTES, EDGE_QUOTES = 12, 3
"""Most quotes of a concept and of a relationship that are shown."""


def view_of_region(region: Region, subject: str = "") -> View:
    """The concepts of a region, the closest first, and their relationships.

    Raises:
        VrError: UNAVAILABLE, category EXTRA_MISSING, without rustworkx.
    """
    places = {identity: number for number, identity in enumerate(region.concepts)}
    ends = [(places[each.start], places[each.end]) for each in region.relations]
    layout = lay_out(len(places), ends)
    reach = max((abs(axis) for point in layout for axis in point), default=0.0) or 1.0
    nodes = [
        Node(
            concept.name,
            concept.state or UNKNOWN,
            _about(concept),
            region.score(identity),
            [quote_of(each) for each in concept.citations[:NODE_QUOTES]],
            _at(layout[places[identity]], reach),
        )
        for identity, concept in region.concepts.items()
    ]
    edges = [
        Edge(start, end, each.kind, [quote_of(it) for it in each.citations[:EDGE_QUOTES]])
        for (start, end), each in zip(ends, region.relations, strict=True)
    ]
    others = sorted({node.group for node in nodes}.difference(GROUPS))
    title = f"Knowledge graph: {subject}" if subject else "Knowledge graph"
    about = [_count(len(nodes), "concept"), _count(len(edges), "relationship")]
    return View(title, [Graph(nodes, edges, [*GROUPS, *others])], about)


def _about(concept: Concept) -> str:
    also = f"Also called {', '.join(concept.aliases)}." if concept.aliases else ""
    return " ".join(filter(None, [concept.description, also]))


def _at(point: tuple[float, float], reach: float) -> tuple[float, float]:
    """A place within `reach` of the middle, in the unit square."""
    x, y = (round((axis / reach + 1) / 2, 4) for axis in point)
    return x, y


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
