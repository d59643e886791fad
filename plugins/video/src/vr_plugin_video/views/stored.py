"""Analyses as records keep them, those of older shapes included."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from vr_kernel import VrError

from vr_plugin_video.models import Moment, VideoAnalysis
from vr_plugin_video.text.times import Window, format_time, parse_time

SAID = ("title", "summary", "key_points")
"""Fields of a record that are also in its result, where they may be older."""
UNSAID = ("video_id", "usage", "cached", "partial", "result_uri", "report_uri")
"""Values of a result that say nothing about the video."""
_PART = re.compile(r"([0-9.]{1,12})-([0-9.]{0,12})")
_EMPTY: dict[str, Any] = {
    "source": "",
    "video_id": "",
    "duration": None,
    "engine": "",
    "title": "",
    "summary": "",
    "key_points": [],
    "timestamps": [],
    "topics": [],
}


@dataclass(frozen=True, slots=True)
class Stored:
    """An analysis of a record, its part of the video, and the values that do not fit into it."""

    analysis: VideoAnalysis
    window: Window
    left: Mapping[str, Any] = field(default_factory=dict)


def stored_analysis(fields: Mapping[str, Any]) -> Stored:
    """Read the analysis of a record from its result, and what that lacks from its fields."""
    raw = fields.get("raw_result")
    whole = _object(raw)
    left: dict[str, Any] = {"raw_result": raw} if raw and not whole else {}
    given = {**whole, **{name: fields[name] for name in SAID if fields.get(name)}}
    given["source"] = fields.get("source_url") or whole.get("source")
    values = dict(_EMPTY)
    for name, value in given.items():
        if name in VideoAnalysis.model_fields and value is not None:
            values[name], unread = _read(name, value)
            left |= {name: unread} if unread and name not in UNSAID else {}
        elif value is not None and name not in UNSAID:
            left[name] = value
    analysis = VideoAnalysis.model_construct(**values)
    return Stored(analysis, _window(fields.get("part")), left)


def _object(raw: object) -> dict[str, Any]:
    """The object that a text spells as JSON, or that stands there itself; else an empty one."""
    try:
        value = json.loads(raw) if isinstance(raw, str) else raw
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _read(name: str, value: Any) -> tuple[Any, Any]:
    """A value as its field has it, and what of it does not fit."""
    info = VideoAnalysis.model_fields[name]
    empty = _EMPTY[name] if name in _EMPTY else info.get_default(call_default_factory=True)
    if get_origin(info.annotation) is not list:
        read = _validated(info.annotation, value)
        return (empty, value) if read is None else (read, None)
    if not isinstance(value, list):
        return empty, value
    (item,) = get_args(info.annotation)
    read_items = [_validated(item, _completed(each) if item is Moment else each) for each in value]
    unread = [each for each, read in zip(value, read_items, strict=True) if read is None]
    return [read for read in read_items if read is not None], unread


def _validated(of: Any, value: Any) -> Any:
    try:
        return TypeAdapter(of).validate_python(value)
    except ValidationError:
        return None


def _completed(moment: Any) -> Any:
    """A moment of an older shape, which has its time in one form only."""
    if not isinstance(moment, dict):
        return moment
    told = {"description": moment.get("label") or moment.get("text") or "", **moment}
    try:
        if "seconds" not in told:
            told["seconds"] = parse_time(str(told.get("time")).strip("[] "), "time")
        if "time" not in told:
            told["time"] = format_time(float(told["seconds"]))
    except (VrError, TypeError, ValueError):
        return moment
    return told


def _window(part: object) -> Window:
    found = _PART.fullmatch(part) if isinstance(part, str) else None
    try:
        return Window(float(found[1]), float(found[2]) if found[2] else None) if found else Window()
    except ValueError:
        return Window()
