"""Finds the concepts around some seeds, and scores their closeness."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType

from vr_kernel import require_extra

from vr_plugin_knowledge.graph.concepts import Concept, Relation
from vr_plugin_knowledge.graph.identity import MUTUAL
from vr_plugin_knowledge.graph.network import Network
from vr_plugin_knowledge.graph.results import Direction

DAMPING = 0.85
"""The chance of going on to a neighbour instead of back to a seed (Brin and Page, 1998)."""
ROUNDS = 200
"""Most rounds, far more than needed: each multiplies the error by the damping."""
TOLERANCE = 1e-6
"""Largest error of all scores together, whose sum is 1."""
INSTALL = "pip install 'video-research[graph]'"


@dataclass(slots=True)
class Region:
    """A part of a graph: concepts, their distances from the seeds, and their relationships."""

    seeds: Mapping[str, float] = field(default_factory=dict)
    concepts: dict[str, Concept] = field(default_factory=dict)
    depths: dict[str, int] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)
    scores: dict[str, float] = field(default_factory=dict)

    def cut(self, limit: int) -> Region:
        """The seeds and the concepts of the best scores, at most `limit`."""
        order = sorted(self.concepts, key=lambda each: (each not in self.seeds, -self.score(each)))
        kept = {each: self.concepts[each] for each in order[:limit]}
        joining = [each for each in self.relations if each.start in kept and each.end in kept]
        return Region(self.seeds, kept, self.depths, joining, self.scores)

    def score(self, identity: str) -> float:
        """The closeness of a concept to the seeds; all concepts together have 1."""
        return self.scores.get(identity, 0.0)


def traverse(
    network: Network,
    seeds: Mapping[str, float],
    *,
    depth: int,
    kinds: Collection[str] | None = None,
    direction: Direction = "both",
) -> Region:
    """All concepts within `depth` relationships of the seeds; without seeds, all concepts.

    Args:
        network: the graph.
        seeds: concepts to start from, with their weights.
        depth: largest distance in relationships.
        kinds: types of relationships to follow; all when left out.
        direction: `out` follows them from their start, `in` from their end. Mutual types are
            followed in both directions.
    """
    region = Region(seeds)
    frontier: Iterable[str] = seeds or network.identities()
    for distance in range(depth + 1):
        reached = [each for each in dict.fromkeys(frontier) if each not in region.depths]
        known = {each: concept for each in reached if (concept := network.concept(each))}
        region.concepts |= known
        region.depths |= dict.fromkeys(known, distance)
        frontier = [
            relation.other(each)
            for each in known
            for relation in network.around(each)
            if _follows(relation, each, kinds, direction)
        ]
    joining = {
        relation.id: relation
        for each in region.concepts
        for relation in network.around(each)
        if relation.other(each) in region.concepts and (not kinds or relation.kind in kinds)
    }
    region.relations = list(joining.values())
    return region


def rank(region: Region, direction: Direction = "both") -> Region:
    """Give every concept of a region its score: PageRank, personalised to the seeds.

    A relationship's weight is the number of records that state it. `direction` says in which way
    relationships are followed.

    Raises:
        VrError: UNAVAILABLE, category EXTRA_MISSING, without rustworkx.
    """
    rustworkx = graph_library()
    graph = rustworkx.PyDiGraph()
    places = dict(zip(region.concepts, graph.add_nodes_from(list(region.concepts)), strict=True))
    graph.add_edges_from(list(_arcs(region, places, direction)))
    if places:
        found = rustworkx.pagerank(
            graph,
            alpha=DAMPING,
            weight_fn=float,
            personalization={places[each]: w for each, w in region.seeds.items() if each in places}
            or None,
            tol=TOLERANCE / len(places),  # the library multiplies it by the number of nodes
            max_iter=ROUNDS,
        )
        region.scores = {each: found[place] for each, place in places.items()}
    return region


def _arcs(
    region: Region, places: Mapping[str, int], direction: Direction
) -> Iterator[tuple[int, int, float]]:
    for relation in region.relations:
        start, end = places[relation.start], places[relation.end]
        weight = float(max(1, len(relation.citations)))
        mutual = direction == "both" or relation.kind in MUTUAL
        if mutual or direction == "out":
            yield start, end, weight
        if (mutual and start != end) or direction == "in":
            yield end, start, weight


def graph_library() -> ModuleType:
    """The library for graphs.

    Raises:
        VrError: UNAVAILABLE, category EXTRA_MISSING, when it is not installed.
    """
    library: ModuleType = require_extra(
        "rustworkx", "Following a graph needs rustworkx, which is not installed.", INSTALL
    )
    return library


def _follows(
    relation: Relation, at: str, kinds: Collection[str] | None, direction: Direction
) -> bool:
    if kinds and relation.kind not in kinds:
        return False
    return (
        direction == "both"
        or relation.kind in MUTUAL
        or at == (relation.start if direction == "out" else relation.end)
    )
