"""The sound of a clip: exactly that of its time span, in sync with its pictures."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from vr_plugin_video.clips.request import ClipRequest
from vr_plugin_video.media.samples import decode_samples, silence

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame
    from av.audio.stream import AudioStream
    from av.container import InputContainer

    from vr_plugin_video.media.samples import Samples

RATE = 48_000
JITTER_S = 0.03
"""Time stamps are rounded; gaps and overlaps below this length are ignored."""


def layout_of(stream: AudioStream) -> str:
    """The channel layout of the clip: mono stays mono, all else becomes stereo."""
    return "mono" if stream.codec_context.layout.nb_channels == 1 else "stereo"


def sound_of(
    container: InputContainer, stream: AudioStream, request: ClipRequest
) -> Iterator[AudioFrame]:
    """Sound from the start of a clip to its end; gaps before more sound become silence.

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
    layout = layout_of(stream)
    for time, samples in decode_samples(container, stream, done, rate=RATE, layout=layout):
        request.tick(min(max(time, request.start), request.end))
        if time >= request.end:
            return
        if time - done > slack:
            yield from silence(time - done, rate=RATE, channels=samples.shape[0])
            done = time
        early = round((done - time) * RATE) if done - time > slack else 0
        wanted = samples[:, early : early + max(0, round((request.end - done) * RATE))]
        if wanted.shape[1]:
            yield wanted
            done += wanted.shape[1] / RATE
            slack = JITTER_S
