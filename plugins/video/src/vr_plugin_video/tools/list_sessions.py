"""`video_list_sessions`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import READ_ONLY, Call, tool

from vr_plugin_video.sessions.models import SessionList


@tool(effects=READ_ONLY)
async def video_list_sessions(
    call: Call,
    limit: Annotated[int, Field(ge=1, le=50)] = 20,
    cursor: Annotated[str, Field(max_length=100)] | None = None,
) -> SessionList:
    """List your conversations about videos, the last active first."""
    from vr_plugin_video.sessions.listing import list_sessions

    return await list_sessions(call, limit, cursor)
