"""Services that can be asked about YouTube, with the available keys and libraries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from importlib.util import find_spec
from typing import Protocol

from pydantic import SecretStr
from vr_kernel import Code, VrError

from vr_plugin_video.captions.transcripts import Transcript
from vr_plugin_video.settings import VideoSettings
from vr_plugin_video.youtube.errors import no_key, not_installed
from vr_plugin_video.youtube.models import Comment, PlaylistInfo, ReaderName, VideoMetadata


class Reader(Protocol):
    """A service that can be asked about YouTube; `borrowed`: with a key made for Gemini."""

    engine: ReaderName
    borrowed: bool

    async def video(self, video_id: str) -> VideoMetadata:
        """A video."""

    async def comments(
        self, video_id: str, most: int, seen: Callable[[int], None]
    ) -> list[Comment]:
        """The top comments of a video."""

    async def playlist(self, playlist_id: str, most: int) -> PlaylistInfo:
        """A playlist and its first items."""


def readers(settings: VideoSettings, site: str) -> Iterator[Reader]:
    """Yield the services to ask, the best informed first."""
    key, borrowed = _key(settings)
    if key.get_secret_value() and is_installed("googleapiclient"):
        from vr_plugin_video.youtube.data_api import DataApi

        yield DataApi(key, settings.youtube_api_endpoint, borrowed=borrowed)
    if is_installed("yt_dlp"):
        from vr_plugin_video.youtube.ytdlp import YtDlp

        yield YtDlp(site)


async def read_captions(site: str, video_id: str, language: str) -> Transcript:
    """Read captions by the first reader that succeeds.

    Raises:
        VrError: as `YouTube.captions`.
    """
    failed = not_installed("Reading captions of YouTube")
    for reader in _caption_readers(site):
        try:
            return await reader(video_id, language)
        except VrError as error:
            if error.code is not Code.UNAVAILABLE:
                raise
            failed = error
    raise failed


def _caption_readers(site: str) -> Iterator[Callable[[str, str], Awaitable[Transcript]]]:
    """Yield the installed readers of captions, the faster one first."""
    if is_installed("youtube_transcript_api"):
        from vr_plugin_video.youtube.transcript_api import TranscriptApi

        yield TranscriptApi(site).captions
    if is_installed("yt_dlp"):
        from vr_plugin_video.youtube.ytdlp import YtDlp

        yield YtDlp(site).captions


def no_reader(settings: VideoSettings) -> VrError:
    """The error when no reader is available."""
    if _key(settings)[0].get_secret_value() and not is_installed("googleapiclient"):
        return not_installed("The client of the YouTube Data API")
    return no_key()


def _key(settings: VideoSettings) -> tuple[SecretStr, bool]:
    """Return the key of YouTube and False, or else the first key of Gemini and True."""
    if settings.youtube_api_key.get_secret_value():
        return settings.youtube_api_key, False
    keys = settings.gemini_api_key.get_secret_value()
    return SecretStr(keys.partition(",")[0].strip()), True


def is_installed(module: str) -> bool:
    """True when a library is installed; does not import it."""
    return find_spec(module) is not None
