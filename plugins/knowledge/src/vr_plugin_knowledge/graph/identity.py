"""Identity of concepts and relationships under different names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Literal, get_args

from vr_kernel import entity_key

CONCEPTS = "ConceptKnowledge"
EDGES = "RelationshipEdges"
RelationshipType = Literal["enables", "example_of", "builds_on", "contradicts", "related_to"]
TYPES: tuple[str, ...] = get_args(RelationshipType)
MUTUAL = frozenset({"contradicts", "related_to"})
"""Types that mean the same in both directions."""
_QUOTES = " \t\r\n\"'`\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"
_STOPS = f"{_QUOTES}.,;:!?"
_PLURAL_ES = re.compile(r"([A-Za-z](?:x|ss|sh|[trn]ch))es$")
_PLURAL = re.compile(r"(?<=[A-Za-z]{3})(?<![siu])s$")
"""An s after three letters, but not of class, bus, analysis; nor the S of HTTPS."""


def identify(name: str) -> str:
    """The form that all spellings of a concept's name share; empty for no name.

    Unicode form, case, spaces, quotes around it, a full stop and a simple English plural do not
    count. Other signs count, as in C++ and C#; and HTTPS is not HTTP.
    """
    words = unicodedata.normalize("NFKC", name).strip(_QUOTES).rstrip(_STOPS).split()
    if not words:
        return ""
    words[-1] = _singular(words[-1])
    return unicodedata.normalize("NFKC", " ".join(words).casefold())


def identify_edge(start: str, kind: str, end: str) -> str:
    """The form that equal relationships between two identities share.

    A mutual type means the same in both directions.
    """
    ends = sorted((start, end)) if kind in MUTUAL else (start, end)
    return "\x1f".join((kind, *ends))


def key_of(collection: str, identity: str) -> str:
    """The key of the record of a concept or relationship: the same for all spellings."""
    return entity_key(collection, identity)


def concept_key(fields: Mapping[str, Any]) -> str:
    """The key of a record of the concept that these fields name; empty when they name none."""
    identity = identify(fields.get("concept_name") or "")
    return key_of(CONCEPTS, identity) if identity else ""


def edge_key(fields: Mapping[str, Any]) -> str:
    """The key of a record of a relationship; empty when an end or the type is missing."""
    start, end = (identify(fields.get(name) or "") for name in ("from_concept", "to_concept"))
    kind = fields.get("relationship_type") or ""
    whole = start and end and kind
    return key_of(EDGES, identify_edge(start, kind, end)) if whole else ""


def edge_name(fields: Mapping[str, Any]) -> str:
    """The name of a relationship: `Fox - related to → Vole`; empty when an end is missing."""
    start, end = (str(fields.get(name) or "") for name in ("from_concept", "to_concept"))
    words = str(fields.get("relationship_type") or "").replace("_", " ")
    return f"{start} - {words} → {end}" if start and end else ""


def _singular(word: str) -> str:
    if word.endswith("ies") and word.isascii() and len(word) > len("series"):
        return f"{word[:-3]}y"
    return _PLURAL.sub("", _PLURAL_ES.sub(r"\1", word))
