"""Parts of a document that a model is given: in order, and no longer than it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from vr_kernel import Document, Segment, estimate_tokens

from vr_plugin_research.evidence.likeness import best_overlap

MARKED = 8
"""Tokens of the place before a part."""
LEAST_CHARS = 200


def nearest_parts(document: Document, questions: Sequence[str], tokens: int) -> list[Segment]:
    """The parts of a document nearest to the questions, in its order, up to so many tokens."""
    parts = list(short_parts(document.segments, max(tokens // 2, MARKED)))
    costs = [_cost(each) for each in parts]
    if sum(costs) <= tokens:
        return parts
    worth = [best_overlap(questions, each.text)[0] for each in parts]
    chosen: set[int] = set()
    for at in sorted(range(len(parts)), key=lambda at: (-worth[at], at)):
        if costs[at] <= tokens:
            chosen.add(at)
            tokens -= costs[at]
    return [parts[at] for at in sorted(chosen)]


def windows(segments: Sequence[Segment], tokens: int) -> list[list[Segment]]:
    """All parts of a document in order, in windows of so many tokens at most."""
    cut: list[list[Segment]] = [[]]
    left = tokens
    for segment in short_parts(segments, tokens):
        cost = _cost(segment)
        if cut[-1] and cost > left:
            cut.append([])
            left = tokens
        cut[-1].append(segment)
        left -= cost
    return cut


def short_parts(segments: Sequence[Segment], tokens: int) -> Iterator[Segment]:
    """The parts of a document, of which those that are longer than so many tokens are cut."""
    for segment in segments:
        if _cost(segment) <= tokens:
            yield segment
            continue
        text, most = segment.text, max(LEAST_CHARS, tokens)
        while text:
            end = len(text) if len(text) <= most else text.rfind(" ", most // 2, most) + 1 or most
            yield replace(segment, text=text[:end])
            text = text[end:]


def _cost(segment: Segment) -> int:
    return estimate_tokens(segment.text) + MARKED
