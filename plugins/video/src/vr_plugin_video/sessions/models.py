"""Results of the session tools."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel, Field
from vr_kernel import Usage

from vr_plugin_video.models import Seconds

SessionStatus = Literal["created", "active", "expired"]


class SessionSummary(BaseModel):
    """A session; times are UTC."""

    session_id: str
    status: SessionStatus
    video_title: str
    source: str
    description: str = ""
    turn_count: int = 0
    created_at: str
    last_active: str
    expires_at: str = Field(description="unless something is asked before")


class SessionInfo(SessionSummary):
    """A new session."""

    cache: str = Field(description="'cached', or why each turn pays for the video anew")
    usage: Usage | None = None
    limits: list[str] = []


class SessionList(BaseModel):
    """A page of sessions, the last active first."""

    sessions: list[SessionSummary]
    next_cursor: str | None = None


class SessionMoment(BaseModel):
    """A time that an answer names, and a link that opens the video there."""

    time: str
    seconds: Seconds
    link: str


class SessionResponse(BaseModel):
    """An answer within a session."""

    response: str
    turn_count: int
    video_title: str
    model: str
    moments: list[SessionMoment] = []
    cached_context: bool = Field(description="the video came from the context cache")
    usage: Usage | None = None
    response_uri: str = Field("", description="the whole answer, when it is long")
    limits: list[str] = []


class SessionExport(BaseModel):
    """A conversation as a file, and how it begins."""

    session_id: str
    video_title: str
    turn_count: int
    format: str
    uri: str
    path: str
    preview: str


def utc(moment: float) -> str:
    """A Unix time as ISO 8601 text."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
