"""YouTube read without a key, by yt-dlp."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from vr_plugin_video.captions.transcripts import Transcript
from vr_plugin_video.youtube import ytdlp_answers
from vr_plugin_video.youtube.models import Comment, PlaylistInfo, ReaderName, VideoMetadata
from vr_plugin_video.youtube.tracks import best_transcript
from vr_plugin_video.youtube.ytdlp_errors import error_of

TIMEOUT_S = 20.0


class SilentLogger:
    """Drops the output of yt-dlp, as standard output may belong to a client."""

    def debug(self, message: str) -> None:
        """Drop it."""

    def info(self, message: str) -> None:
        """Drop it."""

    def warning(self, message: str) -> None:
        """Drop it."""

    def error(self, message: str) -> None:
        """Drop it: it is raised as well."""


def common_options() -> dict[str, Any]:
    """Return options with which yt-dlp prints nothing, stores nothing and does not hang."""
    return {
        "logger": SilentLogger(),
        "quiet": True,
        "noprogress": True,
        "cachedir": False,
        "noplaylist": True,
        "socket_timeout": TIMEOUT_S,
        "retries": 2,
        "extractor_retries": 1,
    }


class YtDlp:
    """YouTube read by yt-dlp. It reads web pages, so it is slower than the API, and may break.

    Args:
        site: where YouTube is, such as `https://www.youtube.com`.
    """

    engine: ReaderName = "yt-dlp"
    borrowed = False

    def __init__(self, site: str) -> None:
        self._site = site

    async def video(self, video_id: str) -> VideoMetadata:
        """Return the metadata of a video.

        Raises:
            VrError: NOT_ALLOWED or UNAVAILABLE, as `error_of`.
        """
        return ytdlp_answers.video_of(video_id, await self._watch(video_id))

    async def comments(
        self, video_id: str, most: int, seen: Callable[[int], None]
    ) -> list[Comment]:
        """Return the top comments without replies; `seen` gets the count at the end.

        Raises:
            VrError: as `video`.
        """
        chosen = {"comment_sort": ["top"], "max_comments": [str(most), "all", "0"]}
        info = await self._watch(video_id, getcomments=True, extractor_args={"youtube": chosen})
        found = ytdlp_answers.comments_of(info)[:most]
        seen(len(found))
        return found

    async def playlist(self, playlist_id: str, most: int) -> PlaylistInfo:
        """A playlist and its first items.

        Raises:
            VrError: as `video`.
        """
        info = await self._read(
            f"playlist?list={playlist_id}",
            {"extract_flat": "in_playlist", "playlistend": most, "noplaylist": False},
        )
        return ytdlp_answers.playlist_of(playlist_id, info)

    async def captions(self, video_id: str, language: str) -> Transcript:
        """The best captions; see `best_transcript`.

        Raises:
            VrError: as `video`; NOT_FOUND, category CAPTIONS_MISSING.
        """
        info = await self._watch(video_id)
        spoken = info.get("language") or ""
        tracks = ytdlp_answers.tracks_of(info, _download)
        return await asyncio.to_thread(best_transcript, video_id, tracks, language, spoken)

    async def _watch(self, video_id: str, **options: Any) -> dict[str, Any]:
        wanted = {"skip_download": True, "ignore_no_formats_error": True, **options}
        return await self._read(f"watch?v={video_id}", wanted)

    async def _read(self, path: str, options: Mapping[str, Any]) -> dict[str, Any]:
        return await asyncio.to_thread(_extract, f"{self._site}/{path}", options)


def _download(url: str) -> bytes:
    from yt_dlp import YoutubeDL
    from yt_dlp.networking.exceptions import RequestError

    with YoutubeDL(common_options()) as reader:
        try:
            content: bytes = reader.urlopen(url).read()
        except RequestError as error:
            raise error_of(error) from None
    return content


def _extract(url: str, options: Mapping[str, Any]) -> dict[str, Any]:
    from yt_dlp import YoutubeDL
    from yt_dlp.utils import YoutubeDLError

    with YoutubeDL({**common_options(), **options}) as reader:
        try:
            found = reader.extract_info(url, download=False)
        except (YoutubeDLError, OSError) as error:
            raise error_of(error) from None
        info: dict[str, Any] = reader.sanitize_info(found) or {}
    return info
