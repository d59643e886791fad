"""The concepts and relationships of one workspace in memory, with their neighbours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, MutableMapping
from functools import reduce
from typing import Any

from vr_kernel import Change

from vr_plugin_knowledge.graph.concepts import (
    Concept,
    Relation,
    join_concepts,
    join_relations,
    read_concept,
    read_relation,
)
from vr_plugin_knowledge.graph.identity import CONCEPTS, EDGES, identify

EXTRACTOR = "knowledge_extract"
"""The tool whose records yield to a person's record of the same concept."""
BY_HAND = "by_hand"
"""In the provenance of a record: a person recorded it before the extractor added to it."""
Entity = tuple[str, str]
"""A collection, and the identity of a concept or relationship in it."""


class Network:
    """One workspace's graph; several records of one concept are one node.

    Not safe to change from one thread while another reads it.
    """

    def __init__(self) -> None:
        self.concepts: dict[str, Concept] = {}
        self.relations: dict[str, Relation] = {}
        self._entities: dict[tuple[str, str], Entity] = {}
        self._parts: defaultdict[Entity, dict[str, Concept | Relation]] = defaultdict(dict)
        self._around: defaultdict[str, dict[str, Relation]] = defaultdict(dict)
        self._citing: defaultdict[tuple[str, str], set[Entity]] = defaultdict(set)
        self._aliases: defaultdict[str, set[str]] = defaultdict(set)

    def apply(self, change: Change) -> None:
        """Apply the newest state of a record of one of the two collections."""
        record = (change.kind, change.key)
        if (before := self._entities.pop(record, None)) is not None:
            del self._parts[before][change.key]
            self._settle(before)
        if change.fields is None:
            return
        by_hand = change.provenance.get("tool") != EXTRACTOR or BY_HAND in change.provenance
        read = read_concept if change.kind == CONCEPTS else read_relation
        part = read(change.key, change.fields, by_hand=by_hand)
        if part is not None:
            entity = self._entities[record] = (change.kind, part.id)
            self._parts[entity][change.key] = part
            self._settle(entity)

    def concept(self, identity: str) -> Concept | None:
        """A concept, also one that only relationships name."""
        if identity in self.concepts:
            return self.concepts[identity]
        relation = next(iter(self._around.get(identity, {}).values()), None)
        if relation is None:
            return None
        return Concept(identity, relation.names[0 if relation.start == identity else 1])

    def find(self, name: str) -> list[Concept]:
        """The concept of that name, or else those that have it as an alias."""
        identity = identify(name)
        found = self.concept(identity)
        if found is not None:
            return [found]
        return [self.concepts[each] for each in sorted(self._aliases.get(identity, ()))]

    def names(self) -> Iterator[str]:
        """The names and aliases of all concepts."""
        for concept in self.concepts.values():
            yield concept.name
            yield from concept.aliases

    def identities(self) -> list[str]:
        """All concepts, with those that only relationships name."""
        return list(dict.fromkeys((*self.concepts, *self._around)))

    def around(self, identity: str) -> Collection[Relation]:
        """The relationships of a concept, in both directions."""
        return self._around.get(identity, {}).values()

    def citing(self, collection: str, object_id: str) -> list[Concept | Relation]:
        """Entries that cite a record."""
        found = sorted(self._citing.get((collection, object_id), ()))
        return [self.concepts[n] if kind == CONCEPTS else self.relations[n] for kind, n in found]

    def _settle(self, entity: Entity) -> None:
        """Make one node or edge from all records of an entity; remove it when there is none."""
        kind, identity = entity
        self._forget(entity)
        parts = sorted(self._parts[entity].values(), key=lambda part: part.origin.by_hand)
        if not parts:
            del self._parts[entity]
            return
        whole: Concept | Relation
        if kind == CONCEPTS:
            whole = reduce(join_concepts, [part for part in parts if isinstance(part, Concept)])
            self.concepts[identity] = whole
            for alias in whole.aliases:
                self._aliases[identify(alias)].add(identity)
        else:
            whole = reduce(join_relations, [part for part in parts if isinstance(part, Relation)])
            self.relations[identity] = whole
            self._around[whole.start][identity] = self._around[whole.end][identity] = whole
        for citation in whole.citations:
            self._citing[citation.record].add(entity)

    def _forget(self, entity: Entity) -> None:
        kind, identity = entity
        whole: Concept | Relation | None
        if kind == EDGES:
            whole = self.relations.pop(identity, None)
            for end in {whole.start, whole.end} if whole else ():
                self._around[end].pop(identity, None)
                _sweep(self._around, end)
        else:
            whole = self.concepts.pop(identity, None)
            for alias in whole.aliases if whole else ():
                self._aliases[identify(alias)].discard(identity)
                _sweep(self._aliases, identify(alias))
        for citation in whole.citations if whole else ():
            self._citing[citation.record].discard(entity)
            _sweep(self._citing, citation.record)


def _sweep(index: MutableMapping[Any, Any], name: object) -> None:
    """Remove the entry of an entity without records."""
    if not index[name]:
        del index[name]
