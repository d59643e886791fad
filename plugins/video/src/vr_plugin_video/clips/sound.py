"""The sound of a clip: exactly that of its time, in step with its pictures."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from vr_plugin_video.clips.request import ClipRequest
from vr_plugin_video.media.probe import no_stream
from vr_plugin_video.media.streams import decode_stream, find_audio, origin, seek

if TYPE_CHECKING:
    import numpy as np
    from av.audio.frame import AudioFrame
    from av.audio.stream import AudioStream
    from av.container import InputContainer
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

RATE = 48_000
PREROLL_S = 0.5
"""Decoders need some packets before the first good sample."""
JITTER_S = 0.03
"""Time stamps are rounded; gaps and overlaps below this length are none."""


def layout_of(stream: AudioStream) -> str:
    """The layout that sound is kept in: mono stays mono, all else becomes stereo."""
    return "mono" if stream.codec_context.layout.nb_channels == 1 else "stereo"


def need_audio(container: InputContainer) -> AudioStream:
    """The sound stream.

    Raises:
        VrError: UNSUPPORTED when there is none.
    """
    stream = find_audio(container)
    if stream is None:
        raise no_stream("sound")
    return stream


def sound_of(
    container: InputContainer, stream: AudioStream, request: ClipRequest
) -> Iterator[AudioFrame]:
    """Sound from the start of a clip to its end; silence stands where there is none before some.

    Its times count from the start of the clip.
    """
    from av.audio.frame import AudioFrame

    layout, given = layout_of(stream), 0
    for samples in _between(container, stream, request):
        frame = AudioFrame.from_ndarray(samples, format="fltp", layout=layout)
        frame.sample_rate, frame.time_base, frame.pts = RATE, Fraction(1, RATE), given
        given += samples.shape[1]
        yield frame


def _between(
    container: InputContainer, stream: AudioStream, request: ClipRequest
) -> Iterator[Samples]:
    done = request.start
    slack = 0.0
    for time, samples in _resampled(container, stream, max(0.0, request.start - PREROLL_S)):
        request.tick(min(max(time, request.start), request.end))
        if time >= request.end:
            return
        if time - done > slack:
            yield from _silence(samples.shape[0], time - done)
            done = time
        early = round((done - time) * RATE) if done - time > slack else 0
        wanted = samples[:, early : early + max(0, round((request.end - done) * RATE))]
        if wanted.shape[1]:
            yield wanted
            done += wanted.shape[1] / RATE
            slack = JITTER_S


def _silence(channels: int, seconds: float) -> Iterator[Samples]:
    import numpy as np

    left = round(seconds * RATE)
    while left > 0:
        yield np.zeros((channels, min(left, RATE)), np.float32)
        left -= RATE


def _resampled(
    container: InputContainer, stream: AudioStream, start: float
) -> Iterator[tuple[float, Samples]]:
    """Samples with the time of each piece, about from `start` on."""
    import numpy as np

    seek(container, stream, start)
    zero = origin(container)
    expected = start
    for piece in _resample(decode_stream(container, stream), layout_of(stream)):
        time = expected if piece.pts is None else piece.pts / RATE - zero
        expected = time + piece.samples / RATE
        yield time, np.ascontiguousarray(piece.to_ndarray(), np.float32)


def _resample(frames: Iterator[Any], layout: str) -> Iterator[AudioFrame]:
    """Frames in one form; the sound may change its own on the way."""
    from av.audio.resampler import AudioResampler

    forms = itertools.groupby(frames, key=lambda f: (f.format.name, f.layout.name, f.sample_rate))
    for _, alike in forms:
        resampler = AudioResampler("fltp", layout, RATE)
        for frame in itertools.chain(alike, [None]):
            yield from resampler.resample(frame)
