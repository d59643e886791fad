"""The kinds of records of the video domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from vr_kernel import RecordField, RecordKind, entity_key

ANALYSES = "VideoAnalyses"
SEGMENTS = "VideoSegments"
NOTES = "CallNotes"
METADATA = "VideoMetadata"
REACTIONS = "CommunityReactions"
TURNS = "SessionTranscripts"

_VIDEO_ID = RecordField(
    "video_id", description="YouTube video ID or SHA-256 of the file", filterable=True
)
_SOURCE_URL = RecordField("source_url", description="Source URL or file path", filterable=True)


def segment_key(of: Mapping[str, Any]) -> str:
    """Return the key of speech or text at one moment of a video, by a record's fields."""
    return entity_key(SEGMENTS, of["video_id"], of["origin"], round(of["start"] * 1000))


def analysis_key(of: Mapping[str, Any]) -> str:
    """Return the key of an analysis by an instruction, by a record's fields.

    A new analysis has a new key; earlier ones stay as history.
    """
    wanted = " ".join(of["instruction"].casefold().split())
    return entity_key(ANALYSES, of["video_id"], wanted, *filter(None, [of.get("part")]))


def one_a_video(kind: str) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that makes the key of the only record of a kind about a video."""
    return lambda of: entity_key(kind, of["video_id"])


def metadata_key(of: Mapping[str, Any]) -> str:
    """Return the key of a video's metadata, by a record's fields."""
    return entity_key(METADATA, of["video_id"])


VIDEO_ANALYSES = RecordKind(
    name=ANALYSES,
    description="Analyses of whole videos.",
    fields=(
        _VIDEO_ID,
        _SOURCE_URL,
        RecordField(
            "instruction",
            description="Analysis instruction used",
            vectorised=True,
            searchable=True,
        ),
        RecordField("part", description="Seconds from-to; none: the whole", filterable=True),
        RecordField("title", description="Video title", vectorised=True, searchable=True),
        RecordField("summary", description="Analysis summary", vectorised=True, searchable=True),
        RecordField(
            "key_points",
            "text[]",
            description="Key points extracted",
            vectorised=True,
            searchable=True,
        ),
        RecordField("raw_result", description="Full JSON result"),
    ),
    rerank="summary",
    source="source_url",
    identity=analysis_key,
    derived=True,
    history=True,
    category="video",
    title="title",
)

VIDEO_SEGMENTS = RecordKind(
    name=SEGMENTS,
    description="What is said, or stands on a slide, at one moment of a video.",
    fields=(
        _VIDEO_ID,
        _SOURCE_URL,
        RecordField("start", "number", "Seconds from the start", filterable=True, range=True),
        RecordField("end", "number", "Seconds from the start", filterable=True, range=True),
        RecordField("origin", description="speech or slide", filterable=True),
        RecordField(
            "title", description="Slide or chapter title", vectorised=True, searchable=True
        ),
        RecordField("text", description="What is said or shown", vectorised=True, searchable=True),
        RecordField("thumbnail_uri", description="Picture of that moment"),
        RecordField("link", description="Opens the video at that moment"),
    ),
    rerank="text",
    source="source_url",
    link="link",
    locator=("start", "end"),
    identity=segment_key,
    category="video",
    variety="origin",
)

CALL_NOTES = RecordKind(
    name=NOTES,
    description="Notes of recorded meetings and calls.",
    fields=(
        _VIDEO_ID,
        _SOURCE_URL,
        RecordField("title", description="Meeting or call title", vectorised=True, searchable=True),
        RecordField("summary", description="Meeting summary", vectorised=True, searchable=True),
        RecordField("participants", "text[]", "Who took part", vectorised=True, searchable=True),
        RecordField("decisions", "text[]", "What was decided", vectorised=True, searchable=True),
        RecordField("action_items", "text[]", "Who does what", vectorised=True, searchable=True),
        RecordField(
            "topics_discussed", "text[]", "Topics talked about", vectorised=True, searchable=True
        ),
    ),
    rerank="summary",
    source="source_url",
    identity=one_a_video(NOTES),
    derived=True,
    history=True,
    category="video",
    title="title",
)

VIDEO_METADATA = RecordKind(
    name=METADATA,
    description="What YouTube says of videos; one record a video.",
    fields=(
        _VIDEO_ID,
        _SOURCE_URL,
        RecordField("title", description="Video title", vectorised=True, searchable=True),
        RecordField(
            "description", description="Video description", vectorised=True, searchable=True
        ),
        RecordField("channel_title", description="Channel name", vectorised=True, searchable=True),
        RecordField("tags", "text[]", "Video tags", vectorised=True, searchable=True),
        RecordField("category", description="Name of the category", filterable=True),
        RecordField("view_count", "int", "View count", filterable=True, range=True),
        RecordField("like_count", "int", "Like count", filterable=True, range=True),
        RecordField("duration", description="Video duration, such as 1:02:03"),
        RecordField("published_at", description="Publish date, ISO 8601"),
    ),
    rerank="description",
    source="source_url",
    link="source_url",
    identity=metadata_key,
    category="video",
    title="title",
)

COMMUNITY_REACTIONS = RecordKind(
    name=REACTIONS,
    description="What the comments below a video say, taken together.",
    fields=(
        _VIDEO_ID,
        _SOURCE_URL,
        RecordField("video_title", description="Video title", vectorised=True, searchable=True),
        RecordField("comment_count", "int", "Number of comments analyzed"),
        RecordField("sentiment_positive", "number", "Percent", filterable=True, range=True),
        RecordField("sentiment_negative", "number", "Percent", filterable=True, range=True),
        RecordField("sentiment_neutral", "number", "Percent", filterable=True, range=True),
        RecordField("themes_positive", "text[]", "What is liked", vectorised=True, searchable=True),
        RecordField(
            "themes_critical", "text[]", "What is criticised", vectorised=True, searchable=True
        ),
        RecordField(
            "consensus", description="What most agree on", vectorised=True, searchable=True
        ),
    ),
    rerank="consensus",
    source="source_url",
    link="source_url",
    identity=one_a_video(REACTIONS),
    derived=True,
    history=True,
    category="video",
    title="video_title",
)

SESSION_TRANSCRIPTS = RecordKind(
    name=TURNS,
    description="Questions about videos, and their answers.",
    fields=(
        RecordField("session_id", description="Session ID", filterable=True),
        RecordField(
            "video_title",
            description="Video title for this session",
            vectorised=True,
            searchable=True,
        ),
        RecordField("turn_index", "int", "Turn number in session", filterable=True, range=True),
        RecordField(
            "turn_prompt", description="User prompt for this turn", vectorised=True, searchable=True
        ),
        RecordField(
            "turn_response",
            description="Model response for this turn",
            vectorised=True,
            searchable=True,
        ),
        _VIDEO_ID,
        _SOURCE_URL,
    ),
    rerank="turn_response",
    source="source_url",
    derived=True,
    category="video-chat",
    title="video_title",
)
