"""The list of a graph's nodes, each with its relations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from vr_kernel.views import Edge, Graph, Node

from vr_pages.drawing import Drawing
from vr_pages.markup import NOTHING, Html, element


def graph(block: Graph, drawing: Drawing) -> Html:
    """Nodes with their relations; a relation stands where it begins."""
    leaving: dict[int, list[Edge]] = defaultdict(list)
    for edge in block.edges:
        if min(edge.start, edge.end) >= 0 and max(edge.start, edge.end) < len(block.nodes):
            leaving[edge.start].append(edge)
    items = [
        _node(node, [_edge(edge, block.nodes, drawing) for edge in leaving[number]], drawing)
        for number, node in enumerate(block.nodes)
    ]
    return element("ul", *items, class_="nodes") if items else NOTHING


def _node(node: Node, edges: Sequence[Html], drawing: Drawing) -> Html:
    return element(
        "li",
        element("b", node.name, dir="auto"),
        element("span", node.group, class_="chip") if node.group else NOTHING,
        element("p", node.text, dir="auto") if node.text else NOTHING,
        *(drawing.quote(quote) for quote in node.quotes),
        element("ul", *edges) if edges else NOTHING,
    )


def _edge(edge: Edge, nodes: Sequence[Node], drawing: Drawing) -> Html:
    label = edge.label.replace("_", " ")
    return element(
        "li",
        element("span", f"{label} ", class_="relation") if label else NOTHING,
        "→ ",
        element("b", nodes[edge.end].name, dir="auto"),
        *(drawing.quote(quote) for quote in edge.quotes),
    )
