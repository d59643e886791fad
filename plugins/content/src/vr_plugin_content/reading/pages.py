"""Parts of a document that fit into an answer, one after another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vr_kernel import Code, Document, Segment, VrError, cache_key, estimate_tokens

CURSOR = re.compile(r"(?P<stamp>[0-9a-f]{12})-(?P<piece>[0-9]{1,9})-(?P<char>[0-9]{1,9})")
CHARS_A_TOKEN = 4
"""Characters of a token, about; only used to cut a single piece that is too long."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some segments of a document, and where the next part begins.

    Attributes:
        segments: in order; the first and the last may be cut.
        cursor: of the next part; None for the last one.
    """

    segments: Sequence[Segment]
    cursor: str | None


def part_of(document: Document, segments: Sequence[Segment], cursor: str, tokens: int) -> Part:
    """Return as many segments as fit into so many tokens, from a cursor on.

    Args:
        document: that they are of.
        segments: the whole document, or those at a place.
        cursor: of the part before; empty for the beginning.
        tokens: most tokens of the text; one segment is cut where it alone is longer.

    Raises:
        VrError: INVALID_INPUT, category CURSOR_INVALID, for a cursor of something else.
    """
    stamp = _stamp(document, segments)
    at, char = _position(cursor, stamp, segments)
    taken: list[Segment] = []
    left = tokens
    while at < len(segments):
        text = segments[at].text[char:]
        cost = estimate_tokens(as_text([_with(segments[at], text)]))
        if cost > left and taken:
            return Part(taken, f"{stamp}-{at}-{char}")
        if cost > left:
            cut = _cut(text, left * CHARS_A_TOKEN)
            taken.append(_with(segments[at], text[:cut]))
            return Part(taken, f"{stamp}-{at}-{char + cut}")
        taken.append(_with(segments[at], text))
        left, at, char = left - cost, at + 1, 0
    return Part(taken, None)


def as_text(segments: Sequence[Segment]) -> str:
    """Return segments as Markdown, each below its place in brackets."""
    return "\n\n".join(f"[{each.locator.label}]\n\n{each.text.strip()}" for each in segments)


def _cut(text: str, most: int) -> int:
    """Return where to cut a text: behind a line or a word, if there is one near the end."""
    for sign in ("\n", " "):
        at = text.rfind(sign, most // 2, most)
        if at > 0:
            return at + 1
    return min(most, len(text))


def _with(segment: Segment, text: str) -> Segment:
    return segment if text == segment.text else Segment(text, segment.locator, segment.link)


def _stamp(document: Document, segments: Sequence[Segment]) -> str:
    """Return a mark that ties a cursor to the document and the place that were asked for."""
    ends = [segments[0].locator.label, segments[-1].locator.label, len(segments)]
    return cache_key(sha256=document.sha256, source=document.source, ends=ends)[:12]


def _is_within(match: re.Match[str], segments: Sequence[Segment]) -> bool:
    piece, char = int(match["piece"]), int(match["char"])
    return piece < len(segments) and char < max(1, len(segments[piece].text))


def _position(cursor: str, stamp: str, segments: Sequence[Segment]) -> tuple[int, int]:
    if not cursor:
        return 0, 0
    match = CURSOR.fullmatch(cursor)
    if match is None or match["stamp"] != stamp or not _is_within(match, segments):
        raise VrError(
            "The cursor belongs to another document or place, or the document has changed.",
            Code.INVALID_INPUT,
            category="CURSOR_INVALID",
            hint="Give next_cursor of the last part, with the other arguments as they were.",
        )
    return int(match["piece"]), int(match["char"])
