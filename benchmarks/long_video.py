"""A recorded talk of ten minutes in 720p, encoded once and kept beside the environments.

Forty slides of 15 s, a moving webcam corner, 30 frames a second, h264 and AAC, with chapters.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SECONDS = 600
SLIDE_S = 15
RATE = 30
SAMPLE_RATE = 48_000
WIDTH, HEIGHT = 1280, 720
CORNER_WIDTH, CORNER_HEIGHT = 240, 180


def long_video(folder: Path) -> Path:
    """The file; encoding it takes a minute or two the first time."""
    state = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]
    path = folder / f"talk-{state}.mp4"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        print(f"Encoding {path}", file=sys.stderr)
        part = path.with_suffix(".part.mp4")
        _encode(part)
        part.replace(path)
    return path


def _encode(path: Path) -> None:
    import av

    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=RATE)
        video.width, video.height, video.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        video.options = {"preset": "veryfast", "crf": "23"}
        audio = container.add_stream("aac", rate=SAMPLE_RATE, layout="mono")
        container.set_chapters(_chapters())
        sounds = _sounds(audio)
        for index, picture in enumerate(_pictures()):
            frame = av.VideoFrame.from_ndarray(picture, format="yuv420p")
            frame.pts, frame.time_base = index, Fraction(1, RATE)
            container.mux(video.encode(frame))
            if index % RATE == 0:
                container.mux(next(sounds))
        container.mux(video.encode(None))
        container.mux(audio.encode(None))


def _chapters() -> Any:
    return [
        {
            "id": number,
            "start": number * SLIDE_S,
            "end": (number + 1) * SLIDE_S,
            "time_base": Fraction(1, 1),
            "metadata": {"title": f"Part {number + 1}"},
        }
        for number in range(SECONDS // SLIDE_S)
    ]


def _pictures() -> Iterator[NDArray[np.uint8]]:
    """Planes of yuv420p, one array a frame."""
    import numpy as np

    random = np.random.default_rng(1)
    noise = random.normal(0, 1, (CORNER_HEIGHT * 3, CORNER_WIDTH * 3))
    for axis in (0, 1):  # neighbours become alike: a soft texture
        noise = np.sum([np.roll(noise, shift, axis) for shift in range(9)], axis=0) / 3
    face = np.clip(128 + 40 * noise, 16, 235).astype(np.uint8)
    for index in range(SECONDS * RATE):
        if index % (SLIDE_S * RATE) == 0:
            slide = _slide(random)
        down, right = (int(60 * (1 + np.sin(index / rate))) for rate in (23, 31))
        corner = face[down : down + CORNER_HEIGHT, right : right + CORNER_WIDTH]
        slide[HEIGHT - CORNER_HEIGHT : HEIGHT, WIDTH - CORNER_WIDTH :] = corner
        yield slide


def _slide(random: np.random.Generator) -> NDArray[np.uint8]:
    """A light page with lines of blocks as large as letters."""
    import numpy as np

    planes = np.full((HEIGHT * 3 // 2, WIDTH), 128, np.uint8)
    planes[:HEIGHT] = 225
    for line in range(random.integers(4, 9)):
        top, width = 90 + 60 * line, int(random.integers(20, 50))
        letters = random.integers(0, 2, (6, width), dtype=np.uint8) * 190
        block = np.kron(letters, np.ones((4, 16), np.uint8))
        planes[top : top + 24, 80 : 80 + 16 * width] = 225 - block
    return planes


def _sounds(stream: Any) -> Iterator[list[Any]]:
    """Encoded packets of a second of sound at a time."""
    import av
    import numpy as np

    random = np.random.default_rng(2)
    for second in range(SECONDS):
        wave = random.normal(0, 0.05, (1, SAMPLE_RATE)).astype(np.float32)
        frame = av.AudioFrame.from_ndarray(wave, format="fltp", layout="mono")
        frame.sample_rate, frame.pts = SAMPLE_RATE, second * SAMPLE_RATE
        frame.time_base = Fraction(1, SAMPLE_RATE)
        yield stream.encode(frame)
