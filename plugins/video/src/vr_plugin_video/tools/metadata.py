"""`video_metadata`."""

from __future__ import annotations

from vr_kernel import CALLS_OUT, READ_ONLY, Call, tool

from vr_plugin_video.arguments import YouTubeUrl
from vr_plugin_video.youtube.models import VideoMetadata


@tool(effects=READ_ONLY | CALLS_OUT)
async def video_metadata(call: Call, url: YouTubeUrl) -> VideoMetadata:
    """Tell what YouTube says of a video: title, channel, counts, tags, chapters."""
    from vr_plugin_video.reactions.metadata import metadata_of
    from vr_plugin_video.youtube.addresses import video_at

    return await metadata_of(call, video_at(url))
