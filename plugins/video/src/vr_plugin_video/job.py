"""One call about one file: the part of it that is asked for, and what was found out so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from vr_plugin_video.media import Media, probe
from vr_plugin_video.sources import Source
from vr_plugin_video.times import Window
from vr_plugin_video.work import Work


@dataclass(slots=True)
class Job:
    """A source, a window on it, and the work of the call.

    `limits` collects what could not be done; `repeatable` says that the same call would, with
    the same things installed, do no better, so that its result may be kept.
    """

    work: Work
    source: Source
    window: Window
    use_cache: bool = True
    limits: list[str] = field(default_factory=list)
    repeatable: bool = True
    _media: Media | None = None

    async def media(self) -> Media:
        """What the file is, probed once; the window is checked against it.

        Raises:
            VrError: the file is no media, or the window lies outside it.
        """
        if self._media is None:
            media = await self.work.aside(probe, self.source.file)
            self.window.within(media.duration)
            self._media = media
        return self._media

    async def span(self) -> tuple[float, float]:
        """Start and end of the window in seconds."""
        return self.window.within((await self.media()).duration)

    def key_parts(self) -> dict[str, object]:
        """What every cache key about this file and window begins with."""
        window = self.window
        return {"content": self.source.video_id, "start": window.start, "end": window.end}
