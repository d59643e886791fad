"""Opens media files safely and probes them; refuses other files early."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from vr_kernel import Code, VrError, require_extra

from vr_plugin_video.media.formats import mime_of_streams
from vr_plugin_video.media.header import BoundedFile, oversized
from vr_plugin_video.media.info import Chapter, MediaInfo, SubtitleStream
from vr_plugin_video.media.streams import decodable, find_audio, find_video, measure, origin
from vr_plugin_video.text.plain_text import one_line

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.container import InputContainer
    from av.video.stream import VideoStream

DEMUXERS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpeg,mpegts,asf,flv,ogg,mp3,wav,w64,flac,aac,"
    "aiff,caf,amr,au,ac3,eac3"
)
"""The formats that are read. Playlists are left out: they would open further files and URLs."""
MAX_PIXELS = 8192 * 4320
"""Largest frame, a little above 8K; a frame of it takes about 50 MB."""
MAX_FPS = 1000.0
MAX_CHAPTERS = 1000
MAX_STREAMS = 256
"""Most streams of a file; some formats are read up to this number, others refused."""
TITLE_LENGTH = 300
RAW_TITLE = 10_000
"""Characters of a title that are read; the rest is left out."""
MAX_SUBTITLES = 16
"""Subtitle streams that are read; each costs a pass through the file."""
READ_SIZE = 1 << 18
PICTURE_SUBTITLES = frozenset({"hdmv_pgs_subtitle", "dvd_subtitle", "dvb_subtitle", "xsub"})
ALWAYS_LENIENT = 19
INSTALL_HINT = 'pip install "video-research[local]"'
UNREADABLE_HINT = (
    "Give a video or sound file, such as mp4, webm, mov, mkv, mp3, wav or flac; "
    "one that was cut off before its index, or is still being written, cannot be read."
)
_WITHOUT = {
    "pictures": "It holds sound: video_transcript writes down what is said, and video_clip cuts a"
    " part of it with format='mp3'.",
    "sound": "It holds pictures: video_scenes shows them, and video_clip cuts a part of it with"
    " format='mp4', 'gif' or 'jpg'.",
}
"""Hints for files without pictures or sound."""


def probe(file: BinaryIO) -> MediaInfo:
    """Read the facts about a media file; at most one frame is decoded.

    Raises:
        VrError: as `opened`; UNSUPPORTED without sound and picture, or when none can be decoded;
            TOO_LARGE for absurd frames.
    """
    with opened(file) as container:
        video, audio = _readable(container)
        duration, complete = measure(container)
        return MediaInfo(
            duration=duration,
            width=video.codec_context.width if video else 0,
            height=video.codec_context.height if video else 0,
            fps=_frame_rate(video),
            has_video=video is not None,
            has_audio=audio is not None,
            title=_title(container.metadata),
            chapters=_chapters(container, duration),
            subtitles=_subtitles(container),
            complete=complete and video is find_video(container),
            mime=_mime(container, pictures=video is not None),
        )


@contextmanager
def opened(file: BinaryIO) -> Iterator[InputContainer]:
    """The file as a PyAV container, from its first byte; its name does not matter.

    Only `DEMUXERS` are tried, and nothing but this file is read.

    Raises:
        VrError: UNAVAILABLE without PyAV; INVALID_INPUT for an empty file; UNSUPPORTED for bytes
            that are not media, and for damage that the block does not handle; TOO_LARGE for more
            streams, tags or chapters than a recording has.
    """
    av = _import_av()
    if file.seek(0, io.SEEK_END) == 0:
        raise VrError(
            "The file is empty.",
            Code.INVALID_INPUT,
            category="FILE_UNSUPPORTED",
            hint="Copy or download it again.",
        )
    file.seek(0)
    limits = {
        "format_whitelist": DEMUXERS,
        "protocol_whitelist": "none",
        "max_pixels": str(MAX_PIXELS),
        "max_streams": str(MAX_STREAMS),
    }
    watched = BoundedFile(file)
    try:
        with av.open(
            watched, "r", options=limits, buffer_size=READ_SIZE, **_leniency(av)
        ) as container:
            watched.trust()
            for stream in container.streams.video:
                if stream.codec_context is not None:
                    stream.codec_context.options = {"max_pixels": str(MAX_PIXELS)}
            yield container
    except av.MemoryError as error:
        raise oversized(
            f"has more than {MAX_STREAMS} streams, or asks for too much memory"
        ) from error
    except av.FFmpegError as error:
        raise _unsupported("The file is no audio or video that can be read.") from error


def media_if_readable(file: BinaryIO) -> MediaInfo | None:
    """The description of a media file, None without PyAV; other files are refused before hashing.

    Raises:
        VrError: as `probe`.
    """
    try:
        return probe(file)
    except VrError as error:
        if error.category != "EXTRA_MISSING":
            raise
        return None


def no_stream(what: str) -> VrError:
    """The error for a file without `what`, which is "pictures" or "sound"."""
    return _unsupported(f"The file holds no {what}.", _WITHOUT[what])


def _import_av() -> Any:
    return require_extra("av", "Reading media needs PyAV, which is not installed.", INSTALL_HINT)


def _leniency(av: Any) -> dict[str, str]:
    """Return options by which PyAV before 19 reads titles that are not UTF-8, as newer ones do."""
    major = int(av.__version__.partition(".")[0])
    return {"metadata_errors": "surrogateescape"} if major < ALWAYS_LENIENT else {}


def _unsupported(message: str, hint: str = UNREADABLE_HINT) -> VrError:
    return VrError(message, Code.UNSUPPORTED, category="FILE_UNSUPPORTED", hint=hint)


def _nothing_in(container: InputContainer) -> VrError:
    if not any(s.codec_context is not None for s in container.streams.video):
        return _unsupported("The file holds neither sound nor pictures.")
    return VrError(
        "The file's frames are too large, or have no size.",
        Code.TOO_LARGE,
        category="FILE_TOO_LARGE",
        hint=f"Scale the video down to at most {MAX_PIXELS // 1_000_000} million pixels.",
    )


def _readable(container: InputContainer) -> tuple[VideoStream | None, AudioStream | None]:
    """The pictures, unless none can be decoded, and the sound."""
    video, audio = find_video(container), find_audio(container)
    if video is None and audio is None:
        raise _nothing_in(container)
    found = decodable(container)
    if not found:
        raise _unsupported("No picture of the file can be decoded, and no sound.")
    return (video if video in found else None), audio


def _frame_rate(video: VideoStream | None) -> float:
    rate = float((video and (video.average_rate or video.guessed_rate)) or 0)
    return rate if math.isfinite(rate) and 0 < rate <= MAX_FPS else 0.0


def _mime(container: InputContainer, *, pictures: bool) -> str:
    codecs = [
        stream.codec_context.codec.canonical_name
        for stream in container.streams
        if stream.codec_context is not None
    ]
    brand = container.metadata.get("major_brand", "")
    return mime_of_streams(container.format.name, brand, codecs, pictures=pictures)


def _title(metadata: dict[str, str]) -> str:
    found = (value for key, value in metadata.items() if key.lower() == "title")
    return one_line(next(found, "")[:RAW_TITLE], TITLE_LENGTH)


def _chapters(container: InputContainer, duration: float) -> tuple[Chapter, ...]:
    zero = origin(container)
    chapters = []
    for entry in container.chapters()[:MAX_CHAPTERS]:
        base = entry["time_base"] or 0
        start, end = (
            min(max(0.0, float(entry[edge] * base) - zero), duration) for edge in ("start", "end")
        )
        if end > start:
            chapters.append(Chapter(start, end, _title(entry["metadata"])))
    return tuple(sorted(chapters, key=lambda chapter: (chapter.start, chapter.end)))


def _subtitles(container: InputContainer) -> tuple[SubtitleStream, ...]:
    found = (
        SubtitleStream(stream.index, one_line((stream.language or "")[:RAW_TITLE], 16))
        for stream in container.streams.subtitles
        if stream.codec_context is not None and stream.codec_context.name not in PICTURE_SUBTITLES
    )
    return tuple(islice(found, MAX_SUBTITLES))
