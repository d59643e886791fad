"""`video_list_sessions`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import READ_ONLY, Call, tool

from vr_plugin_video.sessions.models import SessionList


@tool(
    effects=READ_ONLY,
    words="which video sessions are open; my conversations about videos; find the session id; what"
    " did I talk about lately; when does the session expire; resume an earlier chat; I lost the"
    " number of a talk that we had; which film did we discuss last week; my open video chats;"
    " what conversations are there to go on with; show my chats; overview of open conversations;"
    " did I already start a chat on this film; where is the conversation on the trial; history"
    " of my conversations; latest sessions; how many questions did I ask in each; id of the chat"
    " from Monday; which discussions are still alive; I want to return to a dialogue but do not"
    " know which; what have we been talking about this week; sessions about lectures; which"
    " chats have I got; when did I last ask about the lecture; pick one of my former"
    " conversations; how many conversations are open; I closed the window, where is my chat;"
    " which recordings was I discussing; names of the sessions; are there talks that end soon;"
    " the conversation from last night, find it; unfinished dialogues; my former dialogues;"
    " enumerate the chats; which talk was about the match; recently used conversations; lost the"
    " thread, which session was it; any chat still open",
)
async def video_list_sessions(
    call: Call,
    limit: Annotated[int, Field(ge=1, le=50)] = 20,
    cursor: Annotated[str, Field(max_length=100)] | None = None,
) -> SessionList:
    """List your conversations about videos, the last active first."""
    from vr_plugin_video.sessions.listing import list_sessions

    return await list_sessions(call, limit, cursor)
