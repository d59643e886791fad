"""Transcripts as results: recorded, and given page by page."""

from __future__ import annotations

from dataclasses import dataclass

from vr_kernel import Call, Code, VrError, cache_key

from vr_plugin_video.analyses.analysis import damage
from vr_plugin_video.analyses.local_engine import LocalEngine
from vr_plugin_video.analyses.outline import Part
from vr_plugin_video.arguments import EngineChoice
from vr_plugin_video.captions.transcripts import (
    MIME,
    Link,
    Page,
    Transcript,
    TranscriptFormat,
    page_of,
    render,
)
from vr_plugin_video.models import Engine, VideoTranscript
from vr_plugin_video.sources import Source
from vr_plugin_video.task import VideoTask
from vr_plugin_video.text.times import Window
from vr_plugin_video.transcription.model_listener import transcript_by
from vr_plugin_video.work import Work


@dataclass(frozen=True, slots=True)
class TranscriptRequest:
    """The arguments of one call; a language of None is the configured one."""

    language: str | None
    style: TranscriptFormat
    cursor: str | None
    engine: EngineChoice
    use_cache: bool


async def transcript_page(
    call: Call, source: Source, window: Window, request: TranscriptRequest
) -> VideoTranscript:
    """Return a page of the transcript of a window.

    Raises:
        VrError: what `transcript_by` raises; INVALID_INPUT for a cursor of something else.
    """
    local = call.services.providers.get(LocalEngine)
    spoken = request.language or local.settings.language
    task = local.task(call, source, window, use_cache=request.use_cache)
    media = await task.media()
    transcript, cached = await transcript_by(request.engine, local, task, spoken, (0, 99))
    await _record(local, task, transcript)
    stamp = _stamp(task, transcript)
    first = _position(request.cursor, stamp)
    page = page_of(transcript.segments, first, local.settings.page_bytes)
    made_by, model = _maker(transcript)
    style, link = request.style, source.link if source.link(0).startswith("http") else None
    return VideoTranscript(
        source=source.url,
        video_id=source.video_id,
        duration=media.duration or None,
        engine=made_by,
        model=model,
        cached=cached,
        partial=not media.complete,
        limits=[
            *damage(media, partial=not media.complete),
            *task.limits,
            *_remarks(transcript),
        ],
        format=style,
        origin=transcript.origin,
        language=transcript.language,
        segments=list(page.segments) if style == "segments" else [],
        content="" if style == "segments" else render(page.segments, style, link),
        total=len(transcript.segments),
        next_cursor=None if page.next_index is None else f"{stamp}-{page.next_index}",
        transcript_uri=await task.work.in_thread(_whole, task.work, transcript, style, page, link),
    )


async def _record(local: LocalEngine, task: VideoTask, transcript: Transcript) -> None:
    media, (start, end) = await task.media(), await task.span()
    chapters = [c for c in media.chapters if c.end > start and c.start < end]
    parts = [Part(c.start, c.end, c.title) for c in chapters]
    starts = {*await local.watcher.known_starts(task), *(part.start for part in parts)}
    await local.recorder.speech(task, transcript.segments, sorted(starts), parts)


def _maker(transcript: Transcript) -> tuple[Engine, str]:
    """Return the engine and the model that listened; captions have no model."""
    if transcript.origin == "model":
        at_gemini = transcript.model.startswith("gemini/")
        return ("gemini" if at_gemini else "model"), transcript.model
    return "local", transcript.model and f"whisper {transcript.model}"


def _remarks(transcript: Transcript) -> list[str]:
    silence = [] if transcript.segments else ["Nothing is said in this part."]
    return [*transcript.notes, *silence]


def _whole(
    work: Work, transcript: Transcript, style: TranscriptFormat, page: Page, link: Link | None
) -> str:
    """All pages as one file, when the first page does not hold them."""
    if page.first or page.next_index is None:
        return ""
    text = render(transcript.segments, style, link)
    kept = work.keep(text.encode(), MIME[style])
    return kept.uri if kept else ""


def _stamp(task: VideoTask, transcript: Transcript) -> str:
    """Return a mark that ties a cursor to its transcript."""
    texts = [segment.text for segment in transcript.segments]
    return cache_key(texts=texts, **task.key_parts())[:12]


def _position(cursor: str | None, stamp: str) -> int:
    if not cursor:
        return 0
    own, _, index = cursor.partition("-")
    if own == stamp and index.isdecimal():
        return int(index)
    raise VrError(
        "The cursor belongs to another transcript.",
        Code.INVALID_INPUT,
        category="CURSOR_INVALID",
        hint="Give next_cursor of the last page, with the other arguments as they were.",
    )
