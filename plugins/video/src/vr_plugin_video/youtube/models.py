"""Results about YouTube: videos, comments and playlists."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field
from vr_kernel import Usage

from vr_plugin_video.models import ChapterPart, Seconds

ReaderName = Literal["youtube-data-api", "yt-dlp", "oembed"]
Availability = Literal["available", "private", "deleted"]
TITLE_CHARS = 200


class VideoMetadata(BaseModel):
    """Metadata of a video; None or empty when YouTube does not say."""

    video_id: str
    url: str
    title: str
    description: str = ""
    channel_title: str = ""
    channel_id: str = ""
    published_at: str = ""
    duration: str = Field("", description="as 1:02:03")
    duration_seconds: Seconds | None = None
    tags: list[str] = []
    category: str = ""
    view_count: int | None = None
    like_count: int | None = None
    comment_count: int | None = None
    default_language: str = ""
    has_captions: bool | None = None
    chapters: list[ChapterPart] = []
    thumbnail_url: str = ""
    restrictions: list[str] = []
    engine: ReaderName
    limits: list[str] = []


class Comment(BaseModel):
    """A comment; `reply_count` is None when unknown."""

    author: str
    text: str
    like_count: int = 0
    reply_count: int | None = None
    published_at: str = ""


class Reactions(BaseModel):
    """A model's reading of comments; sentiments in percent, together 100."""

    sentiment_positive: float
    sentiment_negative: float
    sentiment_neutral: float
    themes_positive: list[str]
    themes_critical: list[str]
    consensus: str


class VideoComments(BaseModel):
    """The top comments of a video; `count` includes those that are left out here."""

    video_id: str
    url: str
    count: int
    comments: list[Comment]
    reactions: Reactions | None = None
    comments_uri: str = Field("", description="all of them as JSON")
    engine: ReaderName
    model: str = ""
    usage: Usage | None = None
    limits: list[str] = []


class PlaylistItem(BaseModel):
    """A place in a playlist, counted from 1, and the video there."""

    position: int
    video_id: str
    title: str
    channel: str = ""
    published_at: str = ""
    url: str
    availability: Availability = "available"


class PlaylistInfo(BaseModel):
    """A playlist; `total` includes the items that are not shown."""

    playlist_id: str
    url: str
    title: str
    channel: str = ""
    total: int
    items: list[PlaylistItem]
    engine: ReaderName
    limits: list[str] = []
