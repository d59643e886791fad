"""Concepts and relationships, as they are read from records and written into them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from vr_plugin_knowledge.graph.citations import (
    Citation,
    join_citations,
    read_citations,
    write_citations,
)
from vr_plugin_knowledge.graph.identity import identify, identify_edge

UNKNOWN = "unknown"
"""The state of a concept that nobody has rated."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The first record that names an entity: its own wording, and if a person wrote it."""

    url: str = ""
    title: str = ""
    category: str = ""
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept. `key` is that of its record, empty when only relationships name it."""

    id: str
    name: str
    key: str = ""
    state: str = ""
    description: str = ""
    aliases: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Relation:
    """A relationship from one concept to another; `id` is equal for equal statements."""

    id: str
    start: str
    end: str
    kind: str
    names: tuple[str, str]
    key: str = ""
    citations: tuple[Citation, ...] = ()
    origin: Origin = Origin()

    def other(self, concept: str) -> str:
        """The other end; the concept itself for a relationship to itself."""
        return self.end if concept == self.start else self.start


def read_concept(key: str, fields: Mapping[str, Any], *, by_hand: bool) -> Concept | None:
    """The concept of a record; None when it names none."""
    name = fields.get("concept_name") or ""
    identity = identify(name)
    if not identity:
        return None
    return Concept(
        id=identity,
        name=name,
        key=key,
        state=fields.get("state") or "",
        description=fields.get("description") or "",
        aliases=tuple(alias for alias in fields.get("aliases") or () if identify(alias)),
        citations=read_citations(fields),
        origin=_origin(fields, by_hand=by_hand),
    )


def read_relation(key: str, fields: Mapping[str, Any], *, by_hand: bool) -> Relation | None:
    """The relationship of a record; None when an end or the type is missing."""
    names = (fields.get("from_concept") or "", fields.get("to_concept") or "")
    kind = fields.get("relationship_type") or ""
    start, end = map(identify, names)
    if not (start and end and kind):
        return None
    return Relation(
        id=identify_edge(start, kind, end),
        start=start,
        end=end,
        kind=kind,
        names=names,
        key=key,
        citations=read_citations(fields),
        origin=_origin(fields, by_hand=by_hand),
    )


def concept_fields(concept: Concept) -> dict[str, Any]:
    """The fields that `read_concept` reads."""
    fields = {
        "concept_name": concept.name,
        "state": concept.state or UNKNOWN,
        "source_url": concept.origin.url,
        "source_title": concept.origin.title,
        "source_category": concept.origin.category,
        "description": concept.description,
        "aliases": list(concept.aliases),
        "link": _first_link(concept.citations),
    }
    return {**_filled(fields), **write_citations(concept.citations)}


def relation_fields(relation: Relation) -> dict[str, Any]:
    """The fields that `read_relation` reads."""
    fields = {
        "from_concept": relation.names[0],
        "to_concept": relation.names[1],
        "relationship_type": relation.kind,
        "source_url": relation.origin.url,
        "source_category": relation.origin.category,
        "link": _first_link(relation.citations),
    }
    return {**_filled(fields), **write_citations(relation.citations)}


def join_concepts(first: Concept, second: Concept) -> Concept:
    """One concept from two records; `second` wins where both have a value."""
    aliases = dict.fromkeys((*first.aliases, *second.aliases))
    return replace(
        second,
        state=second.state or first.state,
        description=second.description or first.description,
        aliases=tuple(aliases),
        citations=join_citations(first.citations, second.citations),
        origin=_join_origins(first.origin, second.origin),
    )


def join_relations(first: Relation, second: Relation) -> Relation:
    """One relationship from two records that say the same."""
    return replace(
        first,
        citations=join_citations(first.citations, second.citations),
        origin=_join_origins(first.origin, second.origin),
    )


def _join_origins(first: Origin, second: Origin) -> Origin:
    told = first if first.url or first.title else second
    return replace(told, by_hand=first.by_hand or second.by_hand)


def _origin(fields: Mapping[str, Any], *, by_hand: bool) -> Origin:
    url, title, category = (
        fields.get(name) or "" for name in ("source_url", "source_title", "source_category")
    )
    return Origin(url, title, category, by_hand)


def _first_link(citations: Iterable[Citation]) -> str:
    return next((each.link for each in citations if each.link), "")


def _filled(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}
