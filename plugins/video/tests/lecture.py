"""Recorded lectures with known slide changes, drawn and encoded for a test."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, BinaryIO

WORDS = "alpha bravo charlie delta echo foxtrot golf hotel india kilo lima mike oscar"
FLASH_S = 0.3
FACE = 8  # pixels of a side of one square of the webcam's picture


@dataclass(frozen=True)
class Lecture:
    """Slides on one plain background that follow each other after `durations` seconds.

    `gop` is the number of frames between key frames, which heed no change of slide. A fade begins
    when its slide does. A `sparse` lecture has a frame per slide and one at its end, no more.
    """

    durations: tuple[float, ...]
    fps: int = 10
    size: tuple[int, int] = (640, 360)
    gop: int = 250
    fade: float = 0.0
    cursor: bool = False
    webcam: bool = False
    sparse: bool = False
    flashes: tuple[float, ...] = ()
    numbers: tuple[int, ...] = ()
    codec: str = "libx264"
    container: str = "mp4"
    pixels: str = "yuv420p"
    preset: str = "ultrafast"
    start: float = 0.0
    title: str = ""

    @property
    def starts(self) -> list[float]:
        """The times in seconds at which the slides begin."""
        return [0.0, *accumulate(self.durations[:-1])]

    @property
    def duration(self) -> float:
        return sum(self.durations)

    def encode(self, **options: str) -> bytes:
        """The whole lecture as a file; options are the container's."""
        target = io.BytesIO()
        self.write(target, **options)
        return target.getvalue()

    def write(self, target: BinaryIO, **options: str) -> None:
        import av
        from av.video.reformatter import VideoReformatter

        with av.open(target, "w", format=self.container, options=options) as output:
            output.metadata["title"] = self.title
            stream = output.add_stream(self.codec, rate=self.fps, options=self._codec_options())
            stream.width, stream.height = self.size
            stream.pix_fmt = self.pixels
            stream.gop_size = self.gop
            reformatter = VideoReformatter()
            shown = frame = None
            for number, picture in self._pictures():
                if picture is not shown or frame is None:
                    frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
                    frame, shown = reformatter.reformat(frame, format=self.pixels), picture
                frame.pts = number + round(self.start * self.fps)
                frame.time_base = Fraction(1, self.fps)
                output.mux(stream.encode(frame))
            output.mux(stream.encode(None))

    def _codec_options(self) -> dict[str, str]:
        if self.codec == "libx264":
            return {"preset": self.preset, "sc_threshold": "0"}
        return {"deadline": "realtime", "cpu-used": "8"} if "vpx" in self.codec else {}

    def _pictures(self) -> Iterator[tuple[int, Any]]:
        import numpy as np

        numbers = self.numbers or range(len(self.durations))
        slides = [draw_slide(number, self.size) for number in numbers]
        random = np.random.default_rng(7)
        count = round(self.duration * self.fps)
        firsts = {round(start * self.fps) for start in self.starts}
        for number in range(count):
            if not self.sparse or number in firsts or number == count - 1:
                picture = self._picture(number / self.fps, slides)
                yield number, self._dress(picture, number, random)

    def _picture(self, time: float, slides: list[Any]) -> Any:
        import numpy as np

        if any(flash <= time < flash + FLASH_S for flash in self.flashes):
            return np.full_like(slides[0], 255)
        at = max(n for n, start in enumerate(self.starts) if start <= time + 1e-6)
        share = (time - self.starts[at]) / self.fade if self.fade and at else 1.0
        if share >= 1.0:
            return slides[at]
        old = slides[at - 1].astype(np.float32)
        return (old + (slides[at] - old) * share).astype(np.uint8)

    def _dress(self, picture: Any, number: int, random: Any) -> Any:
        if not self.webcam and not self.cursor:
            return picture
        dressed = picture.copy()
        height, width = picture.shape[:2]
        if self.webcam:
            tall, wide = height // 32, width // 40
            face = random.integers(0, 256, (tall, wide, 3), dtype="uint8")
            dressed[-tall * FACE :, -wide * FACE :] = face.repeat(FACE, 0).repeat(FACE, 1)
        if self.cursor:
            x, y = number * 13 % (width - 12), number * 7 % (height - 18)
            dressed[y : y + height // 40, x : x + width // 100] = 0
        return dressed


def draw_slide(number: int, size: tuple[int, int] = (640, 360), lines: int = 3) -> Any:
    """A title and up to three lines, different for every number, as height x width x 3 bytes.

    Below 0 it is black.
    """
    import numpy as np
    from PIL import Image, ImageDraw, ImageFont

    width, height = size
    if number < 0:
        return np.zeros((height, width, 3), np.uint8)
    image = Image.new("RGB", size, (245, 245, 240))
    pen = ImageDraw.Draw(image)
    title, text = (ImageFont.load_default(height // share) for share in (10, 16))
    words = WORDS.split()
    names = [words[(number * 5 + step) % len(words)] for step in range(11)]
    pen.text((width // 16, height // 12), f"{number}. {names[0]} {names[1]}", (20, 30, 90), title)
    for line in range(lines):
        point = "- " + " ".join(names[2 + line * 3 : 5 + line * 3])
        pen.text((width // 12, height // 3 + line * height // 7), point, (0, 0, 0), text)
    return np.asarray(image)


def draw_speaker(restless: float, length: int) -> list[Any]:
    """Pictures of 90x128 of somebody who talks, and leans aside `restless` times in 30 pictures."""
    import numpy as np

    random = np.random.default_rng(3)
    down, right = np.mgrid[0:90, 0:128]
    at = goal = 64.0
    pictures = []
    for number in range(length):
        if at == goal and random.random() < restless / 30:
            goal = 64 + random.uniform(-14, 14)
        at += min(1.5, max(-1.5, goal - at))
        mouth = 1 + 5 * abs(np.sin(number / 2))
        picture = np.full((90, 128), 190, np.uint8)
        picture[((right - at) / 40) ** 2 + ((down - 95) / 35) ** 2 < 1] = 40
        picture[((right - at) / 18) ** 2 + ((down - 38) / 24) ** 2 < 1] = 120
        picture[((right - at) / 8) ** 2 + ((down - 50) / mouth) ** 2 < 1] = 60
        pictures.append(picture[..., None].repeat(3, 2))
    return pictures


def draw_waves(seed: int, time: float) -> Any:
    """Film: smooth waves that move over the whole picture; every seed is another scene."""
    import numpy as np

    down, right = np.mgrid[0:360, 0:640]
    tones = np.random.default_rng(seed).uniform(0.01, 0.06, 6)
    waves = sum(
        np.sin(tones[n] * (right + (-1) ** n * 40 * time) + tones[5 - n] * down) for n in range(4)
    )
    return ((waves + 4) / 8 * 255).astype(np.uint8)[..., None].repeat(3, 2)


def draw_typing(time: float) -> Any:
    """A page that fills with five letters a second."""
    page = draw_slide(0).copy()
    page[:] = 245
    for letter in range(int(time * 5)):
        line, column = divmod(letter, 60)
        page[20 + line * 22 : 34 + line * 22, 20 + column * 10 : 26 + column * 10] = 0
    return page


def encode_parts(*parts: tuple[float, Callable[[float], Any]], fps: int = 10) -> bytes:
    """Parts that follow each other: how long each lasts, and its picture by its own time."""
    pictures = [draw(n / fps) for seconds, draw in parts for n in range(round(seconds * fps))]
    return _encode(pictures, fps, {"preset": "ultrafast", "sc_threshold": "0"})


def encode_levels(
    count: int, *, fps: int = 10, gop: int = 250, preset: str = "medium", container: str = "mp4"
) -> bytes:
    """A clip whose every frame is a plain gray of its own: frame n has the level 20 + 4n."""
    import numpy as np

    grays = (np.full((48, 64, 3), 20 + 4 * number, np.uint8) for number in range(count))
    options = {"preset": preset, "sc_threshold": "0", "crf": "1", "g": str(gop)}
    return _encode(grays, fps, options, container)


def _encode(
    pictures: Iterable[Any], fps: int, options: dict[str, str], container: str = "mp4"
) -> bytes:
    import av
    import numpy as np

    target = io.BytesIO()
    with av.open(target, "w", format=container) as output:
        stream = output.add_stream("libx264", rate=fps, options=options)
        stream.pix_fmt = "yuv420p"
        shown = frame = None
        for number, picture in enumerate(pictures):
            if picture is not shown or frame is None:
                pixels = np.ascontiguousarray(picture)
                frame, shown = av.VideoFrame.from_ndarray(pixels, format="rgb24"), picture
            if number == 0:
                stream.width, stream.height = frame.width, frame.height
            frame.pts, frame.time_base = number, Fraction(1, fps)
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    return target.getvalue()
