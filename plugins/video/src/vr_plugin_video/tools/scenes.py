"""`video_scenes`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, READ_ONLY, Call, tool

from vr_plugin_video.arguments import End, MediaPath, Start, VideoUrl
from vr_plugin_video.models import VideoScenes


@tool(effects=READ_ONLY | CALLS_OUT, long=True)
async def video_scenes(
    call: Call,
    url: VideoUrl | None = None,
    file_path: MediaPath | None = None,
    max_scenes: Annotated[
        int | None, Field(ge=1, le=200, description="Of more, the longest")
    ] = None,
    ocr: Annotated[bool, Field(description="Read text on screen")] = True,
    start: Start | None = None,
    end: End | None = None,
    use_cache: bool = True,
) -> VideoScenes:
    """List a video's slides or scenes: times, pictures, text on screen."""
    from vr_plugin_video.analyses.scenes import scenes_of
    from vr_plugin_video.sources import open_source
    from vr_plugin_video.text.times import parse_window

    window = parse_window(start, end)
    async with open_source(call.services, url, file_path, download=True) as source:
        return await scenes_of(call, source, window, max_scenes, ocr=ocr, use_cache=use_cache)
