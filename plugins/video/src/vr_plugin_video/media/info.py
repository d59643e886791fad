"""Facts about a media file, or about a video that is not on this machine."""

from __future__ import annotations

from dataclasses import dataclass

from vr_kernel import Code, VrError


@dataclass(frozen=True, slots=True)
class Chapter:
    """A named part of a recording, in seconds."""

    start: float
    end: float
    title: str


@dataclass(frozen=True, slots=True)
class SubtitleStream:
    """Text subtitles inside a file: the stream's index, and its language or an empty string."""

    index: int
    language: str


@dataclass(frozen=True, slots=True)
class MediaInfo:
    """The contents of a file as it states them, sanity checked.

    `duration` is in seconds, `fps` 0.0 when unknown; `width` and `height` are 0 without video.
    `complete` is False for a file that ends before its stated end, is damaged there, or declares
    pictures of which none can be decoded. `mime` is the result of `mime_of_streams`.
    """

    duration: float
    width: int
    height: int
    fps: float
    has_video: bool
    has_audio: bool
    title: str
    chapters: tuple[Chapter, ...]
    subtitles: tuple[SubtitleStream, ...]
    complete: bool
    mime: str = ""

    @classmethod
    def elsewhere(cls, title: str, duration: float, chapters: tuple[Chapter, ...]) -> MediaInfo:
        """Describe a video that is not on this machine; a duration of 0 is unknown."""
        return cls(
            duration=duration,
            width=0,
            height=0,
            fps=0.0,
            has_video=True,
            has_audio=True,
            title=title,
            chapters=chapters,
            subtitles=(),
            complete=True,
        )


def mime_to_send(media: MediaInfo) -> str:
    """Return the media type of a file for a model: by its streams, whatever its name says.

    Raises:
        VrError: UNSUPPORTED for a container that models do not take.
    """
    if not media.mime:
        raise VrError(
            "Models do not take this kind of file, whatever its name says.",
            Code.UNSUPPORTED,
            category="FILE_UNSUPPORTED",
            hint="Convert it, to mp4 or mp3 for example. video_analyze with engine='local' reads it"
            " as it is.",
        )
    return media.mime
