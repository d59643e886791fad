"""Clips: cut once, found again, and never left half written."""

from __future__ import annotations

import io
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vr_kernel import (
    Call,
    Code,
    Content,
    Services,
    VrError,
    cache_key,
    extra_missing,
    private_folder,
)

from vr_plugin_video.analyses.analysis import damage
from vr_plugin_video.analyses.local_engine import LocalEngine
from vr_plugin_video.clips.output import BYTES_PER_MB, unwritable
from vr_plugin_video.clips.request import LONGEST_GIF_S, ClipRequest, WrittenClip
from vr_plugin_video.media.info import MediaInfo
from vr_plugin_video.media.probe import INSTALL_HINT, no_stream
from vr_plugin_video.models import ClipFormat, VideoClip
from vr_plugin_video.settings import VideoSettings
from vr_plugin_video.sources import Source
from vr_plugin_video.task import VideoTask
from vr_plugin_video.text.times import Window, format_time
from vr_plugin_video.vision.thumbnails import path_of
from vr_plugin_video.vision.watching import pictures_available

VERSION = 1
"""Raised when the same part would give another file."""
SHORTEST_S = 0.01
"""Shortest clip in seconds that is sure to contain a picture."""
ALL_ANEW = (
    "All of the video was encoded again, which takes long and gains nothing: give start and end to"
    " cut out a part."
)
FORGOTTEN_S = 86_400.0
"""Age in seconds at which leftovers of a killed process are deleted."""
SHOWN_BYTES = 1_000_000
SHOWN_SIDE = 1280


async def clip_of(call: Call, source: Source, window: Window, form: ClipFormat) -> VideoClip:
    """Return a part of an opened source as a file, cut now or before.

    Raises:
        VrError: INVALID_INPUT for a part outside the video; UNSUPPORTED for sound or pictures
            that the file does not have; TOO_LARGE; UNAVAILABLE, category STATE_UNAVAILABLE.
    """
    local = call.services.providers.get(LocalEngine)
    task = local.task(call, source, window, use_cache=True)
    check_order(await task.media(), await task.span(), form, local.settings)
    key = cache_key(result="clip", version=VERSION, format=form, **task.key_parts())

    async def produce(shared: Call) -> VideoClip:
        async with task.shared_by(shared) as own:
            return await _cut(own, form)

    async def once() -> VideoClip:
        return await call.once(key, VideoClip, produce, content_id=source.video_id)

    clip = await once()
    if clip.cached:
        path = await task.work.in_thread(path_of, call.services, clip.uri)
        if path is None:
            await call.services.cache.model(key, VideoClip).delete()
        clip = clip.model_copy(update={"path": path}) if path else await once()
    picture = await task.work.in_thread(_visible, clip)
    if picture is not None:
        call.show(picture)
    link = source.link(clip.start)
    return clip.model_copy(update={"source": source.url, "link": link})


def check_order(
    media: MediaInfo, span: tuple[float, float], form: ClipFormat, settings: VideoSettings
) -> None:
    """Refuse clips that cannot be cut, before any work.

    Raises:
        VrError: UNSUPPORTED for a stream that is not there; INVALID_INPUT, category
            CLIP_TOO_SHORT; TOO_LARGE, category CLIP_TOO_LONG; UNAVAILABLE without the library
            that makes pictures.
    """
    if not (media.has_audio if form == "mp3" else media.has_video):
        raise no_stream("sound" if form == "mp3" else "pictures")
    if form in ("gif", "jpg") and not pictures_available():
        raise extra_missing("Making pictures is not installed.", INSTALL_HINT)
    length = span[1] - span[0]
    if form != "jpg" and length < SHORTEST_S:
        raise VrError(
            f"The clip would last {length * 1000:.0f} ms, which is too short.",
            Code.INVALID_INPUT,
            category="CLIP_TOO_SHORT",
            hint="Give a later end, or format='jpg' for one picture.",
        )
    longest = min(settings.longest_clip_s, LONGEST_GIF_S if form == "gif" else length)
    if form != "jpg" and length > longest:
        raise VrError(
            f"The clip would last {format_time(length)}; {form} may last {format_time(longest)}.",
            Code.TOO_LARGE,
            category="CLIP_TOO_LONG",
            hint="Give a nearer end, or cut several clips. "
            + ("Longer parts: mp4." if form == "gif" else "longest_clip_s sets the limit."),
        )


