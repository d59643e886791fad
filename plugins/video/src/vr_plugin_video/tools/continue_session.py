"""`video_continue_session`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, PAID, WRITES_LOCAL, Call, tool

from vr_plugin_video.sessions.models import SessionResponse


@tool(effects=WRITES_LOCAL | CALLS_OUT | PAID, long=True)
async def video_continue_session(
    call: Call,
    session_id: Annotated[str, Field(max_length=100, description="From video_create_session")],
    prompt: Annotated[str, Field(min_length=1, max_length=20_000, description="The question")],
) -> SessionResponse:
    """Ask the next question in a session; the model knows what was said before."""
    from vr_plugin_video.sessions.conversation import take_turn

    return await take_turn(call, session_id, prompt)
