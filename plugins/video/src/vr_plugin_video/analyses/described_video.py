"""A video for a model that cannot watch: its pictures and its words, each with its time."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from vr_kernel import Code, Media, ModelInfo, Part, Text, VrError, estimate_tokens

from vr_plugin_video.analyses.analysis import Findings
from vr_plugin_video.analyses.local_engine import LocalEngine
from vr_plugin_video.arguments import MediaResolution
from vr_plugin_video.task import VideoTask
from vr_plugin_video.text.times import format_time
from vr_plugin_video.vision.slides import looking_time

FRAME_TOKENS = 1_600
"""Most tokens of a picture, which services scale down. Source: "Vision" of Anthropic's pages."""
WIDTHS: dict[MediaResolution | None, int] = {None: 768, "low": 512, "medium": 768, "high": 1_280}
"""Widest picture in pixels, by how finely the model is to look."""
WINDOW = 32_000
"""Tokens that a model takes whose window is not known."""
SHARE = 0.6
"""Part of a window that a video may fill; the rest is for the question and the answer."""
PICTURES_SHARE = 0.7
"""Part of that for pictures, when there are words, too."""
SAID = "What is said, each line after its time:"
SHOWN = "Pictures of the video, each after the time at which it is shown:"
READ = "What stands on the screen, each line after its time:"


@dataclass(frozen=True, slots=True)
class DescribedVideo:
    """The parts of a question about a video, and remarks on what the model does not get."""

    parts: Sequence[Part | str]
    notes: Sequence[str]


async def describe(
    local: LocalEngine,
    task: VideoTask,
    model: ModelInfo,
    most_frames: int,
    resolution: MediaResolution | None = None,
) -> DescribedVideo:
    """Describe a video for a model: by pictures, if it sees any, and by what is said and read.

    Raises:
        VrError: UNSUPPORTED, category MEDIA_UNSUPPORTED, for a video without words when the model
            sees no pictures; what looking and listening raise.
    """
    seen = await local.watch(task)
    room = int((model.context or WINDOW) * SHARE)
    sees = "image" in model.accepts and seen.media.has_video and not task.source.at_youtube
    said = [(each.start, each.text) for each in seen.segments]
    frames = 0
    if sees:
        share = PICTURES_SHARE if said else 1.0
        frames = min(most_frames, int(room * share) // FRAME_TOKENS)
    pictures = await _pictures(task, seen, frames, resolution) if frames else []
    read = [] if pictures else _on_screen(seen)
    if not (pictures or said or read):
        raise _nothing(model.name)
    shown = sum(isinstance(part, Media) for part in pictures)
    words, notes = _within(said, read, room - shown * FRAME_TOKENS)
    told = "pictures and words" if pictures else "words alone"
    notes.insert(0, f"{model.name} does not watch videos; it was given {told}.")
    return DescribedVideo([*words, *([SHOWN, *pictures] if pictures else [])], notes)


async def _pictures(
    task: VideoTask, seen: Findings, most: int, resolution: MediaResolution | None
) -> list[Part]:
    from vr_plugin_video.vision.frames import grab_frames

    times = list(_times(seen, most))
    frames = await task.work.run(grab_frames, task.source.file, times, width=WIDTHS[resolution])
    parts: list[Part] = []
    for frame in frames:
        digest = hashlib.sha256(frame.image).hexdigest()
        file: Any = io.BufferedReader(io.BytesIO(frame.image))
        parts += [Text(format_time(frame.time)), Media("image/jpeg", file=file, digest=digest)]
    return parts


def _times(seen: Findings, most: int) -> Iterator[float]:
    """The seconds at which pictures are taken: late in the longest scenes, else evenly."""
    start, end = seen.window
    scenes = sorted(seen.slides.slides, key=lambda it: it.start - it.end)[:most]
    if scenes:
        last = max(scene.end for scene in scenes)
        for scene in sorted(scenes, key=lambda it: it.start):
            yield looking_time(scene.start, scene.end, last=scene.end >= last)
        return
    for number in range(most):
        yield start + (end - start) * (number + 0.5) / most


def _on_screen(seen: Findings) -> list[tuple[float, str]]:
    lines = [(scene.start, " / ".join(scene.text.splitlines())) for scene in seen.slides.slides]
    return [(start, text) for start, text in lines if text]


def _within(
    said: Sequence[tuple[float, str]], read: Sequence[tuple[float, str]], room: int
) -> tuple[list[str], list[str]]:
    """The words that fit into so many tokens, and a remark on those that do not."""
    parts, notes = [], []
    for head, lines in ((SAID, said), (READ, read)):
        taken = [head]
        for start, text in lines:
            line = f"{format_time(start)} {text}"
            room -= estimate_tokens(line) + 1
            if room < 0:
                notes.append(f"The words after {format_time(start)} did not fit.")
                break
            taken.append(line)
        if len(taken) > 1:
            parts.append("\n".join(taken))
    return parts, notes


def _nothing(model: str) -> VrError:
    return VrError(
        f"{model} does not watch videos, and nothing is said or written in this one.",
        Code.UNSUPPORTED,
        category="MEDIA_UNSUPPORTED",
        hint="Name a model that takes video or images: [models] vision = ['provider/model'].",
    )
