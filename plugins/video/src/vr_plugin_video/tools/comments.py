"""`video_comments`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, PAID, READ_ONLY, Call, tool

from vr_plugin_video.arguments import YouTubeUrl
from vr_plugin_video.youtube.models import VideoComments


@tool(effects=READ_ONLY | CALLS_OUT | PAID)
async def video_comments(
    call: Call,
    url: YouTubeUrl,
    max_comments: Annotated[int, Field(ge=1, le=500)] = 200,
    analyze: Annotated[bool, Field(description="Sentiment and themes, by a model")] = False,
) -> VideoComments:
    """List a YouTube video's top comments, or tell what viewers think."""
    from vr_plugin_video.reactions.comments import comments_of
    from vr_plugin_video.youtube.addresses import video_at

    return await comments_of(call, video_at(url), max_comments, analyze=analyze)
