"""What people begin a conversation about a video with."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import prompt

Source = Annotated[str, Field(description="Address of the video, or path of the file")]


@prompt
def video_summary(
    source: Source,
    question: Annotated[str, Field(description="What you want to know, if anything")] = "",
) -> str:
    """Watch a video and say what matters in it."""
    wanted = f"Answer this: {question}" if question else "Say what it is about and what matters."
    return (
        f"Watch {source} with video_analyze. {wanted}"
        " Name the time of every moment you speak of, and quote only what the transcript has."
    )


@prompt
def video_meeting_notes(
    source: Source,
    language: Annotated[str, Field(description="Language of the notes")] = "English",
) -> str:
    """Write the notes of a recorded meeting."""
    return (
        f"Get the words of {source} with video_transcript, page by page until there are no more."
        f" Then write notes of the meeting in {language}: who took part, what was decided, who"
        " does what until when, and what stayed open. Give the time of each decision and task,"
        " and leave out what was not said."
    )
