"""Windows of a document: as many of its parts as a model takes at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from vr_kernel import ModelInfo, Segment, estimate_tokens

UNKNOWN = 100_000
"""Tokens that a model takes whose window is not known."""
MOST = 700_000
"""Most tokens of one request, whatever a model takes."""
SHARE = 0.7
"""Part of a window that the document may fill; the rest is for the question and the answer."""
PICTURE_TOKENS = 1_600
"""Most tokens of a picture, which services scale down. Source: "Vision" of Anthropic's pages."""
PIECE_CHARS = 40_000
"""Characters of the parts into which one is cut that alone does not fit."""


def room_of(model: ModelInfo, pictures: int = 0) -> int:
    """Return how many tokens of a document go into one request."""
    whole = min(int((model.context or UNKNOWN) * SHARE), MOST)
    return max(whole - pictures * (model.picture or PICTURE_TOKENS), whole // 4)


def cut_windows(segments: Sequence[Segment], room: int) -> list[list[Segment]]:
    """Cut a document into windows of whole parts; a part that is too long is cut, too."""
    windows: list[list[Segment]] = [[]]
    left = room
    for segment in segments:
        for piece in _pieces(segment, room):
            cost = estimate_tokens(piece.text) + estimate_tokens(piece.locator.label) + 4
            if windows[-1] and cost > left:
                windows.append([])
                left = room
            windows[-1].append(piece)
            left -= cost
    return windows


def _pieces(segment: Segment, room: int) -> Sequence[Segment]:
    if len(segment.text) <= PIECE_CHARS or estimate_tokens(segment.text) <= room:
        return [segment]
    most = min(PIECE_CHARS, max(room * 2, 1_000))
    starts = islice(range(0, len(segment.text), most), len(segment.text))
    texts = (segment.text[start : start + most] for start in starts)
    return [Segment(text, segment.locator, segment.link) for text in texts]
