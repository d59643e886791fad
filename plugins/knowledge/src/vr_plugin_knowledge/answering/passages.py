"""The material of an answer: numbered passages of the records that were found."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vr_kernel import Hit, RecordKind

from vr_plugin_knowledge.answering.results import AnswerSource
from vr_plugin_knowledge.excerpts import locate, value_of

PASSAGES = 12
PASSAGE_CHARS = 2000
"""Characters of a passage; a dozen of them are about 6,000 tokens."""
_WORD = re.compile(r"\w{3,}")
_BREAKS = ("\n", " ", "。")
"""Breaks at which a stretch may begin and end: lines, else words, else Chinese sentences."""


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """The part of one record that is read, and its place in the source."""

    source: AnswerSource
    text: str
    created_at: str


def read_passages(
    kinds: Mapping[str, RecordKind], hits: Sequence[Hit], query: str
) -> list[SourcePassage]:
    """The passages of the best hits that have text, numbered from 1."""
    passages: list[SourcePassage] = []
    for hit in hits:
        kind, fields = kinds[hit.record.kind], hit.record.fields
        text = _text_of(kind, fields)
        if not text.strip() or len(passages) == PASSAGES:
            continue
        source = AnswerSource(
            number=len(passages) + 1,
            collection=kind.name,
            object_id=hit.record.key,
            locator=locate(kind, fields),
            link=value_of(fields, kind.link),
            source=value_of(fields, kind.source),
        )
        made = str(fields.get("created_at", ""))
        passages.append(SourcePassage(source, excerpt(text, query, PASSAGE_CHARS), made))
    return passages


def _text_of(kind: RecordKind, fields: Mapping[str, Any]) -> str:
    """The text of a record, without a title that the rest begins with."""
    text = kind.search_text(fields) or kind.vector_text(fields)
    title, _, rest = text.partition("\n")
    return rest if rest.lstrip("# ").startswith(title) else text


def excerpt(text: str, query: str, limit: int) -> str:
    """The first stretch of at most `limit` characters that has most words of a question.

    It is copied from the text, from a line's start to a line's end; where no line ends in its first
    or last half, it begins or ends at a word.
    """
    if len(text) <= limit:
        return text
    words = set(_WORD.findall(query.casefold()))
    step = max(1, limit // 2)

    def shared(start: int) -> int:
        return len(words.intersection(_WORD.findall(text[start : start + limit].casefold())))

    start = max(range(0, len(text) - step, step), key=lambda start: (shared(start), -start))
    end = start + limit
    if start:
        start = _after_break(text, start - 1, start + step)
    if end < len(text):
        end = _before_break(text, end - step, end + 1)
    return text[start:end]


def _after_break(text: str, low: int, high: int) -> int:
    """Find the start of the first line of a stretch begun in the middle, else of a word."""
    for sign in _BREAKS:
        if (found := text.find(sign, low, high)) >= 0:
            return found + 1
    return low + 1


def _before_break(text: str, low: int, high: int) -> int:
    """Find the end of the last line of a stretch cut in the middle, else of a word."""
    for sign in _BREAKS:
        if (found := text.rfind(sign, low, high)) >= low:
            return found
    return high - 1
