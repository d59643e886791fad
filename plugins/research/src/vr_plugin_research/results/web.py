"""Results of the tools around Gemini's Deep Research."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field
from vr_kernel import Usage, WebSource


class WebResearch(BaseModel):
    """A research that the service does: its state, and its report once it has ended."""

    interaction_id: str
    status: Literal["in_progress", "completed", "incomplete", "failed", "cancelled"]
    topic: str
    created: str
    follows: str = Field(
        "", description="the research asked about", exclude_if=lambda value: not value
    )
    report: str = Field("", exclude_if=lambda value: not value)
    report_uri: str = Field("", description="the whole report", exclude_if=lambda value: not value)
    sources: list[WebSource] = Field([], exclude_if=lambda value: not value)
    problem: str = Field(
        "", description="why there is no whole report", exclude_if=lambda value: not value
    )
    model: str = ""
    usage: Usage | None = Field(None, description="of the whole research")
    limits: list[str] = Field([], exclude_if=lambda value: not value)
