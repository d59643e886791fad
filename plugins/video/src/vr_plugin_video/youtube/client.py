"""What YouTube knows of its videos: one door for every tool, whatever stands behind it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vr_kernel import Code, Services, VrError

from vr_plugin_video.media import Chapter
from vr_plugin_video.transcripts import Transcript
from vr_plugin_video.work import Report


@dataclass(frozen=True, slots=True)
class Description:
    """What is known of a video without watching it; `duration` in seconds, 0 when not known."""

    title: str
    channel: str = ""
    duration: float = 0.0
    chapters: tuple[Chapter, ...] = ()


class YouTube:
    """YouTube as one kernel sees it."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def describe(self, video_id: str) -> Description:
        """Title, length and chapters; remembered for a day.

        Raises:
            VrError: NOT_FOUND or NOT_ALLOWED for a video that cannot be watched; UNAVAILABLE
                when nobody can be asked.
        """
        raise _nobody(video_id)

    async def captions(self, video_id: str, language: str) -> Transcript:
        """The captions in that language, or, when it is empty, those that the video speaks.

        Raises:
            VrError: NOT_FOUND, category CAPTIONS_MISSING, naming the languages that there are;
                UNAVAILABLE, category EXTRA_MISSING, when nothing that reads captions is
                installed; else as `describe`.
        """
        raise _nobody(video_id)

    async def download(self, video_id: str, folder: Path, report: Report) -> Path:
        """The video as a file in `folder`; one that is there already is used again.

        Raises:
            VrError: UNAVAILABLE, category EXTRA_MISSING, without yt-dlp; TOO_LARGE; else as
                `describe`.
        """
        raise _nobody(video_id)


def _nobody(video_id: str) -> VrError:
    return VrError(
        f"Nobody can be asked about the YouTube video {video_id}.",
        Code.UNAVAILABLE,
        category="VIDEO_UNAVAILABLE",
        hint="Set YOUTUBE_API_KEY, or install yt-dlp.",
    )
