"""`video_export_session`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from vr_kernel import READ_ONLY, Call, tool

from vr_plugin_video.sessions.models import SessionExport


@tool(effects=READ_ONLY)
async def video_export_session(
    call: Call,
    session_id: Annotated[str, Field(max_length=100)],
    format: Literal["md", "json"] = "md",  # noqa: A002 - the client's name for it
) -> SessionExport:
    """Write a whole conversation about a video to a file."""
    from vr_plugin_video.sessions.export import export

    return await export(call, session_id, format)
