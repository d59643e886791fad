"""Decodes sound to samples of one rate and layout, from any form in a file."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from vr_plugin_video.media.probe import no_stream
from vr_plugin_video.media.streams import decode_stream, find_audio, origin, seek

if TYPE_CHECKING:
    import numpy as np
    from av.audio.frame import AudioFrame
    from av.audio.stream import AudioStream
    from av.container import InputContainer
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]
    """One row per channel, from -1 to 1 where nothing is clipped."""

PREROLL_S = 0.5
"""Decoders need some packets before the first good sample."""


def need_audio(container: InputContainer) -> AudioStream:
    """The sound stream.

    Raises:
        VrError: UNSUPPORTED when there is none.
    """
    stream = find_audio(container)
    if stream is None:
        raise no_stream("sound")
    return stream


def decode_samples(
    container: InputContainer, stream: AudioStream, start: float, *, rate: int, layout: str
) -> Iterator[tuple[float, Samples]]:
    """Yield pieces of sound with their times in seconds; the first begins a little before `start`.

    Args:
        container: the open file.
        stream: its sound.
        start: seconds.
        rate: wanted samples per second.
        layout: wanted channel layout, such as `mono`.
    """
    import numpy as np

    begin = max(0.0, start - PREROLL_S)
    seek(container, stream, begin)
    zero = origin(container)
    expected = begin
    for piece in _resample(decode_stream(container, stream), rate, layout):
        time = expected if piece.pts is None else piece.pts / rate - zero
        expected = time + piece.samples / rate
        yield time, np.ascontiguousarray(piece.to_ndarray(), np.float32)


def silence(seconds: float, *, rate: int, channels: int = 1) -> Iterator[Samples]:
    """Silence of a length, in pieces of a second at most."""
    import numpy as np

    left = round(seconds * rate)
    while left > 0:
        yield np.zeros((channels, min(left, rate)), np.float32)
        left -= rate


def _resample(frames: Iterator[Any], rate: int, layout: str) -> Iterator[AudioFrame]:
    """Frames in one format; the format of the input may change on the way."""
    from av.audio.resampler import AudioResampler

    forms = itertools.groupby(frames, key=lambda f: (f.format.name, f.layout.name, f.sample_rate))
    for _, alike in forms:
        resampler = AudioResampler("fltp", layout, rate)
        for frame in itertools.chain(alike, [None]):
            yield from resampler.resample(frame)
