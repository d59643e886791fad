"""The client of YouTube for all tools, on top of several services."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel
from vr_kernel import Code, Services, VrError, cache_key

from vr_plugin_video.captions.transcripts import Transcript
from vr_plugin_video.media.info import Chapter
from vr_plugin_video.settings import VideoSettings
from vr_plugin_video.work import Report
from vr_plugin_video.youtube.models import Comment, PlaylistInfo, ReaderName, VideoMetadata

if TYPE_CHECKING:
    from vr_plugin_video.youtube.readers import Reader

T = TypeVar("T")
REMEMBERED_S = 86_400.0
SECOND_BEST_S = 3600.0
"""Seconds for which a description by a less informed reader is used."""
VERSION = 1
"""Raised when the same answers of YouTube would give other results."""
_FINAL = frozenset({Code.NOT_FOUND, Code.NOT_ALLOWED})
"""Codes that no other reader would answer differently."""


@dataclass(frozen=True, slots=True)
class Description:
    """A description of a video without watching it; `duration` in seconds, 0 when not known."""

    title: str
    channel: str = ""
    duration: float = 0.0
    chapters: tuple[Chapter, ...] = ()


class KnownVideo(BaseModel):
    """The metadata of a video, and the time until which it is valid, in seconds since the epoch."""

    until: float
    video: VideoMetadata


class YouTube:
    """YouTube for one kernel: by the Data API with a key, by yt-dlp where it is installed."""

    def __init__(self, services: Services) -> None:
        from vr_plugin_video.youtube.readers import readers

        self.services = services
        self._settings: VideoSettings = services.settings
        self._site = self._settings.youtube_site.rstrip("/")
        self._readers = tuple(readers(self._settings, self._site))
        self._saving = asyncio.Lock()

    def seen_by(self, services: Services) -> YouTube:
        """The same client, with the cache of other services."""
        theirs = copy(self)
        theirs.services = services
        return theirs

    async def describe(self, video_id: str) -> Description:
        """Title, length and chapters; remembered for a day.

        Without a key and yt-dlp, YouTube's own page is read, which has no length.

        Raises:
            VrError: NOT_FOUND or NOT_ALLOWED for a video that cannot be watched; UNAVAILABLE when
                no service answers.
        """
        key = self._key("description", video_id)
        place = self.services.cache.model(key, KnownVideo)
        kept = await place.get()
        if kept is None or time.time() > kept.until:
            found = await self._best_metadata(video_id)
            best = not self._readers or found.engine == self._readers[0].engine
            until = time.time() + (REMEMBERED_S if best else SECOND_BEST_S)
            kept = KnownVideo(until=until, video=found)
            await place.put(kept, content_id=video_id, tool="youtube")
        video = kept.video
        chapters = tuple(Chapter(c.start, c.end, c.title) for c in video.chapters)
        seconds = video.duration_seconds or 0.0
        return Description(video.title, video.channel_title, seconds, chapters)

    async def metadata(self, video_id: str) -> VideoMetadata:
        """Request all metadata of a video, bypassing the cache.

        Raises:
            VrError: NOT_FOUND or NOT_ALLOWED for a video that cannot be watched; AUTH without
                a key and yt-dlp, or for a key that is refused; QUOTA; UNAVAILABLE.
        """
        return await self._first_answer(lambda reader: reader.video(video_id))

    async def comments(
        self, video_id: str, most: int, seen: Callable[[int], None]
    ) -> tuple[list[Comment], ReaderName]:
        """Return the top comments and the reader that found them; `seen` gets the count so far.

        Raises:
            VrError: as `metadata`; NOT_FOUND, category COMMENTS_DISABLED.
        """

        async def ask(reader: Reader) -> tuple[list[Comment], ReaderName]:
            return await reader.comments(video_id, most, seen), reader.engine

        return await self._first_answer(ask)

    async def playlist(self, playlist_id: str, most: int) -> PlaylistInfo:
        """Return a playlist and its first items; the id replaces an unknown title.

        Raises:
            VrError: as `metadata`.
        """
        from vr_plugin_video.youtube.page import read_playlist_title

        found = await self._first_answer(lambda reader: reader.playlist(playlist_id, most))
        title = found.title
        if not title:
            with suppress(VrError):
                title = await read_playlist_title(self.services, self._site, playlist_id)
        return found.model_copy(update={"title": title or playlist_id})

    async def captions(self, video_id: str, language: str) -> Transcript:
        """The captions in that language, or, when it is empty, in the language that is spoken.

        Raises:
            VrError: NOT_FOUND, category CAPTIONS_MISSING, naming the available languages;
                UNAVAILABLE, category EXTRA_MISSING, when no reader of captions is installed; else
                as `describe`.
        """
        key = self._key("captions", video_id, language=language)
        place = self.services.cache.model(key, Transcript)
        kept = await place.get()
        if kept is not None:
            return kept
        from vr_plugin_video.youtube.readers import read_captions

        transcript = await read_captions(self._site, video_id, language)
        await place.put(transcript, content_id=video_id, tool="youtube")
        return transcript

    async def download(self, video_id: str, folder: Path, report: Report) -> Path:
        """The video as a file in `folder`; an existing file is used again.

        Raises:
            VrError: UNAVAILABLE, category EXTRA_MISSING, without yt-dlp; TOO_LARGE; else as
                `describe`.
        """
        from vr_plugin_video.youtube.saving import save_video

        # One at a time: two calls must not fetch the same video, or hit YouTube too fast.
        async with self._saving:
            return await save_video(
                f"{self._site}/watch?v={video_id}", video_id, folder, self._settings, report
            )

    async def _best_metadata(self, video_id: str) -> VideoMetadata:
        from vr_plugin_video.youtube.page import read_page

        for reader in self._readers:
            try:
                return await reader.video(video_id)
            except VrError as error:
                if error.code in _FINAL:
                    raise
        return await read_page(self.services, self._site, video_id)

    async def _first_answer(self, ask: Callable[[Reader], Awaitable[T]]) -> T:
        """Return the first answer of a service; skip Gemini keys that are refused."""
        from vr_plugin_video.youtube.readers import no_reader

        refused: VrError | None = None
        for reader in self._readers:
            try:
                return await ask(reader)
            except VrError as error:
                if error.code is not Code.AUTH or not reader.borrowed:
                    raise
                refused = error
        raise refused or no_reader(self._settings)

    def _key(self, what: str, video_id: str, **parts: Any) -> str:
        """Return a key that also names the readers, as another one may know more."""
        names = [reader.engine for reader in self._readers]
        return cache_key(youtube=what, version=VERSION, video=video_id, tellers=names, **parts)


def youtube_of(services: Services) -> YouTube:
    """Return the client of YouTube for the owner of these services."""
    return services.providers.get(YouTube).seen_by(services)
