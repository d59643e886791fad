"""Recordings of plain tones, with and without pictures, encoded for a test."""

from __future__ import annotations

import io
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

CHUNK = 1024
PICTURE_FPS = 10


@dataclass(frozen=True)
class Tone:
    """A sine that sounds from `start` for `seconds`, after pictures that begin at 0.

    `gap` is where its time stamps jump by one second.
    """

    seconds: float
    frequency: float = 440.0
    rate: int = 44_100
    layout: str = "stereo"
    codec: str = "aac"
    container: str = "mp4"
    start: float = 0.0
    gap: float | None = None
    pictures: float = 0.0

    def encode(self) -> bytes:
        """The whole recording as a file."""
        import av

        target = io.BytesIO()
        with av.open(target, "w", format=self.container) as output:
            pictures = self._add_pictures(output) if self.pictures else None
            stream = output.add_stream(self.codec, rate=self.rate, layout=self.layout)
            if pictures is not None:
                self._mux_pictures(output, pictures)
            self._mux_sound(output, stream)
        return target.getvalue()

    def _add_pictures(self, output: Any) -> Any:
        stream = output.add_stream("libx264", rate=PICTURE_FPS, options={"preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        return stream

    def _mux_pictures(self, output: Any, stream: Any) -> None:
        import av
        import numpy as np

        for number in range(round(self.pictures * PICTURE_FPS)):
            gray = np.full((48, 64, 3), 20 + number, np.uint8)
            output.mux(stream.encode(av.VideoFrame.from_ndarray(gray, format="rgb24")))
        output.mux(stream.encode(None))

    def _mux_sound(self, output: Any, stream: Any) -> None:
        import av
        import numpy as np

        count = round(self.seconds * self.rate)
        wave = (np.sin(np.arange(count) * 2 * np.pi * self.frequency / self.rate) * 12_000).astype(
            np.int16
        )
        channels = stream.codec_context.layout.nb_channels
        for first in range(0, count, CHUNK):
            chunk = wave[first : first + CHUNK].repeat(channels).reshape(1, -1)
            frame = av.AudioFrame.from_ndarray(chunk, format="s16", layout=self.layout)
            frame.sample_rate, frame.time_base = self.rate, Fraction(1, self.rate)
            late = self.gap is not None and first >= self.gap * self.rate
            frame.pts = first + round((self.start + late) * self.rate)
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
