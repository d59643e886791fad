"""`video_transcript`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, PAID, READ_ONLY, Call, tool

from vr_plugin_video.arguments import End, Engine, Language, MediaPath, Start, VideoUrl
from vr_plugin_video.captions.transcripts import TranscriptFormat
from vr_plugin_video.models import VideoTranscript


@tool(
    effects=READ_ONLY | CALLS_OUT | PAID,
    long=True,
    core=True,
    printed=("content", "transcript_uri"),
)
async def video_transcript(
    call: Call,
    url: VideoUrl | None = None,
    file_path: MediaPath | None = None,
    language: Language | None = None,
    format: TranscriptFormat = "segments",  # noqa: A002 - the client's name for it
    start: Start | None = None,
    end: End | None = None,
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None,
    use_cache: bool = True,
    engine: Engine = "auto",
) -> VideoTranscript:
    """Give what is said in a video or sound file, with times, in pages."""
    from vr_plugin_video.sources import open_source
    from vr_plugin_video.text.times import parse_window
    from vr_plugin_video.transcription.pages import TranscriptRequest, transcript_page

    window = parse_window(start, end)
    request = TranscriptRequest(language, format, cursor, engine, use_cache)
    async with open_source(call.services, url, file_path) as source:
        return await transcript_page(call, source, window, request)
