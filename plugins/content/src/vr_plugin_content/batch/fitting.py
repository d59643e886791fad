"""The result of a batch, cut to fit an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from vr_kernel import Call, VrError, estimate_tokens, fit
from vr_kernel.text import tokens_of

from vr_plugin_content.results.analysis import KeyPoint
from vr_plugin_content.results.batch import BatchContentItem, BatchContentResult, Comparison

MOST_TOKENS = 4_000
CUTS = (
    (8, True, 600),
    (5, True, 400),
    (5, False, 300),
    (3, False, 200),
    (1, False, 100),
    (0, False, 0),
)
"""Key points of each file, with or without their quotes, and characters of each summary."""
TITLE_CHARS = 100
POINT_CHARS = 200
CUSTOM_TOKENS = 100
LIMIT_CHARS = 200
SHARED_POINTS = (10, 5, 3)
"""Points of a comparison, when there is no room for all."""


async def fitted(call: Call, result: BatchContentResult) -> BatchContentResult:
    """Return a result that fits into an answer, with a file of the whole where it was cut."""
    cut = await asyncio.to_thread(fit, result, _cuts(result), MOST_TOKENS)
    if cut is result:
        return result
    whole = result.model_dump_json(indent=1).encode()
    note = "Shortened; all of it is in result_uri."
    if len(cut.items) < len(result.items):
        note = f"Shortened: {len(cut.items)} of {len(result.items)} files; all are in result_uri."
    try:
        kept = await asyncio.to_thread(call.artifact, whole, "application/json")
    except VrError as error:
        note = f"Shortened, and the whole could not be kept: {error.message} {error.hint}"
        return cut.model_copy(update={"limits": [*cut.limits, note]})
    return cut.model_copy(update={"result_uri": kept.uri, "limits": [*cut.limits, note]})


def _cuts(result: BatchContentResult) -> Iterator[BatchContentResult]:
    """Yield copies with ever less about each file, then with ever fewer files."""
    cut = result
    for points, quotes, chars in CUTS:
        items = [_item(item, points, chars, quotes=quotes) for item in result.items]
        cut = result.model_copy(update={"items": items})
        yield cut
    for most in SHARED_POINTS if cut.comparison is not None else ():
        cut = cut.model_copy(update={"comparison": _shorter(cut.comparison, most)})
        yield cut
    kept = sorted(range(len(cut.items)), key=lambda at: cut.items[at].error is None)
    items = cut.items
    while len(kept) > 1:
        kept = kept[: max(1, int(len(kept) * min(0.95, MOST_TOKENS / tokens_of(cut))))]
        cut = cut.model_copy(update={"items": [items[at] for at in sorted(kept)]})
        yield cut


def _item(item: BatchContentItem, points: int, chars: int, *, quotes: bool) -> BatchContentItem:
    small = item.custom if estimate_tokens(str(item.custom)) <= CUSTOM_TOKENS else None
    return item.model_copy(
        update={
            "title": _short(item.title, TITLE_CHARS),
            "summary": _short(item.summary, chars),
            "key_points": [_point(point, quotes=quotes) for point in item.key_points[:points]],
            "entities": item.entities[:points],
            "custom": small if chars else None,
            "limits": [_short(limit, LIMIT_CHARS) for limit in item.limits[:2]] if chars else [],
        }
    )


def _point(point: KeyPoint, *, quotes: bool) -> KeyPoint:
    shown = {"text": _short(point.text, POINT_CHARS)}
    return point.model_copy(update=shown if quotes else {**shown, "quote": "", "link": ""})


def _shorter(comparison: Comparison | None, most: int) -> Comparison | None:
    if comparison is None:
        return None
    return comparison.model_copy(
        update={
            "summary": _short(comparison.summary, 1_000),
            "commonalities": comparison.commonalities[:most],
            "differences": comparison.differences[:most],
            "custom": comparison.custom
            if estimate_tokens(str(comparison.custom)) <= MOST_TOKENS // 2
            else None,
        }
    )


def _short(text: str, chars: int) -> str:
    if len(text) <= chars:
        return text
    return f"{text[: chars - 1].rstrip()}…" if chars else ""
