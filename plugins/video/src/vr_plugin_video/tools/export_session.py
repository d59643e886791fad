"""`video_export_session`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from vr_kernel import READ_ONLY, Call, tool

from vr_plugin_video.sessions.models import SessionExport


@tool(
    effects=READ_ONLY,
    words="save the conversation; export the chat about the video; all questions and answers as a"
    " file; protocol of a session; share what we found out; markdown or JSON of a session; all"
    " my questions and your replies in one document; print our dialogue about the hearing; hand"
    " the conversation to a colleague; keep what was asked and answered; log of the chat;"
    " minutes of our exchange; write what you and I said about the film into a file; keep a copy"
    " of our talk before it expires; download the session; attach our questions and answers to a"
    " case file; the whole discussion as text; send my professor all that I asked and what you"
    " replied; everything we discussed, as a document; our back and forth on the lecture for my"
    " notes; put the dialogue on disk; a record of what we talked about; our chat about the film"
    " as Markdown; save all you told me in this conversation; a file with this whole exchange; I"
    " want to read our talk again offline; put my questions on the lecture and your answers into"
    " a document; hand in the chat as an appendix; dump the session; the questions and answers"
    " of session 12 in a file; the chat log as a document; conversation protocol for the files;"
    " transcript of our chat; store the dialogue outside; print what we discussed; hand over our"
    " discussion",
)
async def video_export_session(
    call: Call,
    session_id: Annotated[str, Field(max_length=100)],
    format: Literal["md", "json"] = "md",  # noqa: A002 - the client's name for it
) -> SessionExport:
    """Write a whole conversation about a video to a file."""
    from vr_plugin_video.sessions.export import export

    return await export(call, session_id, format)
