"""`video_continue_session`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, WRITES_LOCAL, Call, tool

from vr_plugin_video.sessions.models import SessionResponse


@tool(
    effects=WRITES_LOCAL | CALLS_OUT,
    long=True,
    words="next question about the same video; follow up on the answer; go on with the session; and"
    " what happens after that; ask again in the conversation about the film; what did you mean"
    " by that; dig deeper into minute 3; continue where we stopped; why does the speaker then"
    " say the opposite of what you just told me; go on with the video chat; and the second one;"
    " you mentioned him before, what else does he say; another thing about the film we are"
    " talking about; and who is the man on the left; explain that again in simpler words; tell"
    " me more about the second point; in the same chat, ask how it ends; back to our film, what"
    " was the name; you said that he was wrong, how so; one more question on the lecture we"
    " discuss; put this to the open session; are you sure, look again; you told me there were"
    " three reasons, name the third; pick up where we left off with the lecture; my next"
    " question is; reply in the chat of yesterday; what else happened there; same video: who"
    " speaks last; can you explain your last answer; as I asked before, but for the second half;"
    " now tell me how he justifies it; one more thing; what about the woman in the background;"
    " compare that with what you said earlier; let us return to the discussion of yesterday; ask"
    " the chat about the ending; then what does she answer; I do not understand your reply,"
    " elaborate; okay, and which example does he give for that; and when did that happen; and"
    " how does she know; so who was right in the end; and what is the reason for that; then"
    " what; please clarify the previous reply; and the next step he shows; resume our chat;"
    " regarding your last answer; also, who else was there; in this conversation, ask for the"
    " date",
)
async def video_continue_session(
    call: Call,
    session_id: Annotated[str, Field(max_length=100)],
    prompt: Annotated[str, Field(min_length=1, max_length=20_000)],
) -> SessionResponse:
    """Ask the next question in a session; the model knows what was said before."""
    from vr_plugin_video.sessions.conversation import take_turn

    return await take_turn(call, session_id, prompt)
