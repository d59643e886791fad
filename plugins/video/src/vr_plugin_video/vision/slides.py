"""The scenes of a video: their times, pictures and text."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, BinaryIO

from pydantic import BaseModel, ConfigDict, PrivateAttr
from vr_kernel import TextRecognizer, VrError

from vr_plugin_video.text.times import format_time
from vr_plugin_video.vision.screen_text import ScreenText, arrange
from vr_plugin_video.work import Report, Work

if TYPE_CHECKING:
    from vr_plugin_video.media.info import MediaInfo
    from vr_plugin_video.vision.frames import Frame

READING_WIDTH = 1280
"""Widest picture that is read, in pixels; larger ones only cost time."""
THUMBNAIL_WIDTH = 640
THUMBNAIL_QUALITY = 80
BEFORE_END_S = 2.0
"""A slide's picture is taken this many seconds before its end, when all its points are there."""
BATCH = 8


class Slide(BaseModel):
    """One scene: seconds, title and lines on screen, and its thumbnail."""

    model_config = ConfigDict(frozen=True)

    start: float
    end: float
    title: str = ""
    lines: tuple[str, ...] = ()
    thumbnail_uri: str = ""
    thumbnail_path: str = ""

    @property
    def text(self) -> str:
        """Everything on screen, title first."""
        return "\n".join(part for part in (self.title, *self.lines) if part)


class Slides(BaseModel):
    """The scenes of a part of a video, `found` counting those left out too."""

    model_config = ConfigDict(frozen=True)

    slides: tuple[Slide, ...] = ()
    found: int = 0
    complete: bool = True
    recognizer: str = ""
    failure: str = ""
    _lost: str = PrivateAttr("")

    @property
    def lost(self) -> str:
        """The reason why pictures were not kept; such scenes are never cached."""
        return self._lost

    def without_pictures(self, lost: str) -> Slides:
        """The same, with the reason why pictures were not kept."""
        copy = self.model_copy()
        copy._lost = lost  # noqa: SLF001 - of its own copy
        return copy


def spans(times: Sequence[float], end: float, most: int) -> list[tuple[float, float]]:
    """The `most` longest scenes between changes, each with its own start and end, in order."""
    scenes = pairwise([*sorted(time for time in times if time < end), end])
    longest = sorted(scenes, key=lambda scene: scene[1] - scene[0], reverse=True)
    return sorted(longest[:most])


def looking_time(start: float, end: float, *, last: bool) -> float:
    """Return the second at which a scene's picture is taken: late, but before a closing fade."""
    middle = (start + end) / 2
    return middle if last else max(middle, end - BEFORE_END_S)


async def look(
    work: Work,
    file: BinaryIO,
    media: MediaInfo,
    scenes: Sequence[tuple[float, float]],
    last: float,
    recognizer: TextRecognizer | None,
    report: Report,
) -> Slides:
    """Take a picture of every scene, keep a thumbnail, and read the text.

    `last` is the end of the last scene that was found, kept or not.
    """
    slides: list[Slide] = []
    failure = ""
    times = [looking_time(start, end, last=end >= last) for start, end in scenes]
    for first in range(0, len(scenes), BATCH):
        frames = await work.run(_grab, file, media, times[first : first + BATCH])
        for (start, end), frame in zip(scenes[first:], frames, strict=False):
            screen = ScreenText()
            if recognizer is not None and frame is not None and not failure:
                try:
                    async with work.turn():
                        screen = await read(recognizer, frame)
                except VrError as error:
                    failure = f"{error.message} {error.hint}".strip()
            slides.append(await work.run(_slide, work, start, end, frame, screen))
            report(len(slides) / len(scenes), f"Looking at {format_time(start)}")
    name = recognizer.name if recognizer is not None else ""
    return Slides(slides=tuple(slides), found=len(scenes), recognizer=name, failure=failure)


async def read(recognizer: TextRecognizer, frame: Frame) -> ScreenText:
    """The text on one picture."""
    return arrange(await recognizer.recognize(frame.image), frame.height)


def _grab(file: BinaryIO, media: MediaInfo, times: Sequence[float]) -> list[Frame | None]:
    from vr_plugin_video.vision.frames import grab_frames

    width = READING_WIDTH if media.width > READING_WIDTH else None
    frames = grab_frames(file, times, width=width, format="jpeg")
    return [*frames, *[None] * (len(times) - len(frames))]


def _slide(work: Work, start: float, end: float, frame: Frame | None, screen: ScreenText) -> Slide:
    work.check()
    uri = path = ""
    if frame is not None:
        kept = work.keep(_thumbnail(frame), "image/jpeg")
        uri, path = (kept.uri, str(kept.path)) if kept else ("", "")
    return Slide(
        start=round(start, 3),
        end=round(end, 3),
        title=screen.title,
        lines=screen.lines,
        thumbnail_uri=uri,
        thumbnail_path=path,
    )


def _thumbnail(frame: Frame) -> bytes:
    from PIL import Image

    buffer = io.BytesIO(frame.image)
    if frame.width > THUMBNAIL_WIDTH:
        with Image.open(io.BytesIO(frame.image)) as picture:
            picture.thumbnail((THUMBNAIL_WIDTH, THUMBNAIL_WIDTH * 4))
            buffer = io.BytesIO()
            picture.save(buffer, "JPEG", quality=THUMBNAIL_QUALITY)
    return buffer.getvalue()
