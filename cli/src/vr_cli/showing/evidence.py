"""Claims with their quotes, and graphs, at a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from vr_kernel.views import Claim, Claims, Edge, Graph, Node

from vr_cli.showing.pen import BOLD, DIM, Pen

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

CLAIMS, QUOTES, NODES, EDGES = 10, 2, 15, 15
"""Things of each kind in a summary; quotes are those of a claim."""


def _claims(block: Claims, pen: Pen) -> Iterator[RenderableType]:
    shown = block.items[: pen.most(block.items, CLAIMS)]
    if not shown:
        return
    grid = pen.grid(DIM, "", gap=1)
    for each in shown:
        grid.add_row(pen.text("•"), _claim(each, pen))
    yield grid
    pen.leave(block.title, len(block.items) - len(shown), "claims")


def _claim(claim: Claim, pen: Pen) -> Text:
    tier = f"({claim.tier})" if claim.tier else ""
    quotes = claim.quotes[: pen.most(claim.quotes, QUOTES)]
    against = claim.against[: pen.most(claim.against, QUOTES)]
    lines = [pen.joined([pen.line(claim.text, BOLD), pen.line(tier, DIM)])]
    lines += [pen.quote(each, lines=2) for each in quotes]
    lines += [pen.joined([pen.text("Against:", "red"), pen.quote(it, lines=2)]) for it in against]
    pen.leave("", len(claim.quotes) + len(claim.against) - len(quotes) - len(against), "quotes")
    return pen.joined(lines, "\n")


def _graph(block: Graph, pen: Pen) -> Iterator[RenderableType]:
    nodes = block.nodes[: pen.most(block.nodes, NODES)]
    if nodes:
        grid = pen.grid(DIM, "", gap=1)
        for node in nodes:
            grid.add_row(pen.text("•"), _node(node, pen))
        yield grid
    edges = [
        it
        for it in block.edges
        if min(it.start, it.end) >= 0 and max(it.start, it.end) < len(block.nodes)
    ]
    shown = edges[: pen.most(edges, EDGES)]
    if shown:
        yield ""
        yield from (_edge(each, block, pen) for each in shown)
    pen.leave("", len(block.nodes) - len(nodes), "concepts")
    pen.leave("", len(edges) - len(shown), "relations")


def _node(node: Node, pen: Pen) -> Text:
    group = f"({node.group})" if node.group else ""
    text = pen.joined([pen.line(node.name, BOLD), pen.line(group, DIM), pen.line(node.text)])
    if not pen.full:
        return pen.cut(text, 2, pen.window.width - 2)
    return pen.joined([text, *map(pen.quote, node.quotes)], "\n")


def _edge(edge: Edge, block: Graph, pen: Pen) -> Text:
    label = f"→ {edge.label.replace('_', ' ')}".strip()
    return pen.joined(
        [
            pen.line(block.nodes[edge.start].name),
            pen.line(label, DIM),
            pen.line(block.nodes[edge.end].name),
        ]
    )


DRAWERS: Mapping[str, Callable[[Any, Pen], Iterator[Any]]] = {
    "Claims": _claims,
    "Graph": _graph,
}
"""The function that draws each of these blocks."""
