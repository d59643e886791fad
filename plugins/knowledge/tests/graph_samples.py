"""Samples for tests of the knowledge graph: texts, a model's answers to them, networks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vr_kernel import Change, Record
from vr_plugin_knowledge.graph.identity import CONCEPTS, EDGES
from vr_plugin_knowledge.graph.network import EXTRACTOR, Network
from vr_testing import RecordedRequest

FOX = {
    "title": "Foxes",
    "text": "The fox hunts voles in deep snow. Its hearing enables the mousing dive.",
    "video_id": "v1",
    "url": "https://example.org/watch?v=v1&t=12s",
}
OWL = {
    "title": "Owls",
    "text": "Owls also live on voles. Silent flight builds on soft feathers.",
    "video_id": "v2",
    "url": "https://example.org/watch?v=v2&t=5s",
}
ABOUT_FOX = {
    "concepts": [
        {
            "name": "Fox",
            "description": "A hunter of voles.",
            "aliases": ["red fox"],
            "quote": "The fox hunts voles in deep snow",
        },
        {"name": "Vole", "description": "Prey.", "quote": "hunts voles in deep snow"},
        {"name": "Unicorn", "description": "Not there.", "quote": "unicorns are quite common here"},
    ],
    "relations": [
        {
            "from_concept": "Hearing",
            "to_concept": "Mousing dive",
            "type": "enables",
            "quote": "Its hearing enables the mousing dive",
        },
        {
            "from_concept": "red fox",
            "to_concept": "Vole",
            "type": "eats",
            "quote": "The fox hunts voles",
        },
        {
            "from_concept": "Fox",
            "to_concept": "Unicorn",
            "type": "builds_on",
            "quote": "foxes come from unicorns",
        },
    ],
}
ABOUT_OWL = {
    "concepts": [
        {"name": "owl", "quote": "Owls also live on voles"},
        {"name": "voles", "description": "A rodent.", "quote": "live on voles"},
    ],
    "relations": [
        {
            "from_concept": "Silent flight",
            "to_concept": "Soft feather",
            "type": "builds_on",
            "quote": "Silent flight builds on soft feathers.",
        },
        {
            "from_concept": "Vole",
            "to_concept": "Owl",
            "type": "related_to",
            "quote": "Owls also live on voles",
        },
    ],
}
NOTHING: dict[str, Any] = {"concepts": [], "relations": []}


def tell(request: RecordedRequest) -> Mapping[str, Any]:
    """A model's answers to the texts above."""
    if "The fox hunts" in request.text:
        return ABOUT_FOX
    return ABOUT_OWL if "Owls also live" in request.text else NOTHING


def network_of(
    edges: Iterable[tuple[str, str, str]], concepts: Iterable[Mapping[str, Any]] = ()
) -> Network:
    """A graph of relationships, and of records of concepts."""
    network, numbers = Network(), itertools.count(1)
    for fields in concepts:
        apply(network, [Record(CONCEPTS, fields, f"c{next(numbers)}")])
    for start, kind, end in edges:
        fields = {"from_concept": start, "relationship_type": kind, "to_concept": end}
        apply(network, [Record(EDGES, fields, f"e{next(numbers)}")])
    return network


def apply(network: Network, records: Sequence[Record], tool: str = EXTRACTOR) -> None:
    """Let a graph see records, as the journal would show them."""
    for record in records:
        network.apply(change(record.kind, record.key or "", record.fields, tool))


def change(kind: str, key: str, fields: Mapping[str, Any] | None, tool: str = EXTRACTOR) -> Change:
    """The newest state of a record."""
    state = None if fields is None else dict(fields)
    return Change(1, "default", kind, key, state, {"tool": tool}, "2026-01-01T00:00:00+00:00")
