"""Videos without help: a screencast, and a lecture without chapters and with late key frames."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from installation import SERVE
from vr_server import connect

SCREENCAST_CHANGES = [0.0, 11.3, 23.7, 30.5, 38.2, 49.6]
LECTURE = {
    0.0: "Tidal energy",
    7.4: "How a barrage works",
    15.1: "Cost of a turbine",
    21.8: "Fish and sediment",
    33.2: "Three sites compared",
}
LECTURE_SECONDS = 40
RATE = 10


@pytest.fixture(scope="module")
def lecture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A silent lecture: no chapters, one key frame every 25 s wherever slides change."""
    import av
    import numpy as np

    path = tmp_path_factory.mktemp("lecture") / "lecture.mp4"
    starts = sorted(LECTURE)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = 960, 540, "yuv420p"
        stream.time_base = Fraction(1, RATE)
        stream.codec_context.gop_size = 25 * RATE
        stream.options = {"sc_threshold": "0", "preset": "ultrafast"}
        pictures = [np.asarray(_slide(LECTURE[start], start)) for start in starts]
        for index in range(LECTURE_SECONDS * RATE):
            shown = max(i for i, start in enumerate(starts) if start <= index / RATE + 1e-9)
            frame = av.VideoFrame.from_ndarray(pictures[shown], format="rgb24")
            frame.pts = index
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def _slide(title: str, start: float) -> Any:
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (960, 540), "white")
    draw = ImageDraw.Draw(image)
    draw.text((60, 50), title, fill="black", font=ImageFont.load_default(48))
    for line in range(4):
        text = f"Point {line + 1} of the part at {start:.0f} seconds"
        draw.text((80, 160 + 70 * line), text, fill="#333", font=ImageFont.load_default(28))
    return image


def _scenes(path: Path, environment: dict[str, str], **arguments: Any) -> list[dict[str, Any]]:
    async def ask() -> list[dict[str, Any]]:
        async with connect(SERVE, env=environment, cwd=path.parent) as client:
            answer = await client.call("video_scenes", file_path=str(path), **arguments)
            scenes: list[dict[str, Any]] = answer["scenes"]
            return scenes

    return asyncio.run(ask())


@pytest.mark.slow
def test_the_screencast_has_five_changes(
    media: Path, fresh_environment: Callable[..., dict[str, str]]
) -> None:
    environment = fresh_environment(VR_ALLOWED_ROOTS=str(media))
    scenes = _scenes(media / "screencast.mp4", environment, ocr=False)
    assert [scene["start"] for scene in scenes] == pytest.approx(SCREENCAST_CHANGES, abs=1)


@pytest.mark.slow
def test_a_lecture_without_chapters_is_outlined(
    lecture: Path, fresh_environment: Callable[..., dict[str, str]]
) -> None:
    environment = fresh_environment(VR_ALLOWED_ROOTS=str(lecture.parent))
    scenes = _scenes(lecture, environment)
    assert [scene["start"] for scene in scenes] == pytest.approx(sorted(LECTURE), abs=1)
    for scene, title in zip(scenes, LECTURE.values(), strict=True):
        assert title in scene["text"]
