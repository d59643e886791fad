"""The result of an analysis."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field
from vr_kernel import Usage
from vr_kernel.quoting import Verdict

from vr_plugin_content.results.document import OutlineItem, Result

Engine = Literal["local", "model"]


class KeyPoint(BaseModel):
    """A point, the words of the source that carry it, and their place.

    A model's quote was looked for: `verified` at its place, `moved` to where it was found,
    `not_found`, or `unchecked` without a text to search.
    """

    text: str
    quote: str = Field("", exclude_if=lambda value: not value)
    place: str = Field("", exclude_if=lambda value: not value)
    page: int | None = Field(None, exclude_if=lambda value: value is None)
    link: str = Field("", exclude_if=lambda value: not value)
    status: Verdict | Literal[""] = Field("", exclude_if=lambda value: not value)
    original_place: str | None = Field(
        None, description="the model's own place", exclude_if=lambda value: value is None
    )


class ContentAnalysis(Result):
    """An analysis of one document."""

    engine: Engine = "local"
    model: str = ""
    cached: bool = False
    partial: bool = Field(default=False, description="the document could be read in part only")
    usage: Usage | None = None
    summary: str
    key_points: list[KeyPoint]
    entities: list[str]
    outline: list[OutlineItem] = Field([])
    dropped: int = Field(
        0, description="points left out by strict", exclude_if=lambda value: not value
    )
    custom: dict[str, Any] | None = Field(None, exclude_if=lambda value: value is None)
    result_uri: str = Field("", description="the whole result as JSON")
    report_uri: str = Field("", description="the whole result as Markdown")
