"""Frames: the very one that is on screen at a time."""

from __future__ import annotations

import io
import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lecture import Lecture, encode_levels
from tones import Tone
from vr_kernel import Code, VrError
from vr_plugin_video.vision.frames import Frame, grab_frames

FPS = 10


def number_of(frame: Frame) -> int:
    """Return the number of the frame of `encode_levels`."""
    level = int(picture_of(frame).convert("L").getpixel((30, 20)))
    return round((level - 20) / 4)


def picture_of(frame: Frame) -> Any:
    from PIL import Image

    image = Image.open(io.BytesIO(frame.image))
    image.load()
    return image


@pytest.fixture(scope="module", params=["mp4", "matroska", "mpegts"])
def levels(request: pytest.FixtureRequest) -> bytes:
    """Four seconds with B-frames and a key frame every 1.5 seconds."""
    return encode_levels(40, fps=FPS, gop=15, container=request.param)


@settings(max_examples=15, deadline=None)
@given(hundredths=st.lists(st.integers(0, 399), min_size=1, max_size=6))
def test_the_frame_on_screen(levels: bytes, hundredths: list[int]) -> None:
    frames = grab_frames(io.BytesIO(levels), [n / 100 for n in hundredths], format="png")
    assert [number_of(frame) for frame in frames] == [n // 10 for n in sorted(hundredths)]
    assert [frame.time for frame in frames] == pytest.approx(
        [n // 10 / FPS for n in sorted(hundredths)], abs=0.002
    )


@pytest.mark.parametrize(("width", "size"), [(None, (180, 320)), (90, (90, 160))])
def test_a_frame_of_a_turned_phone_stands_upright(width: int | None, size: tuple[int, int]) -> None:
    content = bytearray(Lecture((2.0,), size=(320, 180)).encode())
    matrix = content.find(b"tkhd") + 44
    clockwise = (0, 1 << 16, 0, -(1 << 16), 0, 0, 180 << 16, 0, 1 << 30)
    content[matrix : matrix + 36] = struct.pack(">9i", *clockwise)
    (frame,) = grab_frames(io.BytesIO(bytes(content)), [0.5], width=width)
    picture = picture_of(frame).convert("L")
    assert (frame.width, frame.height) == picture.size == size
    # The title stands at the top of the slide, which is at the right when it is turned.
    half = size[0] // 2
    left, right = (picture.crop((x, 0, x + half, size[1])) for x in (0, half))
    dark = [sum(part.histogram()[:128]) for part in (left, right)]
    assert dark[1] > dark[0]


def test_times_in_any_order_come_back_ascending(levels: bytes) -> None:
    frames = grab_frames(io.BytesIO(levels), [2.0, 0.0, 2.0, -3.0])
    assert [number_of(frame) for frame in frames] == [0, 0, 20, 20]


def test_times_after_the_end_are_left_out(levels: bytes) -> None:
    frames = grab_frames(io.BytesIO(levels), [3.99, 4.0, 4.5, 1e9, 1e300, float("inf")])
    assert [number_of(frame) for frame in frames] == [39, 39]


def test_no_times(levels: bytes) -> None:
    assert grab_frames(io.BytesIO(levels), []) == []


def test_the_last_picture_stays_while_the_sound_goes_on() -> None:
    content = Tone(3.0, pictures=2.0).encode()
    frames = grab_frames(io.BytesIO(content), [1.0, 2.5, 2.9, 3.5])
    assert [frame.time for frame in frames] == pytest.approx([1.0, 1.9, 1.9])


def test_the_first_picture_stands_for_the_time_before_it() -> None:
    content = Lecture((2.0,), start=5.0, container="matroska").encode()
    assert [frame.time for frame in grab_frames(io.BytesIO(content), [0.0])] == [0.0]


def test_times_that_a_cut_file_lost_are_left_out() -> None:
    whole = Lecture((8.0, 8.0), size=(320, 180), container="matroska", webcam=True).encode()
    frames = grab_frames(io.BytesIO(whole[: len(whole) // 2]), [1.0, 5.0, 12.0, 15.9])
    assert [frame.time for frame in frames] == pytest.approx([1.0, 5.0])


def test_a_time_far_after_a_cut_costs_nothing() -> None:
    size = (160, 90)
    lecture = Lecture((40.0, 300.0), size=size, container="matroska", fps=2, gop=10, webcam=True)
    whole = lecture.encode()
    cut = whole[: len(whole) // 8]
    assert grab_frames(io.BytesIO(cut), [200.0, 300.0]) == []
    assert len(grab_frames(io.BytesIO(cut), [10.0, 300.0])) == 1


def test_a_slide_shown_by_one_long_frame() -> None:
    content = Lecture((20.0, 20.0), sparse=True).encode()
    frames = grab_frames(io.BytesIO(content), [15.0, 19.99, 20.0, 35.0])
    assert [frame.time for frame in frames] == pytest.approx([0.0, 0.0, 20.0, 20.0])


@pytest.mark.parametrize(
    ("width", "size"),
    [(None, (640, 360)), (320, (320, 180)), (640, (640, 360)), (2000, (640, 360)), (1, (1, 1))],
)
def test_pictures_are_scaled_down_only(width: int | None, size: tuple[int, int]) -> None:
    (frame,) = grab_frames(io.BytesIO(Lecture((0.5,)).encode()), [0.0], width=width)
    image = picture_of(frame)
    assert image.format == "JPEG"
    assert image.size == (frame.width, frame.height) == size


@pytest.mark.parametrize("pixels", ["yuv420p", "yuv444p", "yuv420p10le", "gray"])
def test_colours_survive_every_pixel_format(pixels: str) -> None:
    content = Lecture((0.5,), pixels=pixels, codec="ffv1", container="matroska").encode()
    (frame,) = grab_frames(io.BytesIO(content), [0.0], format="png")
    image = picture_of(frame)
    assert image.format == "PNG"
    expected = (245, 245, 240) if pixels != "gray" else (244, 244, 244)
    assert image.getpixel((600, 300)) == pytest.approx(expected, abs=4)


def test_slides_of_a_talk(sample_media: Path) -> None:
    truth = json.loads((sample_media / "talk.truth.json").read_text())
    with (sample_media / "talk.mp4").open("rb") as file:
        frames = grab_frames(file, [slide["start"] + 1 for slide in truth], width=640)
    assert len({frame.image for frame in frames}) == len(truth)
    assert all((frame.width, frame.height) == (640, 360) for frame in frames)
    for frame, slide in zip(frames, truth, strict=True):
        assert slide["start"] <= frame.time <= slide["start"] + 1


def test_sound_has_no_frames() -> None:
    with pytest.raises(VrError) as caught:
        grab_frames(io.BytesIO(Tone(1.0).encode()), [0.0])
    assert (caught.value.code, caught.value.category) == (Code.UNSUPPORTED, "FILE_UNSUPPORTED")
