"""`video_create_session`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, WRITES_LOCAL, Call, tool

from vr_plugin_video.arguments import MediaPath, VideoUrl
from vr_plugin_video.sessions.models import SessionInfo


@tool(
    effects=WRITES_LOCAL | CALLS_OUT,
    long=True,
    words="start a conversation about a video; chat with a recording; ask several questions about"
    " one film; talk a lecture over; open a session on a YouTube link; discuss a clip step by"
    " step; load a video once and keep asking; prepare an interview for follow-up questions; let"
    " us chat about https://youtu.be/abc; get the documentary ready, I have many questions; I"
    " want to talk it through with you; a dialogue with the speech; go deeper into a video over"
    " several turns; I will have more questions about this clip; let me interrogate a lecture;"
    " set up questions and answers about a film; be my tutor on this lecture; go through it with"
    " me question by question; keep the video in mind for what I ask next; a new conversation;"
    " cheaper when I ask many times about one long video; get a recording ready so that later"
    " questions are quick; discuss the match with me; explore a recording together; I ask, you"
    " answer, for an hour; talk back and forth with a video; I want to question the witness"
    " tape; quiz me on this lecture; keep this recording open for a while; let us look at my"
    " game together; begin to discuss meeting.mp4; make it possible to ask more and more about"
    " one clip; so that you need not watch it again for each question; sit down with me over the"
    " documentary; a chat, not a single answer; chat with this video; I want to speak with you"
    " about a lecture; start a dialogue; new chat on a movie; interview the recording; prepare"
    " for a series of questions; I plan to query this film repeatedly; multi-turn talk on a"
    " webinar",
)
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
