"""Results cut to fit into an answer; the whole is kept as a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel
from vr_kernel import estimate_tokens, fit
from vr_kernel.text import tokens_of

from vr_plugin_video.models import Result, Scene, VideoAnalysis, VideoScenes
from vr_plugin_video.text.plain_text import clipped

BRIEF_TOKENS = 4_000
FULL_TOKENS = 9_000
"""Tokens; the kernel refuses more than 10,000, and the remarks on what was cut need room, too."""
TEXT_TOKENS = 75
"""Tokens of a slide's text in a result that would be too long."""
_LISTS = ("segments", "slides", "scenes", "timestamps", "chapters", "key_points", "topics")
R = TypeVar("R", bound=Result)


def brief(analysis: VideoAnalysis) -> VideoAnalysis:
    """An analysis without its transcript, short enough for every answer."""
    slides = [slide.model_copy(update={"thumbnail_path": ""}) for slide in analysis.slides]
    return _cut(analysis.model_copy(update={"segments": [], "slides": slides}), BRIEF_TOKENS)


def full(analysis: VideoAnalysis) -> VideoAnalysis:
    """An analysis with as much of its transcript as fits into an answer."""
    return _cut(analysis, FULL_TOKENS)


def short(scenes: VideoScenes) -> VideoScenes:
    """Scenes short enough for an answer."""
    return _cut(scenes, BRIEF_TOKENS)


def _cut(result: R, most: int) -> R:
    """A copy of at most about `most` tokens, with a remark on what was cut."""
    fitted = fit(result, _shorter(result, most), most)
    if fitted is result:
        return result
    cut = [
        f"{name}: {len(getattr(fitted, name))} of {len(getattr(result, name))}"
        for name in _LISTS
        if len(getattr(fitted, name, ())) < len(getattr(result, name, ()))
    ]
    note = f"Shortened ({'; '.join(cut) or 'texts'}); all of it is in result_uri."
    return fitted.model_copy(update={"limits": [*result.limits, note]})


def _shorter(result: R, most: int) -> Iterator[R]:
    """Copies with ever less in them: texts are clipped, then the longest list is cut."""
    fitted = result.model_copy()
    _clip_texts(fitted)
    yield fitted
    while True:
        lists = {name: getattr(fitted, name) for name in _LISTS if hasattr(fitted, name)}
        costs = {name: _tokens_of_all(items) for name, items in lists.items()}
        longest = max(costs, key=lambda name: costs[name])
        items = lists[longest]
        if len(items) <= 1:
            return
        excess = (tokens_of(fitted) - most) / max(1, costs[longest])
        keep = max(1, min(len(items) - 1, int(len(items) * (1 - excess))))
        fitted = fitted.model_copy(update={longest: items[:keep]})
        yield fitted


def _clip_texts(result: Result) -> None:
    for name in ("slides", "scenes"):
        scenes: list[Scene] = getattr(result, name, [])
        short = [
            scene.model_copy(update={"text": clipped(scene.text, TEXT_TOKENS)}) for scene in scenes
        ]
        if scenes:
            setattr(result, name, short)


def _tokens_of_all(items: list[Any]) -> int:
    return sum(tokens_of(i) if isinstance(i, BaseModel) else estimate_tokens(i) for i in items)
