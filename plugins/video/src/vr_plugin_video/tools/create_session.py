"""`video_create_session`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, PAID, WRITES_LOCAL, Call, tool

from vr_plugin_video.arguments import MediaPath, VideoUrl
from vr_plugin_video.sessions.models import SessionInfo


@tool(effects=WRITES_LOCAL | CALLS_OUT | PAID, long=True)
async def video_create_session(
    call: Call,
    url: VideoUrl | None = None,
    file_path: MediaPath | None = None,
    description: Annotated[str, Field(max_length=2000, description="What it is for")] = "",
    download: Annotated[
        bool, Field(description="Download from YouTube, so that turns cost less")
    ] = False,
) -> SessionInfo:
    """Begin a conversation about one video; ask with video_continue_session."""
    from vr_plugin_video.sessions.creation import create

    return await create(call, url, file_path, description, download=download)
