"""`video_comments`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, READ_ONLY, Call, tool

from vr_plugin_video.arguments import YouTubeUrl
from vr_plugin_video.youtube.models import VideoComments


@tool(
    effects=READ_ONLY | CALLS_OUT,
    words="what do people say about this video; top comments of a YouTube link; reactions of the"
    " viewers; is the feedback positive or negative; what do commenters criticise or praise;"
    " audience sentiment; most liked comment; opinions below a review; does the community agree;"
    " complaints and questions of viewers; the verdict of the crowd; read the discussion below"
    " the clip; how was it received by those who watched; what annoys the subscribers; most"
    " upvoted replies; is there a controversy under the upload; did anybody in the comment"
    " section point out an error; what do fans ask for; did it work for others who followed the"
    " tutorial; were people angry or delighted; jokes and praise under a music video; what does"
    " the community think of the new product; pros and cons named by viewers; did the fans like"
    " the trailer; which questions were asked under the lecture; does the public believe him;"
    " quotes from the comments; what do folks write underneath; replies by the author; is the"
    " mood below the clip hostile; main themes of the discussion on YouTube; corrections that"
    " commenters made; public opinion below the upload; haters and fans; what is the comment"
    " thread about; tips that viewers added; user feedback on YouTube; summary of the replies",
)
async def video_comments(
    call: Call,
    url: YouTubeUrl,
    max_comments: Annotated[int, Field(ge=1, le=500)] = 200,
    analyze: Annotated[bool, Field(description="Sentiment and themes, by a model")] = False,
) -> VideoComments:
    """List a YouTube video's top comments, or tell what viewers think."""
    from vr_plugin_video.youtube.addresses import video_at
    from vr_plugin_video.youtube.comments import comments_of

    return await comments_of(call, video_at(url), max_comments, analyze=analyze)
