"""The plugin's hooks; importing this module imports no media library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel
from vr_kernel import Check, Command, Provider, RecordKind, Services, hookimpl

from vr_plugin_video.engine import LocalEngine
from vr_plugin_video.prompts import video_meeting_notes, video_summary
from vr_plugin_video.records import VIDEO_ANALYSES, VIDEO_SEGMENTS
from vr_plugin_video.settings import VideoSettings
from vr_plugin_video.tools.analyze import video_analyze
from vr_plugin_video.tools.scenes import video_scenes
from vr_plugin_video.tools.transcript import video_transcript
from vr_plugin_video.youtube.client import YouTube


@hookimpl
def vr_settings() -> type[BaseModel]:
    """`[plugins.video]`."""
    return VideoSettings


@hookimpl
def vr_tools() -> list[Callable[..., Any]]:
    """The tools."""
    return [video_analyze, video_scenes, video_transcript]


@hookimpl
def vr_prompts() -> list[Callable[..., Any]]:
    """What people begin with."""
    return [video_meeting_notes, video_summary]


@hookimpl
def vr_record_kinds() -> list[RecordKind]:
    """What is stored."""
    return [VIDEO_ANALYSES, VIDEO_SEGMENTS]


@hookimpl
def vr_providers() -> list[Provider[Any]]:
    """Made once a kernel, so that calls share loaded models and running work."""
    return [Provider(LocalEngine, "local", LocalEngine), Provider(YouTube, "youtube", YouTube)]


@hookimpl
def vr_commands() -> list[Command]:
    """Commands that are no tools."""
    return [
        Command(
            path=("video", "fetch-models"),
            help="Download or copy a speech recognition model.",
            target="vr_plugin_video.commands:fetch_models",
        )
    ]


@hookimpl
def vr_health(services: Services) -> list[Check]:
    """What `vr doctor` looks at."""
    from vr_plugin_video.health import video_checks

    return video_checks(services)
