"""One call about one video: the window that it asks for, and the facts that are known so far."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from vr_kernel import Call, Code, Services, VrError

from vr_plugin_video.media.info import MediaInfo
from vr_plugin_video.media.probe import probe
from vr_plugin_video.sources import Source, reopened
from vr_plugin_video.text.times import Window
from vr_plugin_video.work import Work
from vr_plugin_video.youtube.client import YouTube, youtube_of


@dataclass(slots=True)
class VideoTask:
    """One call about one video: the source, the window on it, and the threads of the call.

    `limits` collects what could not be done; `repeatable` says that the same call in the same
    installation would do no better, so that its result may be cached.
    """

    work: Work
    source: Source
    window: Window
    use_cache: bool = True
    limits: list[str] = field(default_factory=list)
    repeatable: bool = True
    _media: MediaInfo | None = None

    @property
    def services(self) -> Services:
        """The services of the caller: their cache, and the files that they may read."""
        return self.work.call.services

    @property
    def youtube(self) -> YouTube:
        """The client of YouTube, in the name of this call's caller."""
        return youtube_of(self.services)

    @asynccontextmanager
    async def shared_by(self, call: Call) -> AsyncIterator[VideoTask]:
        """Give the task to a call that several wait for, with the file opened for it.

        The work may outlive the call that opened the file.

        Raises:
            VrError: as `reopened`.
        """
        async with reopened(call.services, self.source) as source:
            yield VideoTask(self.work.of(call), source, self.window)

    async def media(self) -> MediaInfo:
        """Return the facts about the video, probed once; they settle the window.

        The duration of a video at YouTube may stay unknown, which is 0; the limits then say why.

        Raises:
            VrError: the file is not media, the video is not available, or the window lies outside
                it.
        """
        if self._media is None:
            media = self.source.media or await self._found_out()
            if media.duration:
                self.window.within(media.duration)
                self.window = self.window.of(media.duration)
            self._media = media
        return self._media

    async def settle(self) -> None:
        """Drop an end of the window that is the end of the video, if the duration can be found.

        So a window with that end and one without share one result. A video that cannot be read
        fails later, when needed.
        """
        if self.window.end is not None:
            with suppress(VrError):
                await self.media()

    async def length(self) -> float | None:
        """The whole duration in seconds; None where it cannot be found out."""
        with suppress(VrError):
            return (await self.media()).duration or None
        return None

    async def span(self) -> tuple[float, float]:
        """Start and end of the window in seconds; without an end when that is not known."""
        duration = (await self.media()).duration
        if not duration:
            return self.window.start, math.inf if self.window.end is None else self.window.end
        return self.window.within(duration)

    async def _found_out(self) -> MediaInfo:
        if self.source.at_youtube:
            return await self._described()
        return await self.work.in_thread(probe, self.source.file)

    async def _described(self) -> MediaInfo:
        try:
            known = await self.youtube.describe(self.source.video_id)
        except VrError as error:
            if error.code is not Code.UNAVAILABLE:
                raise
            self.limits.append(f"Its title and length are not known: {error.message} {error.hint}")
            return MediaInfo.elsewhere("", 0.0, ())
        return MediaInfo.elsewhere(known.title, known.duration, known.chapters)

    def key_parts(self) -> dict[str, object]:
        """Return what all cache keys of this file and window share, once it is settled."""
        window = self.window
        return {"content": self.source.video_id, "start": window.start, "end": window.end}
