"""Sound for speech recognition: mono, 16 kHz, in blocks, in sync with the pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from vr_plugin_video.media.probe import opened
from vr_plugin_video.media.samples import decode_samples, need_audio, silence
from vr_plugin_video.media.streams import MAX_DURATION

if TYPE_CHECKING:
    import numpy as np
    from av.container import InputContainer
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

RATE = 16_000
"""Samples per second that speech models expect."""
BLOCK_S = 30.0
GAP_S, MAX_GAP_S = 0.2, 3600.0
"""A jump of the time stamps between these lengths, in seconds, becomes silence."""


def decode_audio(file: BinaryIO, *, start: float = 0.0, end: float | None = None) -> Samples:
    """All sound between two times in seconds, as mono samples from -1 to 1 at 16 kHz.

    An hour takes 230 MB; `audio_blocks` never holds more than a block. From a truncated file it
    returns what is readable.

    Raises:
        VrError: as `media.opened`; UNSUPPORTED for a file without sound.
    """
    import numpy as np

    blocks = [samples for _, samples in audio_blocks(file, start, end)]
    return np.concatenate(blocks) if blocks else np.zeros(0, np.float32)


def audio_blocks(
    file: BinaryIO, start: float = 0.0, end: float | None = None, seconds: float = BLOCK_S
) -> Iterator[tuple[float, Samples]]:
    """The same, as consecutive blocks of `seconds`, each with the time at which it begins.

    Only the last block may be shorter.

    Raises:
        VrError: as `decode_audio`, when the first block is asked for.
    """
    import numpy as np

    size = max(1, round(seconds * RATE))
    limit = None if end is None or math.isinf(end) else max(0, round((end - start) * RATE))
    kept: list[Samples] = []
    buffered = given = 0
    with opened(file) as container:
        for piece in _cut(_pieces(container, start), limit):
            kept.append(piece)
            buffered += len(piece)
            while buffered >= size:
                joined = np.concatenate(kept)
                yield start + given / RATE, np.clip(joined[:size], -1, 1)
                kept, buffered, given = [joined[size:]], buffered - size, given + size
        if buffered:
            yield start + given / RATE, np.clip(np.concatenate(kept), -1, 1)


def _cut(pieces: Iterator[Samples], limit: int | None) -> Iterator[Samples]:
    left = math.inf if limit is None else limit
    for piece in pieces:
        if left <= 0:
            return
        yield piece if len(piece) <= left else piece[: int(left)]
        left -= len(piece)


def _pieces(container: InputContainer, start: float) -> Iterator[Samples]:
    """Samples from `start` on; gaps in the time stamps become silence."""
    stream = need_audio(container)
    latest = (container.duration or 0) / 1_000_000 or MAX_DURATION
    done = start
    for time, rows in decode_samples(container, stream, start, rate=RATE, layout="mono"):
        samples = rows[0]
        if GAP_S < time - done <= MAX_GAP_S and time <= latest:
            yield from (still[0] for still in silence(time - done, rate=RATE))
            done = time
        wanted = samples[round((start - time) * RATE) :] if time < start else samples
        if len(wanted):
            yield wanted
            done += len(wanted) / RATE
