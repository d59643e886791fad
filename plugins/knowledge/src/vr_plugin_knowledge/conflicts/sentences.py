"""Sentences of a text that may state something, without marks that say nothing themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vr_kernel import visible_line

MOST_CHARS = 500
"""Length of a sentence; a longer one is a list, a table or no sentence at all."""
TEXT_CHARS = 200_000
"""Characters of one text that are read."""
_CLOCK = r"(?:\d{1,2}:)?\d{1,3}:\d\d"
# Heads of lines: bullets, numbers of a list, moments of a film.
_LEAD = re.compile(rf"\A(?:[\s>*+\u2022\u2013-]+|\d{{1,3}}[.)]\s+|\[{_CLOCK}\]\s*|{_CLOCK}\s+)+")
# Numbers of references, moments and addresses are no part of what a sentence says.
_MARK = re.compile(
    r"\[\s*\^?[A-Z]?\d[A-Z\d\s,;:.\u2013-]*\]|(?<=\])\([^()\s]*\)|https?://\S+"
    rf"|\(\s*{_CLOCK}(?:\s*[-\u2013]\s*{_CLOCK})?\s*\)"
)
# Each run of points is looked at once, however long it is.
_END = re.compile(
    r"(?<![.!?])[.!?]++[\"'\u201d\u2019)\]*_]*+(?:\s+(?=[^\sa-z])|$)|[\u3002\uff01\uff1f]"
)
_SHORTENED = re.compile(
    r"(?:^|[\s(])(?:[^\W\d_]|approx|ca|al|bzw|cf|dr|etc|fig|inc|ltd|mr|mrs|ms|no|nr|pp|prof|sec|st"
    r"|vol|vs|e\.g|i\.e|z\.b|d\.h|u\.s)\.$",
    re.IGNORECASE,
)
_SHORTENED_CHARS = 8
_ASKING = "?\uff1f"
_NO_STATEMENTS = ("#", "|", "```")
"""Beginnings of lines that are headings, rows of tables or code in Markdown."""


def read_sentences(text: str) -> Iterator[tuple[str, str]]:
    """The statements of a text, each with the line in which it stands; questions are none."""
    for line in text[:TEXT_CHARS].splitlines():
        bare = line.strip()
        if not bare or bare.startswith(_NO_STATEMENTS):
            continue
        for sentence in _split(bare):
            if len(sentence) > MOST_CHARS:
                continue
            said = visible_line(_LEAD.sub("", sentence, count=1))
            if said and said[-1] not in _ASKING:
                yield said, bare[: 2 * MOST_CHARS]


def without_marks(sentence: str) -> str:
    """A sentence without numbers of references, moments and addresses."""
    return " ".join(_MARK.sub(" ", sentence).split())


def _split(line: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(line):
        dot = end.start() + 1
        if not _SHORTENED.search(line[max(start, dot - _SHORTENED_CHARS) : dot]):
            yield line[start : end.end()].strip()
            start = end.end()
    if start < len(line):
        yield line[start:].strip()
