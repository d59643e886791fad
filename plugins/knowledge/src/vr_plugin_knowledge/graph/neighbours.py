"""Concepts that are related to the hits of a search."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from vr_kernel import Call, Hit

from vr_plugin_knowledge.graph.concepts import Concept, Relation
from vr_plugin_knowledge.graph.follower import Networks
from vr_plugin_knowledge.graph.identity import CONCEPTS, EDGES, identify
from vr_plugin_knowledge.graph.network import Network
from vr_plugin_knowledge.graph.results import Neighbour

MOST_NEIGHBOURS = 10


async def graph_neighbours(
    call: Call, hits: Sequence[Hit], workspace: str = "", limit: int = MOST_NEIGHBOURS
) -> list[Neighbour]:
    """Concepts next to those that the hits are about, the most connected first.

    A hit is about the concept or the relationship that it is, or about the concepts that were found
    in it. Concepts that hits are about are not listed as neighbours. No library is needed.
    """
    networks = call.services.providers.get(Networks)
    async with networks.current(workspace or call.workspace) as network:
        about: defaultdict[str, list[str]] = defaultdict(list)
        for hit in hits:
            for identity in _subjects(network, hit):
                about[identity].append(hit.record.key)
        steps = [
            (relation, identity)
            for identity in about
            for relation in network.around(identity)
            if relation.other(identity) not in about
        ]
        weight: Counter[str] = Counter()
        for relation, identity in steps:
            weight[relation.other(identity)] += max(1, len(relation.citations))
        steps.sort(key=lambda step: -weight[step[0].other(step[1])])
        found: dict[str, Neighbour] = {}
        for relation, identity in steps:
            if relation.other(identity) not in found and len(found) < limit:
                found[relation.other(identity)] = _neighbour(
                    network, relation, identity, about[identity]
                )
        return list(found.values())


def _subjects(network: Network, hit: Hit) -> Iterator[str]:
    fields = hit.record.fields
    if hit.record.kind == CONCEPTS:
        yield identify(fields.get("concept_name") or "")
    elif hit.record.kind == EDGES:
        yield from (identify(fields.get(end) or "") for end in ("from_concept", "to_concept"))
    else:
        for found in network.citing(hit.record.kind, hit.record.key):
            if isinstance(found, Concept):
                yield found.id


def _neighbour(network: Network, relation: Relation, subject: str, hits: list[str]) -> Neighbour:
    ends = [network.concept(end) for end in (relation.start, relation.end)]
    names = [end.name if end else name for end, name in zip(ends, relation.names, strict=True)]
    other = ends[1 if relation.start == subject else 0]
    said = next(iter(relation.citations), None)
    return Neighbour(
        concept=names[1 if relation.start == subject else 0],
        object_id=(other.key or None) if other else None,
        from_concept=names[0],
        relationship_type=relation.kind,
        to_concept=names[1],
        quote=said.quote if said else "",
        link=said.link if said else "",
        hits=list(dict.fromkeys(hits)),
    )
