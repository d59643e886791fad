"""Positions of the concepts in a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from vr_plugin_knowledge.graph.traversal import graph_library

Point = tuple[float, float]
ROUNDS = 300
SEED = 4
"""The same graph is laid out in the same way each time."""
GAP = 0.6
TURN = math.pi * (3 - math.sqrt(5))
"""The golden angle: points on a spiral that turns by it are spread evenly (Vogel, 1979)."""
DIGITS = 4


def lay_out(nodes: int, edges: Sequence[tuple[int, int]]) -> list[Point]:
    """A position for each node, within about 1 of the middle.

    Each connected part is laid out by forces (Fruchterman and Reingold, 1991); the parts are placed
    around the largest one, each with room by its size.

    Raises:
        VrError: UNAVAILABLE, category EXTRA_MISSING, without rustworkx.
    """
    rustworkx = graph_library()
    graph = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from([(start, end, None) for start, end in edges if start != end])
    parts = sorted(map(sorted, rustworkx.connected_components(graph)), key=lambda p: (-len(p), p))
    places: list[Point] = [(0.0, 0.0)] * nodes
    discs: list[tuple[float, float, float]] = []
    step = 0
    for part in parts:
        radius = math.sqrt(len(part))
        while not _is_free(discs, at := _spiral(step), radius):
            step += 1
        discs.append((*at, radius))
        for node, (x, y) in zip(part, _within(rustworkx, graph, part), strict=True):
            places[node] = (at[0] + x * radius, at[1] + y * radius)
    size = max(math.sqrt(nodes), 1.0)
    return [(round(x / size, DIGITS), round(y / size, DIGITS)) for x, y in places]


def _within(rustworkx: Any, graph: Any, part: list[int]) -> list[Point]:
    """Places of the nodes of one part, at most 1 from its middle."""
    if len(part) == 1:
        return [(0.0, 0.0)]
    found = rustworkx.spring_layout(graph.subgraph(part), num_iter=ROUNDS, seed=SEED)
    points = [found[number] for number in range(len(part))]
    x, y = (sum(axis) / len(part) for axis in zip(*points, strict=True))
    reach = max(math.hypot(a - x, b - y) for a, b in points) or 1.0
    return [((a - x) / reach, (b - y) / reach) for a, b in points]


def _spiral(step: int) -> Point:
    distance = math.sqrt(step)
    return distance * math.cos(step * TURN), distance * math.sin(step * TURN)


def _is_free(discs: Sequence[tuple[float, float, float]], at: Point, radius: float) -> bool:
    return all(math.dist(at, (x, y)) >= radius + other + GAP for x, y, other in discs)
