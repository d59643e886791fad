"""A graph: its nodes as a list, which a script draws as a picture beside it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from vr_kernel.views import Edge, Graph, Node

from vr_pages.drawing import Drawing
from vr_pages.markup import NOTHING, Html, element, joined

SIGNS = "●◆○■▲"
"""The shapes of groups, in their order; the script draws nodes in them."""
OPEN = 8
"""Most nodes whose texts are unfolded from the start."""
Relations = Mapping[int, Sequence[Edge]]


def graph(block: Graph, drawing: Drawing) -> Html:
    """Nodes with their relations, and what the script needs to draw them."""
    if not block.nodes:
        return NOTHING
    name = f"g{next(drawing.numbers)}"
    named = [*block.groups, *(each.group for each in block.nodes if each.group)]
    groups = {group: number for number, group in enumerate(dict.fromkeys(named))}
    leaving, coming = _relations(block)
    items = [
        element(
            "li",
            element(
                "details",
                _summary(node, groups),
                element("p", node.text, dir="auto") if node.text else NOTHING,
                *(drawing.quote(quote) for quote in node.quotes),
                _leaving(leaving[number], block.nodes, name, drawing),
                _coming(coming[number], block.nodes, name),
                open=len(block.nodes) <= OPEN,
            ),
            id=f"{name}-{number}",
            data_group=groups.get(node.group),
            data_weight=node.weight or None,
            data_at=",".join(map(str, node.at)) if node.at else "",
        )
        for number, node in enumerate(block.nodes)
    ]
    map_ = element("div", class_="map", hidden=True, data_groups="\n".join(groups))
    return element("div", map_, element("ol", *items, class_="nodes"), class_="network")


def _relations(block: Graph) -> tuple[Relations, Relations]:
    """The edges by the node at which they start, and by the one at which they end."""
    leaving: dict[int, list[Edge]] = defaultdict(list)
    coming: dict[int, list[Edge]] = defaultdict(list)
    for edge in block.edges:
        if min(edge.start, edge.end) >= 0 and max(edge.start, edge.end) < len(block.nodes):
            leaving[edge.start].append(edge)
            coming[edge.end].append(edge)
    return leaving, coming


def _summary(node: Node, groups: Mapping[str, int]) -> Html:
    number = groups.get(node.group)
    if number is None:
        return element("summary", element("b", node.name, dir="auto"))
    sign = element(
        "i", SIGNS[number % len(SIGNS)], class_=f"g{number % len(SIGNS)}", aria_hidden="true"
    )
    chip = element("span", sign, " ", element("span", node.group, class_="group"), class_="chip")
    return element("summary", element("b", node.name, dir="auto"), " ", chip)


def _leaving(edges: Sequence[Edge], nodes: Sequence[Node], name: str, drawing: Drawing) -> Html:
    items = [
        element(
            "li",
            _label(edge),
            _to(edge.end, nodes, name),
            *(drawing.quote(quote) for quote in edge.quotes),
            data_to=str(edge.end),
            data_label=edge.label,
        )
        for edge in edges
    ]
    return element("ul", *items, class_="relations") if items else NOTHING


def _coming(edges: Sequence[Edge], nodes: Sequence[Node], name: str) -> Html:
    """The same relations from the other end, without their quotes."""
    items = [
        element("li", _to(edge.start, nodes, name), " ", _label(edge), "this")
        for edge in edges
        if edge.start != edge.end
    ]
    return element("ul", *items, class_="relations") if items else NOTHING


def _label(edge: Edge) -> Html:
    words = edge.label.replace("_", " ") or "→"
    return joined(element("span", words, class_="relation"), " ")


def _to(number: int, nodes: Sequence[Node], name: str) -> Html:
    words = nodes[number].name or f"Node {number + 1}"
    return element("a", words, href=f"#{name}-{number}", target="_self", dir="auto")
