"""A person's record of a concept or relationship, merged over the graph's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vr_kernel import Call

from vr_plugin_knowledge.graph.concepts import (
    concept_fields,
    read_concept,
    read_relation,
    relation_fields,
)
from vr_plugin_knowledge.graph.extracting import own_graph
from vr_plugin_knowledge.graph.follower import Networks
from vr_plugin_knowledge.graph.identity import CONCEPTS
from vr_plugin_knowledge.graph.network import Network


async def renew(
    call: Call, collection: str, objects: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The objects of one of the graph's collections, each merged over the record it replaces.

    Fields that an object does not name stay as they are, above all citations.
    """
    await own_graph(call)
    renewed: dict[str, dict[str, Any]] = {}
    made = []
    async with call.services.providers.get(Networks).current(call.workspace) as network:
        for given in objects:
            identity = _identity(collection, given)
            known = renewed.get(identity) or _known(network, collection, identity)
            whole = {**known, **given}
            fields = {name: value for name, value in whole.items() if value is not None}
            if identity:
                renewed[identity] = fields
            made.append(fields)
    return made


def _identity(collection: str, fields: Mapping[str, Any]) -> str:
    read = read_concept if collection == CONCEPTS else read_relation
    found = read("", fields, by_hand=True)
    return found.id if found else ""


def _known(network: Network, collection: str, identity: str) -> dict[str, Any]:
    if collection == CONCEPTS:
        concept = network.concepts.get(identity)
        return concept_fields(concept) if concept else {}
    relation = network.relations.get(identity)
    return relation_fields(relation) if relation else {}
