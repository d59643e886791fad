"""Merges readings into records: one for each concept and relationship, with all citations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from vr_kernel import Record

from vr_plugin_knowledge.graph.answer import SeenConcept, SeenRelation
from vr_plugin_knowledge.graph.citations import Citation, join_citations
from vr_plugin_knowledge.graph.concepts import (
    UNKNOWN,
    Concept,
    Origin,
    Relation,
    concept_fields,
    relation_fields,
)
from vr_plugin_knowledge.graph.identity import (
    CONCEPTS,
    EDGES,
    identify,
    identify_edge,
    key_of,
)
from vr_plugin_knowledge.graph.network import BY_HAND, Network
from vr_plugin_knowledge.graph.reading import Reading, Source

E = TypeVar("E", Concept, Relation)


@dataclass(slots=True)
class Merger:
    """Merges readings with a graph, without changing it, and gives the records to make.

    Existing entries keep their name, description and state. A reading replaces readings of earlier
    versions of its record.

    Args:
        network: the graph as it is.
    """

    network: Network
    concepts: dict[str, Concept] = field(default_factory=dict)
    relations: dict[str, Relation] = field(default_factory=dict)

    def add(self, source: Source, reading: Reading) -> None:
        """Add the concepts and relationships of one record."""
        self.withdraw(source.citation.record)
        names = _own_names(reading.concepts)
        for seen in reading.concepts:
            citation = source.cite(seen.quote)
            self._meet(identify(seen.name), seen, citation, source.origin)
        for relation in reading.relations:
            self._join(relation, names, source)

    def withdraw(self, record: tuple[str, str]) -> None:
        """Remove the citations of a record, given by collection and key."""
        for found in self.network.citing(*record):
            if isinstance(found, Concept):
                self.concepts[found.id] = _without(self.concepts.get(found.id, found), record)
            else:
                self.relations[found.id] = _without(self.relations.get(found.id, found), record)

    def records(self) -> list[Record]:
        """New and changed entries, concepts first; a concept that nobody rated is unknown."""
        concepts = [each for each in self.concepts.values() if self._is_news(each)]
        relations = [each for each in self.relations.values() if self._is_news(each)]
        return [
            *(_record(CONCEPTS, each, concept_fields(each)) for each in concepts),
            *(_record(EDGES, each, relation_fields(each)) for each in relations),
        ]

    def forgotten(self) -> list[tuple[str, str]]:
        """Collection and key of entries that no record supports, and that nobody rated or wrote."""
        unjudged = (each for each in self.concepts.values() if not _judged(each))
        gone = [(CONCEPTS, each.id) for each in unjudged if _unsaid(each)]
        gone += [(EDGES, each.id) for each in self.relations.values() if _unsaid(each)]
        return [(kind, key_of(kind, identity)) for kind, identity in gone]

    def new(self) -> tuple[int, int]:
        """Count the concepts and relationships that the graph did not have."""
        concepts = sum(each not in self.network.concepts for each in self.concepts)
        return concepts, sum(each not in self.network.relations for each in self.relations)

    def _meet(self, identity: str, seen: SeenConcept, citation: Citation, origin: Origin) -> None:
        known = self.concepts.get(identity) or self.network.concepts.get(identity)
        concept = known or Concept(identity, seen.name, state=UNKNOWN, origin=origin)
        self.concepts[identity] = replace(
            concept,
            description=concept.description or seen.description,
            aliases=tuple(dict.fromkeys((*concept.aliases, *seen.aliases))),
            citations=join_citations(concept.citations, [citation]),
        )

    def _join(self, seen: SeenRelation, names: dict[str, str], source: Source) -> None:
        ends = [(identify(name), name) for name in (seen.from_concept, seen.to_concept)]
        (start, first), (end, second) = [(names.get(each, each), name) for each, name in ends]
        if start == end:
            return
        citation = source.cite(seen.quote)
        for identity, name in ((start, first), (end, second)):
            if not self._is_cited(identity, citation):  # only the relationship's quote is there
                bare = SeenConcept(name=name, quote=seen.quote)
                self._meet(identity, bare, citation, source.origin)
        identity = identify_edge(start, seen.type, end)
        known = self.relations.get(identity) or self.network.relations.get(identity)
        shown = (self.concepts[start].name, self.concepts[end].name)
        relation = known or Relation(
            identity, start, end, seen.type, shown, origin=replace(source.origin, title="")
        )
        self.relations[identity] = replace(
            relation, citations=join_citations(relation.citations, [citation])
        )

    def _is_cited(self, identity: str, citation: Citation) -> bool:
        concept = self.concepts.get(identity)
        return concept is not None and any(
            each.record == citation.record for each in concept.citations
        )

    def _is_news(self, each: Concept | Relation) -> bool:
        if _unsaid(each) and not _judged(each):
            return False
        known = self.network.concepts if isinstance(each, Concept) else self.network.relations
        return cast("object", known.get(each.id)) != each


def _record(collection: str, each: Concept | Relation, fields: dict[str, Any]) -> Record:
    said = {BY_HAND: True} if each.origin.by_hand else {}
    return Record(collection, fields, key_of(collection, each.id), said)


def _judged(each: Concept | Relation) -> bool:
    return isinstance(each, Concept) and each.state not in ("", UNKNOWN)


def _unsaid(each: Concept | Relation) -> bool:
    """True when neither a record nor a person supports it any more."""
    return not each.citations and not each.origin.by_hand


def _without(each: E, record: tuple[str, str]) -> E:
    left = tuple(citation for citation in each.citations if citation.record != record)
    return replace(each, citations=left)


def _own_names(seen: Iterable[SeenConcept]) -> dict[str, str]:
    """The identity of each name and alias of one answer; names win over aliases."""
    names = {identify(alias): identify(each.name) for each in seen for alias in each.aliases}
    return names | {identify(each.name): identify(each.name) for each in seen}
