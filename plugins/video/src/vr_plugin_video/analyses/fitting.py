"""Results cut to what an answer takes; the whole is kept as a file."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel

from vr_plugin_video.models import Result, Scene, VideoAnalysis, VideoScenes
from vr_plugin_video.plain_text import ELLIPSIS

BRIEF_BYTES = 10_500
"""About 4,000 tokens: results were measured at 2.7 to 3.4 bytes a token."""
FULL_BYTES = 24_000
"""About 9,000 tokens."""
SHORT_TEXT = 300
"""Characters of a slide's text in a result that would be too long."""
_LISTS = ("segments", "slides", "scenes", "timestamps", "chapters", "key_points", "topics")
R = TypeVar("R", bound=Result)


def brief(analysis: VideoAnalysis) -> VideoAnalysis:
    """An analysis without its transcript, short enough for every answer."""
    slides = [slide.model_copy(update={"thumbnail_path": ""}) for slide in analysis.slides]
    return _cut(analysis.model_copy(update={"segments": [], "slides": slides}), BRIEF_BYTES)


def full(analysis: VideoAnalysis) -> VideoAnalysis:
    """An analysis with as much of its transcript as an answer takes."""
    return _cut(analysis, FULL_BYTES)


def short(scenes: VideoScenes) -> VideoScenes:
    """Scenes short enough for an answer."""
    return _cut(scenes, BRIEF_BYTES)


def _cut(result: R, size: int) -> R:
    """A copy of at most about `size` bytes: the longest lists are cut, and it says so."""
    fitted = result.model_copy(update={"limits": list(result.limits)})
    if _size(fitted) > size:
        _clip_texts(fitted)
    while _size(fitted) > size:
        lists = {name: getattr(fitted, name) for name in _LISTS if hasattr(fitted, name)}
        longest = max(lists, key=lambda name: _size_of(lists[name]))
        items = lists[longest]
        if len(items) <= 1:
            break
        excess = (_size(fitted) - size) / max(1, _size_of(items))
        keep = max(1, min(len(items) - 1, int(len(items) * (1 - excess))))
        setattr(fitted, longest, items[:keep])
    cut = [
        f"{name}: {len(getattr(fitted, name))} of {len(getattr(result, name))}"
        for name in _LISTS
        if len(getattr(fitted, name, ())) < len(getattr(result, name, ()))
    ]
    if cut or _size(result) > size:
        fitted.limits.append(
            f"Shortened ({'; '.join(cut) or 'texts'}); all of it is in result_uri."
        )
    return fitted


def _clip_texts(result: Result) -> None:
    for name in ("slides", "scenes"):
        scenes: list[Scene] = getattr(result, name, [])
        short = [scene.model_copy(update={"text": _clipped(scene.text)}) for scene in scenes]
        if scenes:
            setattr(result, name, short)


def _clipped(text: str) -> str:
    return text if len(text) <= SHORT_TEXT else text[: SHORT_TEXT - 1] + ELLIPSIS


def _size(result: Result) -> int:
    return len(result.model_dump_json().encode())


def _size_of(items: list[Any]) -> int:
    return sum(
        len(i.model_dump_json().encode() if isinstance(i, BaseModel) else i.encode()) for i in items
    )