async def _cut(task: VideoTask, form: ClipFormat) -> VideoClip:
    media, (start, end) = await task.media(), await task.span()
    settings: VideoSettings = task.work.call.settings
    report = task.work.stage(0, 99)

    length, done = end - start, 0.0

    def tick(seconds: float) -> None:
        nonlocal done
        # Sound and pictures are written by turns, so one of them is always behind.
        done = max(done, seconds - start)
        share = done / max(length, SHORTEST_S)
        report(share, f"Cutting: {format_time(done)} of {format_time(length)}")

    def cut() -> VideoClip:
        with _folder(task.work.call.services) as folder:
            target = folder / f"clip.{form}"
            largest = settings.largest_clip_mb * BYTES_PER_MB
            request = ClipRequest(task.source.file, media, start, end, target, largest, tick)
            made = _writer(form)(request)
            task.work.check()
            kept = task.work.call.artifact(target, made.mime)
        cut_off = not media.complete
        again = [ALL_ANEW] if form == "mp4" and task.window.is_whole else []
        return VideoClip(
            source=task.source.url,
            video_id=task.source.video_id,
            start=start,
            end=made.end,
            duration=made.end - start,
            format=form,
            mime=made.mime,
            size_bytes=kept.size,
            width=made.width or None,
            height=made.height or None,
            uri=kept.uri,
            path=str(kept.path),
            link=task.source.link(start),
            partial=cut_off,
            limits=[*damage(media, partial=cut_off), *_differences(form, made, end), *again],
        )

    return await task.work.run(cut)


def _writer(form: ClipFormat) -> Callable[[ClipRequest], WrittenClip]:
    from vr_plugin_video.clips.film import write_film, write_sound
    from vr_plugin_video.clips.stills import write_animation, write_still

    writers = {"mp4": write_film, "mp3": write_sound, "gif": write_animation, "jpg": write_still}
    return writers[form]


def _differences(form: ClipFormat, made: WrittenClip, end: float) -> list[str]:
    limits = []
    if made.mime == "audio/x-wav":
        limits.append("This build of FFmpeg makes no mp3: the sound is a wave file.")
    if form != "jpg" and made.end < end - 1:
        limits.append(f"The clip ends at {format_time(made.end)}: no more can be read.")
    return limits


@contextmanager
def _folder(services: Services) -> Iterator[Path]:
    """Make a temporary folder for one clip, and remove it afterwards."""
    parent = services.paths.cache / "clips"
    try:
        private_folder(parent)
        oldest = time.time() - FORGOTTEN_S
        for left in parent.iterdir():
            with suppress(OSError):
                if left.stat().st_mtime < oldest:
                    shutil.rmtree(left, ignore_errors=True)
        made = tempfile.TemporaryDirectory(dir=parent, ignore_cleanup_errors=True)
    except OSError as error:
        raise unwritable(parent, error) from error
    with made as folder:
        yield Path(folder)


def _visible(clip: VideoClip) -> Content | None:
    """Return a picture of the clip to show to the client, scaled down if it is large."""
    if clip.format not in ("jpg", "gif"):
        return None
    path = Path(clip.path)
    if clip.size_bytes <= SHOWN_BYTES:
        return Content(path.read_bytes(), clip.mime)
    if clip.format == "gif":
        return None
    from PIL import Image

    with Image.open(path) as image:
        image.thumbnail((SHOWN_SIDE, SHOWN_SIDE))
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=85)
    return Content(buffer.getvalue(), clip.mime)
