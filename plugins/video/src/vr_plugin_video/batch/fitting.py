"""The result of a batch cut to what an answer takes."""

from __future__ import annotations

import re

from vr_plugin_video.analyses.fitting import BRIEF_BYTES
from vr_plugin_video.batch.results import BatchVideoItem, BatchVideoResult
from vr_plugin_video.plain_text import clean, one_line

CUTS = ((600, 5), (300, 3), (150, 1), (80, 0), (0, 0))
"""Characters of a summary and key points of each video, as many as the answer takes."""
LIMITS = 2
"""Remarks on one video that an answer repeats."""
LIMIT_CHARS = 150
"""Of a remark; its first sentence is never cut."""
_SENTENCE_END = re.compile(r"(?<=[.!?]) (?=[A-Z])")


def fitted(result: BatchVideoResult) -> BatchVideoResult:
    """A copy of at most about `BRIEF_BYTES`; what failed stays when items are left out."""
    for chars, points in CUTS:
        items = [_cut(item, chars, points) for item in result.items]
        cut = result.model_copy(update={"items": items})
        if _size(cut) <= BRIEF_BYTES:
            return cut
    kept = sorted(range(len(items)), key=lambda number: items[number].error is None)
    while len(kept) > 1 and _size(cut) > BRIEF_BYTES:
        kept = kept[: max(1, int(len(kept) * min(0.95, BRIEF_BYTES / _size(cut))))]
        shown = [items[number] for number in sorted(kept)]
        note = f"Shortened: {len(shown)} of {len(items)} videos; all of them are in result_uri."
        cut = result.model_copy(update={"items": shown, "limits": [*result.limits, note]})
    return cut


def _cut(item: BatchVideoItem, chars: int, points: int) -> BatchVideoItem:
    """`custom` stays while it is no longer than a summary may be several times over."""
    custom = item.custom if item.custom and len(str(item.custom)) <= chars * 2 else None
    return item.model_copy(
        update={
            "title": one_line(item.title, 100),
            "summary": one_line(item.summary, chars) if chars else "",
            "key_points": [one_line(point, 150) for point in item.key_points[:points]],
            "custom": custom,
            "limits": [_sentences(limit) for limit in item.limits[:LIMITS]] if chars else [],
        }
    )


def _sentences(text: str) -> str:
    """The first sentences of a remark, whole: one at least."""
    first, *more = _SENTENCE_END.split(" ".join(clean(text).split()))
    for sentence in more:
        if len(first) + 1 + len(sentence) > LIMIT_CHARS:
            break
        first = f"{first} {sentence}"
    return first


def _size(result: BatchVideoResult) -> int:
    return len(result.model_dump_json().encode())
