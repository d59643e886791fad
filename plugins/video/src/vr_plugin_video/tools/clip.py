"""`video_clip`."""

from __future__ import annotations

from vr_kernel import CALLS_OUT, READ_ONLY, Call, tool

from vr_plugin_video.arguments import End, MediaPath, Start, VideoUrl
from vr_plugin_video.models import ClipFormat, VideoClip


@tool(effects=READ_ONLY | CALLS_OUT, long=True)
async def video_clip(
    call: Call,
    url: VideoUrl | None = None,
    file_path: MediaPath | None = None,
    start: Start | None = None,
    end: End | None = None,
    format: ClipFormat = "mp4",  # noqa: A002 - the client's name for it
) -> VideoClip:
    """Cut a part of a video into a file: film, animation, sound, or the picture at `start`."""
    from vr_plugin_video.clips.cutting import clip_of
    from vr_plugin_video.sources import open_source
    from vr_plugin_video.text.times import parse_window

    window = parse_window(start, None if format == "jpg" else end)
    async with open_source(call.services, url, file_path, download=True) as source:
        return await clip_of(call, source, window, format)
