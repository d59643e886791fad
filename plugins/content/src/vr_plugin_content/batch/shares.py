"""Shares of a request: the files that stand in it whole, and those whose analysis does."""

from __future__ import annotations

from collections.abc import Sequence

from vr_kernel import Document, estimate_tokens

from vr_plugin_content.results.analysis import ContentAnalysis

LABEL_TOKENS = 40
"""Tokens of the lines around a file."""
DIGEST_TOKENS = 3_000
"""Most tokens of an analysis that stands for a long file."""


def tokens_of(document: Document) -> int:
    """Estimate the tokens of a document with its places."""
    texts = (
        estimate_tokens(each.text) + estimate_tokens(each.locator.label) + 4
        for each in document.segments
    )
    return sum(texts) + LABEL_TOKENS


def too_long(sizes: Sequence[int], room: int) -> list[int]:
    """Return the numbers of the files that have to be analysed alone, the longest first.

    Args:
        sizes: of the files in tokens.
        room: tokens of all together.
    """
    digest = digest_room(len(sizes), room)
    left, chosen = sum(sizes) - room, []
    for at in sorted(range(len(sizes)), key=lambda at: -sizes[at]):
        if left <= 0 or sizes[at] <= digest:
            break
        chosen.append(at)
        left -= sizes[at] - digest
    return chosen


def digest_room(count: int, room: int) -> int:
    """Return how many tokens an analysis may take that stands for one of so many files."""
    return min(DIGEST_TOKENS, room // max(count, 1))


def digest_of(analysis: ContentAnalysis, tokens: int) -> str:
    """Write an analysis as a text of at most so many tokens, its first points before later ones."""
    lines = [analysis.title, "", analysis.summary, ""]
    lines += [_said(f"- {point.text}", point.quote, point.place) for point in analysis.key_points]
    kept: list[str] = []
    for line in lines:
        tokens -= estimate_tokens(line) + 1
        if tokens < 0:
            break
        kept.append(line)
    return "\n".join(kept or [analysis.summary[: max(tokens, 100)]])


def _said(text: str, quote: str, place: str) -> str:
    quoted = f' "{quote}"' if quote else ""
    return f"{text}{quoted}{f' [{place}]' if place else ''}"
