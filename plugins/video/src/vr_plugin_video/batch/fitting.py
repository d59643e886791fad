"""The result of a batch, cut to fit an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vr_kernel import estimate_tokens, fit
from vr_kernel.text import tokens_of

from vr_plugin_video.analyses.fitting import BRIEF_TOKENS
from vr_plugin_video.batch.results import BatchVideoItem, BatchVideoResult
from vr_plugin_video.text.plain_text import clean, short_line

CUTS = ((150, 5), (75, 3), (40, 1), (20, 0), (0, 0))
"""Tokens of a summary and key points of each video, as many as the answer takes."""
TITLE_TOKENS = 25
POINT_TOKENS = 40
LIMITS = 2
"""Remarks on one video that an answer repeats."""
LIMIT_CHARS = 150
"""Characters of a remark; its first sentence is never cut."""
_SENTENCE_END = re.compile(r"(?<=[.!?]) (?=[A-Z])")


def fitted(result: BatchVideoResult) -> BatchVideoResult:
    """A copy of at most about `BRIEF_TOKENS`; what failed stays when items are left out."""
    cuts = _cuts(result)
    return fit(next(cuts), cuts, BRIEF_TOKENS)


def _cuts(result: BatchVideoResult) -> Iterator[BatchVideoResult]:
    """Yield copies with ever less about each video, then with ever fewer videos."""
    for tokens, points in CUTS:
        items = [_cut(item, tokens, points) for item in result.items]
        cut = result.model_copy(update={"items": items})
        yield cut
    kept = sorted(range(len(items)), key=lambda number: items[number].error is None)
    while len(kept) > 1:
        kept = kept[: max(1, int(len(kept) * min(0.95, BRIEF_TOKENS / tokens_of(cut))))]
        shown = [items[number] for number in sorted(kept)]
        note = f"Shortened: {len(shown)} of {len(items)} videos; all of them are in result_uri."
        cut = result.model_copy(update={"items": shown, "limits": [*result.limits, note]})
        yield cut


def _cut(item: BatchVideoItem, tokens: int, points: int) -> BatchVideoItem:
    """Cut an item; `custom` stays if it is at most twice as long as the summary may be."""
    custom = (
        item.custom if item.custom and estimate_tokens(str(item.custom)) <= tokens * 2 else None
    )
    return item.model_copy(
        update={
            "title": short_line(item.title, TITLE_TOKENS),
            "summary": short_line(item.summary, tokens) if tokens else "",
            "key_points": [short_line(point, POINT_TOKENS) for point in item.key_points[:points]],
            "custom": custom,
            "limits": [_sentences(limit) for limit in item.limits[:LIMITS]] if tokens else [],
        }
    )


def _sentences(text: str) -> str:
    """Return the first whole sentences of a remark, at least one."""
    first, *more = _SENTENCE_END.split(" ".join(clean(text).split()))
    for sentence in more:
        if len(first) + 1 + len(sentence) > LIMIT_CHARS:
            break
        first = f"{first} {sentence}"
    return first
