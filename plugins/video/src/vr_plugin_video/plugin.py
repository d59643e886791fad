"""The plugin's hooks; importing this module imports no media library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel
from vr_kernel import Check, Command, DocumentLoader, Provider, RecordKind, Services, hookimpl

from vr_plugin_video.prompts import (
    video_chat,
    video_comments_summary,
    video_compare,
    video_meeting_notes,
    video_summary,
)
from vr_plugin_video.record_kinds import (
    CALL_NOTES,
    COMMUNITY_REACTIONS,
    SESSION_TRANSCRIPTS,
    VIDEO_ANALYSES,
    VIDEO_METADATA,
    VIDEO_SEGMENTS,
)
from vr_plugin_video.settings import VideoSettings
from vr_plugin_video.tools.analyze import video_analyze
from vr_plugin_video.tools.batch_analyze import video_batch_analyze
from vr_plugin_video.tools.clip import video_clip
from vr_plugin_video.tools.comments import video_comments
from vr_plugin_video.tools.continue_session import video_continue_session
from vr_plugin_video.tools.create_session import video_create_session
from vr_plugin_video.tools.export import video_export
from vr_plugin_video.tools.export_session import video_export_session
from vr_plugin_video.tools.list_sessions import video_list_sessions
from vr_plugin_video.tools.metadata import video_metadata
from vr_plugin_video.tools.playlist import video_playlist
from vr_plugin_video.tools.scenes import video_scenes
from vr_plugin_video.tools.transcript import video_transcript


@hookimpl
def vr_settings() -> type[BaseModel]:
    """`[plugins.video]`."""
    return VideoSettings


@hookimpl
def vr_tools() -> list[Callable[..., Any]]:
    """The tools."""
    return [
        video_analyze,
        video_batch_analyze,
        video_clip,
        video_comments,
        video_continue_session,
        video_create_session,
        video_export,
        video_export_session,
        video_list_sessions,
        video_metadata,
        video_playlist,
        video_scenes,
        video_transcript,
    ]


@hookimpl
def vr_prompts() -> list[Callable[..., Any]]:
    """The prompts that people start with."""
    return [
        video_summary,
        video_chat,
        video_compare,
        video_meeting_notes,
        video_comments_summary,
    ]


@hookimpl
def vr_record_kinds() -> list[RecordKind]:
    """The kinds of records."""
    return [
        VIDEO_ANALYSES,
        VIDEO_SEGMENTS,
        CALL_NOTES,
        VIDEO_METADATA,
        COMMUNITY_REACTIONS,
        SESSION_TRANSCRIPTS,
    ]


@hookimpl
def vr_views() -> list[Callable[..., Any]]:
    """The views of results and records."""
    from vr_plugin_video.views.declared import VIEWS

    return [*VIEWS]


@hookimpl
def vr_providers() -> list[Provider[Any]]:
    """Objects that exist once per kernel, so that calls share loaded models and running work."""
    return [
        Provider.own("vr_plugin_video.downloads:Downloads"),
        Provider.own("vr_plugin_video.analyses.local_engine:LocalEngine"),
        Provider.own("vr_plugin_video.youtube.client:YouTube"),
        Provider.own("vr_plugin_video.sessions.store:SessionStore"),
        Provider(DocumentLoader, "video", _media_loader),
    ]


def _media_loader(services: Services) -> DocumentLoader:
    from vr_plugin_video.loader import MediaLoader

    return MediaLoader(services)


@hookimpl
def vr_commands() -> list[Command]:
    """The commands besides the tools."""
    return [
        Command(
            path=("video", "fetch-models"),
            help="Download or copy a speech recognition model.",
            target="vr_plugin_video.speech.fetching:fetch_models",
        )
    ]


@hookimpl
def vr_health(services: Services) -> list[Check]:
    """The checks of `vr doctor`."""
    from vr_plugin_video.health import video_checks

    return video_checks(services)
