"""`video_playlist`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, READ_ONLY, Call, tool

from vr_plugin_video.youtube.models import PlaylistInfo


@tool(effects=READ_ONLY | CALLS_OUT)
async def video_playlist(
    call: Call,
    url: Annotated[str, Field(description="YouTube link with list=")],
    max_items: Annotated[int, Field(ge=1, le=50)] = 20,
) -> PlaylistInfo:
    """List the videos of a YouTube playlist."""
    from vr_plugin_video.youtube.addresses import parse_url, playlist_id
    from vr_plugin_video.youtube.client import youtube_of

    wanted = playlist_id(parse_url(url))
    call.progress(0, 1, "Asking YouTube")
    found = await youtube_of(call.services).playlist(wanted, max_items)
    hidden = sum(item.availability != "available" for item in found.items)
    limits = [f"{hidden} of the items are private or deleted."] if hidden else []
    return found.model_copy(update={"limits": [*found.limits, *limits]})
