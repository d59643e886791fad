"""Concepts from memory folders of an earlier program, with how well a person knows each.

A folder `gr/CATEGORY/NAME/analysis.md` has YAML front matter: `source`, `updated`, and `concepts`,
each with a `name`, a `state` and perhaps a `timestamp`. Its text explains them, in lists:
`- **Name** (category) — description`, and how they relate: `- One → *enables* → Other`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vr_kernel import Record

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
    TYPES,
    identify,
    identify_edge,
    key_of,
)
from vr_plugin_knowledge.graph.network import Network
from vr_plugin_knowledge.transfer.front_matter import read_front, split_front

STATES = ("know", "fuzzy", UNKNOWN)
HOME = "gr"
"""The folder of such memories; the folders in it are the categories."""
LONGEST_LINE = 2000
_MEANING = re.compile(r"\s*[-*]\s+\*\*(.+?)\*\*\s*(?:\([^)]*\)\s*)?[\u2014\u2013:-]\s*(.+)")
_RELATION = re.compile(r"\s*[-*]\s+(.+?)\s*→\s*\*(.+?)\*\s*→\s*(.+)")
_TITLE = re.compile(r"#\s+(.+)")


@dataclass(slots=True)
class Memories:
    """Collects the memories of many files, and merges them over the present graph.

    A given state, know or fuzzy, wins over unknown, and a later file over an earlier one. The rest
    of the graph's knowledge stays: descriptions, aliases, citations.

    Args:
        known: the graph.
    """

    known: Network = field(default_factory=Network)
    _concepts: dict[str, Concept] = field(default_factory=dict)
    _relations: dict[str, Relation] = field(default_factory=dict)
    _judged: dict[str, str] = field(default_factory=dict)

    def add(self, path: Path, text: str) -> None:
        """Add the concepts that a note names, if there are any."""
        front_text, body = split_front(text)
        front = read_front(front_text)
        given = [each for each in _entries(front.get("concepts")) if identify(each["name"])]
        if not given:
            return
        lines = [line for line in body.splitlines() if len(line) <= LONGEST_LINE]
        title = next((found[1].strip() for found in map(_TITLE.match, lines) if found), path.stem)
        origin = Origin(str(front.get("source") or path), title, _category(path), by_hand=True)
        found = filter(None, map(_MEANING.match, lines))
        meanings = {identify(each[1]): each[2].strip() for each in found}
        moment = str(front.get("updated") or front.get("analyzed") or "")
        for each in given:
            self._meet(each, meanings.get(identify(each["name"]), ""), origin, moment)
        self._join(lines, {identify(each["name"]) for each in given}, origin)

    def records(self) -> Iterator[Record]:
        """Records of every collected concept and relationship, merged with the graph's own."""
        for concept in self._concepts.values():
            yield Record(CONCEPTS, concept_fields(concept), key_of(CONCEPTS, concept.id))
        for relation in self._relations.values():
            yield Record(EDGES, relation_fields(relation), key_of(EDGES, relation.id))

    def _meet(self, given: dict[str, str], meaning: str, origin: Origin, moment: str) -> None:
        identity, state = identify(given["name"]), given["state"]
        known = self._concepts.get(identity) or self.known.concepts.get(identity)
        concept = known or Concept(identity, given["name"], state=UNKNOWN, origin=origin)
        said = meaning or given["description"]
        if given["timestamp"] and given["timestamp"] not in said:
            said = f"{said} Timestamp: {given['timestamp']}".strip()
        if state != UNKNOWN and moment >= self._judged.get(identity, ""):
            self._judged[identity] = moment
            concept = replace(concept, state=state)
        self._concepts[identity] = replace(concept, description=concept.description or said)

    def _join(self, lines: Iterable[str], concepts: set[str], origin: Origin) -> None:
        for found in filter(None, map(_RELATION.match, lines)):
            first, words, second = found.groups()
            start, end = identify(first), identify(second)
            kind = words.strip().lower().replace(" ", "_")
            if start == end or not {start, end} <= concepts:
                continue
            kind = kind if kind in TYPES else "related_to"
            identity = identify_edge(start, kind, end)
            told = replace(origin, title="")
            self._relations[identity] = self.known.relations.get(identity) or Relation(
                identity, start, end, kind, (first.strip(), second.strip()), origin=told
            )


def _entries(concepts: Any) -> Iterator[dict[str, str]]:
    """The concepts of front matter; an invalid state counts as unknown."""
    for each in concepts if isinstance(concepts, list) else ():
        entry = each if isinstance(each, dict) else {"name": each}
        names = ("name", "state", "timestamp", "description")
        texts = {name: str(entry.get(name) or "").strip() for name in names}
        state = texts["state"].lower()
        yield {**texts, "state": state if state in STATES else UNKNOWN}


def _category(path: Path) -> str:
    """The folder's name below `gr`; empty elsewhere."""
    folders = path.resolve().parent.parts
    places = [number for number, name in enumerate(folders[:-1]) if name == HOME]
    return folders[places[-1] + 1] if places else ""
