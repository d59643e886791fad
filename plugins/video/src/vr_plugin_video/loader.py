"""Videos and sound files as documents: what is said and shown, with its time."""

from __future__ import annotations

from collections.abc import Sequence

from vr_kernel import Call, Document, Locator, Segment, Services, VrError

from vr_plugin_video.analyses.analysis import Findings, damage
from vr_plugin_video.analyses.local_engine import LocalEngine
from vr_plugin_video.analyses.passages import passages
from vr_plugin_video.media.formats import is_media_name, mime_of
from vr_plugin_video.sources import Source, open_source
from vr_plugin_video.text.times import Window
from vr_plugin_video.youtube.addresses import parse_url, youtube_id

YOUTUBE_MIME = "video/x-youtube"


class MediaLoader:
    """Loads recordings for other plugins without a language model: captions, speech and slides."""

    name = "video"

    def __init__(self, services: Services) -> None:
        self._local = services.providers.get(LocalEngine)

    def takes(self, source: str) -> bool:
        """True for the name of a media file, and for a video at YouTube."""
        if "://" not in source:
            return is_media_name(source)
        try:
            parts = parse_url(source)
            return youtube_id(parts) is not None or is_media_name(parts.path)
        except VrError:
            return False

    async def load(self, call: Call, source: str) -> Document:
        """Return speech in passages and text on slides, in order of time.

        Raises:
            VrError: as `open_source`, and when nothing at all can be found out.
        """
        url, file_path = (source, None) if "://" in source else (None, source)
        async with open_source(call.services, url, file_path) as opened:
            task = self._local.task(call, opened, Window(), use_cache=True)
            seen = await self._local.watch(task)
            return Document(
                source=source,
                title=seen.media.title or opened.name,
                mime=_mime(opened, seen),
                sha256="" if opened.at_youtube else opened.video_id,
                segments=_segments(opened, seen),
                limits=(*damage(seen.media, partial=seen.partial), *task.limits),
            )


def _mime(source: Source, seen: Findings) -> str:
    if source.at_youtube:
        return YOUTUBE_MIME
    return seen.media.mime or mime_of(source.path.name)


def _segments(source: Source, seen: Findings) -> Sequence[Segment]:
    said = [(p.start, p.end, p.text) for p in passages(seen.segments, seen.boundaries())]
    shown = [(s.start, s.end, s.text) for s in seen.slides.slides if s.text]
    return [
        Segment(text, Locator(start=start, end=end), source.link(start))
        for start, end, text in sorted([*said, *shown], key=lambda piece: piece[:2])
    ]
