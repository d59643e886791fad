"""`video_transcript`."""

from __future__ import annotations

from vr_kernel import CALLS_OUT, READ_ONLY, Call, Code, VrError, cache_key, tool

from vr_plugin_video.analysis import damage
from vr_plugin_video.arguments import End, Language, MediaPath, Start, VideoUrl
from vr_plugin_video.engine import LocalEngine
from vr_plugin_video.job import Job
from vr_plugin_video.models import VideoTranscript
from vr_plugin_video.outline import Part
from vr_plugin_video.sources import open_source
from vr_plugin_video.times import parse_window
from vr_plugin_video.transcripts import MIME, Page, Transcript, TranscriptFormat, page_of, render
from vr_plugin_video.work import Work


@tool(
    effects=READ_ONLY | CALLS_OUT,
    long=True,
    core=True,
    words="transcribe an interview; subtitles or captions for a clip; make an srt or vtt file; what"
    " is said word for word; turn speech into text; type up a voice memo or dictation; the"
    " exact quote and when it was said; read a podcast instead of listening to it; spoken"
    " words of an mp3, wav or other audio file; script of the film; lyrics of a song; full"
    " text of a speech; what did they say at minute 12; a call or a meeting in writing;"
    " dialogue with times; find out who says which sentence; which language is spoken; put an"
    " old tape with a story on paper; produce subtitles where there are none; a document to"
    " read from a sound recording",
)
async def video_transcript(
    call: Call,
    url: VideoUrl | None = None,
    file_path: MediaPath | None = None,
    language: Language | None = None,
    format: TranscriptFormat = "segments",  # noqa: A002 - the client's name for it
    start: Start | None = None,
    end: End | None = None,
    cursor: str | None = None,
    use_cache: bool = True,
) -> VideoTranscript:
    """Give what is said in a video or sound file, with times, in pages."""
    window = parse_window(start, end)
    local = call.services.providers.get(LocalEngine)
    spoken = language or local.settings.language
    async with open_source(call.services, url, file_path) as source:
        job = local.job(call, source, window, use_cache=use_cache)
        media = await job.media()
        transcript, cached = await local.listener.transcript(job, spoken, job.work.stage(0, 99))
        await _record(local, job, transcript)
        stamp = _stamp(job, transcript)
        first = _position(cursor, stamp)
        page = page_of(transcript.segments, first, local.settings.page_bytes)
        partial = not media.complete
        return VideoTranscript(
            source=source.url,
            video_id=source.video_id,
            duration=media.duration,
            model=transcript.model and f"whisper {transcript.model}",
            cached=cached,
            partial=partial,
            limits=[*damage(media, partial=partial), *_silence(transcript)],
            format=format,
            origin=transcript.origin,
            language=transcript.language,
            segments=list(page.segments) if format == "segments" else [],
            content="" if format == "segments" else render(page.segments, format),
            total=len(transcript.segments),
            next_cursor=None if page.next_index is None else f"{stamp}-{page.next_index}",
            transcript_uri=await job.work.aside(_whole, job.work, transcript, format, page),
        )


async def _record(local: LocalEngine, job: Job, transcript: Transcript) -> None:
    media, (start, end) = await job.media(), await job.span()
    chapters = [c for c in media.chapters if c.end > start and c.start < end]
    parts = [Part(c.start, c.end, c.title) for c in chapters]
    starts = {*await local.watcher.known_starts(job), *(part.start for part in parts)}
    await local.recorder.speech(job, transcript.segments, sorted(starts), parts)


def _silence(transcript: Transcript) -> list[str]:
    return [] if transcript.segments else ["Nothing is said in this part."]


def _whole(work: Work, transcript: Transcript, style: TranscriptFormat, page: Page) -> str:
    """All pages as one file, when the first page does not hold them."""
    if page.first or page.next_index is None:
        return ""
    text = render(transcript.segments, style)
    kept = work.keep(text.encode(), MIME[style])
    return kept.uri if kept else ""


def _stamp(job: Job, transcript: Transcript) -> str:
    """Ties a cursor to the transcript that it counts through."""
    texts = [segment.text for segment in transcript.segments]
    return cache_key(texts=texts, **job.key_parts())[:12]


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
