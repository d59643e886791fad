"""`video_transcript`."""

from __future__ import annotations

from vr_kernel import CALLS_OUT, READ_ONLY, Call, tool

from vr_plugin_video.arguments import End, EngineChoice, Language, MediaPath, Start, VideoUrl
from vr_plugin_video.models import VideoTranscript
from vr_plugin_video.speech.transcripts import TranscriptFormat


@tool(
    effects=READ_ONLY | CALLS_OUT,
    long=True,
    core=True,
    words="transcribe an interview; subtitles or captions for a clip; make an srt or vtt file; what"
    " is said word for word; turn speech into text; type up a voice memo or dictation; the exact"
    " quote and when it was said; read a podcast instead of listening to it; spoken words of an"
    " mp3, wav or other audio file; script of the film; lyrics of a song; full text of a speech;"
    " what did they say at minute 12; a call or a meeting in writing; dialogue with times; find"
    " out who says which sentence; which language is spoken; put an old tape with a story on"
    " paper; produce subtitles where there are none; a document to read from a sound recording;"
    " word-for-word record of a hearing; captions in French; I am deaf and need the words; who"
    " said what in the meeting; the spoken text, so that I can search it; convert the narration"
    " to WebVTT; spoken text in another language; the sentence in which she first says the word;"
    " dictated letter as text; all that the guest says, verbatim; next page of the transcript;"
    " make the audio book readable; note down every word of the hearing with its time; I cannot"
    " hear it well, what do they say; lines of the dialogue for translation; where in the"
    " recording does he say this word; the words only, no summary; text of a radio programme;"
    " put the speech on paper with time codes; subtitle file in German; dictate, jot and type"
    " the wording; closed captions; the narrator's text as prose; what does the voice say at the"
    " start; convert speech of a voicemail; protocol of who spoke; interview on paper; literal"
    " quotation from a talk; listen to the audio and write it out",
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
    engine: EngineChoice = "auto",
) -> VideoTranscript:
    """Give what is said in a video or sound file, with times, in pages."""
    from vr_plugin_video.sources import open_source
    from vr_plugin_video.speech.transcript_pages import TranscriptAsked, transcript_page
    from vr_plugin_video.times import parse_window

    window = parse_window(start, end)
    asked = TranscriptAsked(language, format, cursor, engine, use_cache)
    async with open_source(call.services, url, file_path) as source:
        return await transcript_page(call, source, window, asked)
