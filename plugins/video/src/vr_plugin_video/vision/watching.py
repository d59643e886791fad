"""Scenes of a video, with pictures and the text on them; computed once."""

from __future__ import annotations

from importlib.util import find_spec

from pydantic import BaseModel
from vr_kernel import Call, Services, TextRecognizer, VrError, cache_key, extra_missing

from vr_plugin_video.media.probe import INSTALL_HINT
from vr_plugin_video.settings import OFF, ON, VideoSettings
from vr_plugin_video.task import VideoTask
from vr_plugin_video.text.times import format_time
from vr_plugin_video.vision.changes import find_changes
from vr_plugin_video.vision.slides import Slides, look, spans
from vr_plugin_video.vision.thumbnails import with_current_paths
from vr_plugin_video.work import Percent

VERSION = 3
"""Raised when the same pictures would give other scenes or other text."""
FINDING_SHARE = 0.3
"""Share of the time that finding changes takes; taking and reading pictures takes the rest."""


class KnownChanges(BaseModel):
    """The times at which pictures change, and the end of the search, in seconds."""

    times: list[float]
    end: float


class Watcher:
    """Finds the scenes of one kernel's videos."""

    def __init__(self, services: Services, settings: VideoSettings) -> None:
        self._services = services
        self._settings = settings

    def identity(self) -> str:
        """Name what scenes depend on besides the file; reads no media."""
        recognizer = self.recognizer([])
        name = recognizer.name if recognizer else ""
        return f"{VERSION}|{name}|{pictures_available()}"

    def recognizer(self, limits: list[str]) -> TextRecognizer | None:
        """Return the recogniser to use; the reason why there is none goes to `limits`."""
        wanted = self._settings.ocr
        if wanted == OFF:
            limits.append("Text on screen was not read: ocr is off in [plugins.video].")
            return None
        try:
            return self._services.providers.get(TextRecognizer, None if wanted == ON else wanted)
        except VrError as error:
            limits.append(f"Text on screen was not read: {error.message} {error.hint}")
            return None

    async def slides(
        self, task: VideoTask, most: int, percent: Percent, *, read: bool
    ) -> tuple[Slides, bool]:
        """Return at most `most` scenes of the task's window, and True if they were cached."""
        recognizer = self.recognizer(task.limits) if read else None
        name = recognizer.name if recognizer else ""
        key = _key(task, most, name)
        if not task.use_cache:
            return await self._look(task, most, recognizer, percent), False
        place = task.services.cache.model(key, Slides)
        if (kept := await place.get()) is not None:
            found = await task.work.in_thread(with_current_paths, task.services, kept.slides)
            if found is not None:
                return kept.model_copy(update={"slides": tuple(found)}), True
            await place.delete()
        cached = True

        async def produce(shared: Call) -> Slides:
            nonlocal cached
            cached = False
            async with task.shared_by(shared) as own:
                made = await self._look(own, most, recognizer, percent)
            made = made.without_pictures(own.work.lost)
            if not (made.failure or made.lost):
                place = shared.services.cache.model(key, Slides)
                video_id = task.source.video_id
                await place.put(made, content_id=video_id, tool="scenes", model=name)
            shared.skip_cache()  # it is cached already, however the call ends
            return made

        slides = await task.work.call.once(
            key, Slides, produce, content_id=task.source.video_id, looked=True
        )
        task.work.lost = task.work.lost or slides.lost
        return slides, cached

    async def known(self, task: VideoTask, most: int) -> Slides | None:
        """The slides whose text was read before; never decodes."""
        recognizer = self.recognizer([])
        key = _key(task, most, recognizer.name if recognizer else "")
        return await task.services.cache.model(key, Slides).get()

    async def known_starts(self, task: VideoTask) -> list[float]:
        """Return the times at which scenes begin, if they were found before; never decodes."""
        place = task.services.cache.model(self._changes_key(task), KnownChanges)
        kept = await place.get() if task.use_cache else None
        if kept is None:
            return []
        scenes = spans(kept.times, kept.end, self._settings.max_scenes)
        return [start for start, _ in scenes]

    async def _look(
        self, task: VideoTask, most: int, recognizer: TextRecognizer | None, percent: Percent
    ) -> Slides:
        file, report = task.source.file, task.work.stage(*percent)
        media, (start, end) = await task.media(), await task.span()
        if not pictures_available():
            raise extra_missing("Taking pictures from videos is not installed.", INSTALL_HINT)

        def looked(share: float) -> None:
            at = format_time(start + share * (end - start))
            report(FINDING_SHARE * share, f"Finding scenes: {at} of {format_time(end)}")

        def looking(share: float, message: str) -> None:
            report(FINDING_SHARE + (1 - FINDING_SHARE) * share, message)

        changes = await task.work.run(
            find_changes, file, media, start=start, end=end, progress=looked
        )
        last = end if changes.complete else min(end, max(changes.looked_until, start))
        if task.use_cache:
            found = KnownChanges(times=list(changes.times), end=last)
            place = task.services.cache.model(self._changes_key(task), KnownChanges)
            await place.put(found, content_id=task.source.video_id, tool="changes")
        scenes = spans(changes.times, last, most)
        slides = await look(task.work, file, media, scenes, last, recognizer, looking)
        return slides.model_copy(update={"found": len(changes.times), "complete": changes.complete})

    def _changes_key(self, task: VideoTask) -> str:
        return cache_key(stage="changes", version=VERSION, **task.key_parts())


def _key(task: VideoTask, most: int, recognizer: str) -> str:
    return cache_key(stage="slides", version=VERSION, most=most, ocr=recognizer, **task.key_parts())


def pictures_available() -> bool:
    """True when the picture library is installed; does not import it."""
    return find_spec("PIL") is not None
