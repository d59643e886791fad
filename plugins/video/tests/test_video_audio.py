"""Sound for speech recognition: pitch, length and place in time."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lecture import Lecture
from tones import Tone
from vr_kernel import Code, VrError
from vr_plugin_video.speech.audio import RATE, audio_blocks, decode_audio

if TYPE_CHECKING:
    from vr_plugin_video.speech.audio import Samples

WAV = Tone(4.0, codec="pcm_s16le", container="wav", rate=22_050, layout="mono").encode()


def decode(content: bytes, start: float = 0.0, end: float | None = None) -> Samples:
    return decode_audio(io.BytesIO(content), start=start, end=end)


def sounding(samples: Samples) -> tuple[float, float]:
    """Return the times in seconds at which sound begins and ends."""

    import numpy as np

    loud = np.flatnonzero(np.abs(samples) > 0.05)
    return loud[0] / RATE, loud[-1] / RATE


def pitch_of(samples: Samples) -> float:
    import numpy as np

    spectrum = np.abs(np.fft.rfft(samples))
    return float(np.argmax(spectrum)) * RATE / len(samples)


@pytest.mark.parametrize(
    "tone",
    [
        Tone(3.0, frequency=440),
        Tone(3.0, frequency=1000, codec="libmp3lame", container="mp3", rate=48_000),
        Tone(3.0, frequency=250, codec="flac", container="flac", rate=96_000, layout="mono"),
        Tone(3.0, frequency=600, codec="pcm_s16le", container="wav", rate=8000),
        Tone(3.0, frequency=700, codec="libopus", container="webm", rate=48_000),
        Tone(3.0, frequency=500, codec="aac", container="mpegts"),
    ],
    ids=lambda tone: tone.container,
)
def test_any_sound_becomes_16_khz_mono(tone: Tone) -> None:
    import numpy as np

    samples = decode(tone.encode())
    assert samples.dtype == np.float32
    assert samples.ndim == 1
    assert len(samples) / RATE == pytest.approx(3.0, abs=0.06)
    assert pitch_of(samples) == pytest.approx(tone.frequency, rel=0.01)
    assert 0.25 < float(np.abs(samples[RATE:-RATE]).max()) < 0.6


def test_speech(sample_media: Path) -> None:
    with (sample_media / "jfk.flac").open("rb") as file:
        samples = decode_audio(file)
    assert float(abs(samples).max()) == 1.0
    assert len(samples) == pytest.approx(11 * RATE, abs=RATE // 100)


@settings(max_examples=10)
@given(start=st.integers(0, 3500), length=st.integers(0, 3000))
def test_a_window_is_that_part_of_the_whole(start: int, length: int) -> None:
    import numpy as np

    whole = decode(WAV)
    part = decode(WAV, start / 1000, (start + length) / 1000)
    first = start * RATE // 1000
    assert len(part) == pytest.approx(min(length * RATE // 1000, len(whole) - first), abs=2)
    if len(part) > 100:
        shown = whole[first : first + len(part)]
        assert np.abs(part[:-50] - shown[: len(part) - 50]).max() < 0.1


@settings(max_examples=10)
@given(seconds=st.floats(0.1, 6.0), start=st.sampled_from([0.0, 1.25]))
def test_blocks_join_to_the_whole(seconds: float, start: float) -> None:
    import numpy as np

    blocks = list(audio_blocks(io.BytesIO(WAV), start, None, seconds))
    sizes = [len(samples) for _, samples in blocks]
    assert set(sizes[:-1]) <= {round(seconds * RATE)}
    assert [at for at, _ in blocks] == pytest.approx(
        [start + sum(sizes[:n]) / RATE for n in range(len(sizes))]
    )
    assert np.array_equal(np.concatenate([s for _, s in blocks]), decode(WAV, start))


def test_blocks_come_before_the_file_is_read() -> None:
    file = io.BytesIO(Tone(60.0, codec="pcm_s16le", container="wav", layout="mono").encode())
    at, samples = next(iter(audio_blocks(file, seconds=2.0)))
    assert (at, len(samples)) == (0.0, 2 * RATE)
    assert file.tell() < len(file.getvalue()) / 4


def test_sound_that_begins_late_stays_in_step_with_the_pictures() -> None:
    content = Tone(2.0, pictures=3.0, start=1.0, container="matroska").encode()
    assert sounding(decode(content)) == pytest.approx((1.0, 3.0), abs=0.05)
    assert sounding(decode(content, 0.5)) == pytest.approx((0.5, 2.5), abs=0.05)


@pytest.mark.parametrize("container", ["matroska", "mp4"])
def test_a_gap_is_silent(container: str) -> None:
    import numpy as np

    samples = decode(Tone(3.0, gap=1.5, container=container).encode())
    assert len(samples) / RATE == pytest.approx(4.0, abs=0.06)
    assert sounding(samples) == pytest.approx((0.0, 4.0), abs=0.05)
    assert float(np.abs(samples[int(1.7 * RATE) : int(2.4 * RATE)]).max()) < 0.01


@pytest.mark.parametrize("window", [(9.0, None), (1.0, 1.0), (3.0, 2.0)])
def test_an_empty_window(window: tuple[float, float | None]) -> None:
    assert len(decode(WAV, *window)) == 0


def test_a_cut_file_gives_what_is_readable(sample_media: Path) -> None:
    whole = (sample_media / "talk.mp4").read_bytes()
    samples = decode(whole[: len(whole) // 2])
    assert len(samples) / RATE == pytest.approx(33.1, abs=0.3)


def test_a_cut_tone_gives_what_is_readable() -> None:
    assert len(decode(WAV[: len(WAV) // 2])) / RATE == pytest.approx(2.0, abs=0.1)


def test_pictures_have_no_sound() -> None:
    with pytest.raises(VrError) as caught:
        decode(Lecture((1.0,)).encode())
    assert (caught.value.code, caught.value.category) == (Code.UNSUPPORTED, "FILE_UNSUPPORTED")
