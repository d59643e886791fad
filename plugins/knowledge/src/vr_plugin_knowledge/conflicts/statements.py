"""Claims that records state, in the fields that their kinds declare for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vr_kernel import RecordKind, StoredRecord

from vr_plugin_knowledge.conflicts.sentences import read_sentences, without_marks
from vr_plugin_knowledge.derived import DerivedSource, named_sources, nearest_source
from vr_plugin_knowledge.excerpts import locate, value_of
from vr_plugin_knowledge.graph.moments import link_at_moment
from vr_plugin_knowledge.matching.spelling import fold, index_text
from vr_plugin_knowledge.matching.terms import STOP_WORDS

TIER = "evidence_tier"
TIERS = ("UNKNOWN", "SPECULATION", "INFERENCE", "STRONG INDICATOR", "CONFIRMED")
"""Tiers of evidence, the lowest first."""
MOST_OF_RECORD = 500
"""Claims of one record that are read."""
LEAST_WORDS = 2
_WORD = re.compile(r"[^\W\d_]+")
_FIRST = re.compile(r"\W*([^\W\d_]+)")
_HANGING = frozenset(
    {"he", "her", "his", "i", "it", "its", "my", "our", "she", "that", "their", "these", "they"}
    | {"this", "those", "we"}
)


@dataclass(frozen=True, slots=True)
class Standing:
    """The record in which a claim stands, and what leads there."""

    collection: str
    object_id: str
    created_at: str
    source: str | None = None
    link: str | None = None
    locator: Mapping[str, Any] | None = None
    tier: str | None = None
    rests_on: Sequence[DerivedSource] = ()

    @property
    def about(self) -> str | tuple[str, str]:
        """The source, or the record where it names none."""
        return self.source or (self.collection, self.object_id)

    @property
    def rank(self) -> tuple[int, bool, str]:
        """Order of claims: by tier of evidence, then those with a source, then the newest."""
        tier = TIERS.index(self.tier) + 1 if self.tier in TIERS else 0
        return tier, bool(self.source), self.created_at


@dataclass(frozen=True, slots=True)
class Statement:
    """One claim.

    Attributes:
        text: the claim as it is written, on one line.
        line: the line of the record in which it stands.
        compared: the text without numbers of references and addresses.
        words: its words that tell something.
        hangs: it says of what only together with the sentences before it.
        stands: its record.
    """

    text: str
    line: str
    compared: str
    words: frozenset[str]
    hangs: bool
    stands: Standing

    @property
    def link(self) -> str | None:
        """The link to its words: to the moment or the source that the record names for them."""
        rests_on = self.stands.rests_on
        if moment := link_at_moment(self.line, self.text, [each.link for each in rests_on]):
            return moment
        nearest = nearest_source(rests_on, self.text)
        return self.stands.link or (nearest.link if nearest and nearest.link else None)


def stating_fields(kind: RecordKind) -> list[str]:
    """The fields in which records of a kind state claims: what tells most, and lists by meaning."""
    return [
        field.name
        for field in kind.fields
        if (field.name == kind.rerank and (field.vectorised or field.searchable))
        or (field.type == "text[]" and field.vectorised)
    ]


def read_statements(kind: RecordKind, record: StoredRecord, made: str) -> list[Statement]:
    """The claims of a record that was made at some time, each of them once.

    Blocks for a while: a record may be long.
    """
    fields = record.fields
    stands = Standing(
        kind.name,
        record.key,
        made,
        value_of(fields, kind.source),
        value_of(fields, kind.link),
        locate(kind, fields),
        value_of(fields, TIER),
        named_sources(record.provenance) if kind.derived else (),
    )
    found: dict[str, Statement] = {}
    for text, line in _told(fields.get(name) for name in stating_fields(kind)):
        compared = without_marks(text)
        words = words_of(compared)
        if len(words) >= LEAST_WORDS:
            made_of = Statement(text, line, compared, words, _hangs(compared), stands)
            found.setdefault(compared.casefold(), made_of)
        if len(found) == MOST_OF_RECORD:
            break
    return list(found.values())


def words_of(text: str) -> frozenset[str]:
    """The words of a text that tell something, whatever their case and accents."""
    words = _WORD.findall(index_text(text).lower())
    return frozenset(
        word if word.isascii() else fold(word) for word in words if word not in STOP_WORDS
    )


def _told(values: Iterable[Any]) -> Iterator[tuple[str, str]]:
    for value in values:
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                yield from read_sentences(text)


def _hangs(text: str) -> bool:
    first = _FIRST.match(text)
    return first is not None and first[1].lower() in _HANGING
