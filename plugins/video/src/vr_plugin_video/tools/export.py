"""`video_export`."""

from __future__ import annotations

import asyncio
from typing import Literal

from pydantic import BaseModel
from vr_kernel import CALLS_OUT, READ_ONLY, Call, tool

from vr_plugin_video.arguments import (
    DEFAULT_INSTRUCTION,
    DEFAULT_THINKING,
    End,
    EngineChoice,
    MediaPath,
    Start,
    VideoUrl,
    check_instruction,
)

ExportFormat = Literal["html", "md", "json"]


class VideoExport(BaseModel):
    """An analysis as a file: where it is, and its size in bytes."""

    source: str
    video_id: str
    title: str
    uri: str
    path: str
    mime: str
    size: int
    cached: bool
    limits: list[str] = []


@tool(
    effects=READ_ONLY | CALLS_OUT,
    long=True,
    words="save the analysis as a web page; an HTML page of the video with player, transcript and"
    " slides; share the summary of a talk with a colleague; a report to print or to send by"
    " mail; clickable timeline and key points in one file; offline page to watch along and"
    " search the transcript; download the notes as Markdown; the whole analysis as JSON; hand"
    " out lecture notes with pictures; export what was found in the film; turn the analysis into"
    " a document; a handout for the class; put the result of the analysis on disk; archive what"
    " was found in a talk outside of this program; publish the summary on our intranet; text"
    " file with the key points; open the lecture's analysis in a browser; a nicely formatted"
    " report on the talk for my boss; player and synchronised text on one page; notes for my"
    " Obsidian vault; so that somebody without this tool can read the analysis; write the"
    " summary to notes.md; one file with all that you found in the video; make the talk's notes"
    " printable; put the key points into a spreadsheet or text; a web page on the lecture with"
    " clickable times; give me the analysis to take along; save the video report to my desktop;"
    " the summary as a file; page with slides and transcript side by side; send the result of"
    " the analysis to my team; keep the analysis for people who were absent; generate an HTML"
    " report; interactive page with timestamps; produce a file from the notes; brochure or"
    " dossier on the keynote; write the results out to Markdown or JSON; a copy of the summary"
    " for offline reading",
)
async def video_export(
    call: Call,
    url: VideoUrl | None = None,
    file_path: MediaPath | None = None,
    format: ExportFormat = "html",  # noqa: A002 - the name that clients know
    start: Start | None = None,
    end: End | None = None,
    instruction: str = DEFAULT_INSTRUCTION,
    engine: EngineChoice = "auto",
    use_cache: bool = True,
) -> VideoExport:
    """Write an analysis to a file: a page with player, timeline and search, or text."""
    from vr_plugin_video.analyses.analysing import analysis_of
    from vr_plugin_video.analyses.asked import Asked
    from vr_plugin_video.page.exporting import completed, write
    from vr_plugin_video.sources import open_source
    from vr_plugin_video.times import parse_window

    check_instruction(instruction)
    window = parse_window(start, end)
    asked = Asked(instruction, None, DEFAULT_THINKING, None, None)
    async with open_source(call.services, url, file_path) as source:
        analysis = await analysis_of(
            call, source, window, asked, engine=engine, use_cache=use_cache
        )
        whole = await completed(call, source, window, analysis)
        kept = await asyncio.to_thread(write, call, source, window, whole, format)
    return VideoExport(
        source=whole.source,
        video_id=whole.video_id,
        title=whole.title,
        uri=kept.uri,
        path=str(kept.path),
        mime=kept.mime,
        size=kept.size,
        cached=whole.cached,
        limits=whole.limits,
    )
