"""`video_clip`: exactly the part that was asked for, playable, once, and nothing half-written."""

from __future__ import annotations

import asyncio
import io
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lecture import Lecture, encode_levels
from tones import Tone
from videokit import failure, open_kernel
from vr_kernel import Code, VrError
from vr_plugin_video.clips.film import FULL_HD, write_film, write_sound
from vr_plugin_video.clips.request import ClipRequest
from vr_plugin_video.clips.stills import SMALL, WHOLE, write_animation, write_still
from vr_plugin_video.media.probe import probe
from vr_testing.full_disk import no_room
from web_videos import WebVideos

SHORT = 0.06
"""Seconds: a picture at most, at the rates of these tests."""


@pytest.fixture
async def kernel(tmp_path):
    async with open_kernel(tmp_path) as opened:
        yield opened


@pytest.fixture(scope="module")
def encoded_levels() -> bytes:
    """Five seconds whose frame n is gray 20 + 4n, with two key frames."""
    return encode_levels(50, gop=40)


@pytest.fixture
def levels(tmp_path, encoded_levels) -> Path:
    """The file of those five seconds."""
    return save(tmp_path / "levels.mp4", encoded_levels)


def save(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def looked_at(path: str) -> list[tuple[float, float]]:
    """The time and mean gray of every picture of a film."""
    import av

    with av.open(path) as container:
        return [
            (frame.time, float(frame.to_ndarray(format="gray").mean()))
            for frame in container.decode(video=0)
        ]


def heard(path: str) -> Any:
    """The sound of a file as one array of floats, and its rate."""
    import av
    import numpy as np

    with av.open(path) as container:
        resampler = av.AudioResampler("flt", "mono", 48_000)
        pieces = [
            piece.to_ndarray()[0]
            for frame in container.decode(audio=0)
            for piece in resampler.resample(frame)
        ]
    return np.concatenate(pieces)


def level_at(seconds: float) -> float:
    return 20 + 4 * round(seconds * 10)


async def test_a_film_holds_exactly_the_part_between_two_key_frames(kernel, levels):
    clip = await kernel.call("video_clip", file_path=str(levels), start=1.5, end="0:03.2")
    pictures = looked_at(clip.path)
    assert len(pictures) == 17
    for time, gray in pictures:
        assert gray == pytest.approx(level_at(1.5 + time), abs=2.5)
    assert pictures[0][0] == 0
    assert (clip.start, clip.end, clip.duration) == pytest.approx((1.5, 3.2, 1.7), abs=SHORT)
    assert (clip.format, clip.mime) == ("mp4", "video/mp4")
    assert (clip.width, clip.height) == (64, 48)
    made = kernel.services.artifacts.find(clip.uri.rpartition("/")[2])
    assert (str(made.path), made.size) == (clip.path, clip.size_bytes)
    assert clip.link == f"{levels.as_uri()}#t=1"
    assert clip.limits == []


async def test_a_film_of_the_whole_video_says_that_it_was_encoded_anew(kernel, levels):
    whole = await kernel.call("video_clip", file_path=str(levels))
    assert any("encoded again" in limit and "start and end" in limit for limit in whole.limits)
    part = await kernel.call("video_clip", file_path=str(levels), start=1)
    assert not any("encoded again" in limit for limit in part.limits)


async def test_sound_and_pictures_stay_in_step(kernel, tmp_path):
    import numpy as np

    late = Tone(seconds=3.0, start=2.0, pictures=5.0, rate=22_050, layout="mono")
    path = save(tmp_path / "late.mp4", late.encode())
    clip = await kernel.call("video_clip", file_path=str(path), start=1.0, end=4.0)
    samples = heard(clip.path)
    loud = np.flatnonzero(np.abs(samples) > 0.1)
    assert loud[0] / 48_000 == pytest.approx(1.0, abs=SHORT)
    assert len(samples) / 48_000 == pytest.approx(3.0, abs=SHORT)
    grays = looked_at(clip.path)
    assert grays[0][1] == pytest.approx(30, abs=3)
    assert len(grays) == 30


async def test_a_part_of_few_pictures_lasts_as_long_as_it_should(kernel, tmp_path):
    sparse = Lecture((20.0, 20.0), sparse=True, container="matroska", size=(160, 90))
    path = save(tmp_path / "sparse.mkv", sparse.encode())
    clip = await kernel.call("video_clip", file_path=str(path), start=5, end=12)
    assert clip.duration == pytest.approx(7.0, abs=SHORT)
    assert looked_at(clip.path)[-1][0] == pytest.approx(7.0, abs=0.2)


async def test_times_count_from_where_the_file_begins(kernel, tmp_path):
    lecture = Lecture((2.0, 2.0), start=100.0, container="mpegts", numbers=(-1, 0))
    path = save(tmp_path / "lecture.mpg", lecture.encode())
    clip = await kernel.call("video_clip", file_path=str(path), start=1, end=3)
    grays = looked_at(clip.path)
    assert len(grays) == 20
    assert max(gray for _, gray in grays[:10]) < 30
    assert min(gray for _, gray in grays[10:]) > 200


async def test_a_video_of_a_turned_phone_stands_upright(kernel, tmp_path):
    turned = bytearray(Lecture((2.0,), size=(320, 180)).encode())
    matrix = turned.find(b"tkhd") + 44
    clockwise = (0, 1 << 16, 0, -(1 << 16), 0, 0, 180 << 16, 0, 1 << 30)
    turned[matrix : matrix + 36] = struct.pack(">9i", *clockwise)
    path = save(tmp_path / "phone.mp4", bytes(turned))
    for form in ("mp4", "gif", "jpg"):
        clip = await kernel.call("video_clip", file_path=str(path), end=1, format=form)
        assert (clip.width, clip.height) == (180, 320)
        import av

        with av.open(clip.path) as container:
            frame = next(container.decode(video=0))
        assert (frame.width, frame.height, frame.rotation) == (180, 320, 0)
        # The title stands at the top of the slide, which is now at the right.
        gray = frame.to_ndarray(format="gray")
        assert (gray[:, 90:] < 128).sum() > (gray[:, :90] < 128).sum()


@pytest.mark.parametrize(
    ("size", "expected"),
    [((101, 77), (100, 76)), ((2400, 1200), (1920, 960)), ((1200, 2400), (960, 1920))],
)
async def test_films_are_even_and_at_most_full_hd(kernel, tmp_path, size, expected):
    path = save(
        tmp_path / "odd.mkv",
        Lecture((0.2,), size=size, container="matroska", codec="ffv1", pixels="yuv444p").encode(),
    )
    clip = await kernel.call("video_clip", file_path=str(path))
    assert (clip.width, clip.height) == pytest.approx(expected, abs=2)
    assert clip.width % 2 == clip.height % 2 == 0


async def test_sound_alone(kernel, tmp_path):
    import numpy as np

    path = save(tmp_path / "tone.wav", Tone(5.0, codec="pcm_s16le", container="wav").encode())
    clip = await kernel.call("video_clip", file_path=str(path), start=1, end=3, format="mp3")
    assert (clip.mime, clip.width, Path(clip.path).suffix) == ("audio/mpeg", None, ".mp3")
    samples = heard(clip.path)
    assert len(samples) / 48_000 == pytest.approx(2.0, abs=0.1)
    spectrum = np.abs(np.fft.rfft(samples[4800:52_800]))
    assert spectrum.argmax() == pytest.approx(440, abs=2)


async def test_an_animation(kernel, tmp_path):
    from PIL import Image

    path = save(tmp_path / "talk.mp4", Lecture((1.0, 1.0, 1.0), size=(960, 540)).encode())
    clip = await kernel.call("video_clip", file_path=str(path), start=0.5, end=2.5, format="gif")
    with Image.open(clip.path) as image:
        assert image.size == (480, 270) == (clip.width, clip.height)
        lasts = []
        for number in range(image.n_frames):
            image.seek(number)
            lasts.append(image.info["duration"])
    assert sum(lasts) == 2000
    assert min(lasts) >= 100


async def test_one_picture_is_shown_and_sharp(kernel, levels):
    from PIL import Image

    outcome = await kernel.run(
        "video_clip", {"file_path": str(levels), "start": 2.3, "end": 1, "format": "jpg"}
    )
    (shown,) = outcome.attachments
    with Image.open(io.BytesIO(shown.data)) as image:
        assert image.size == (64, 48)
        assert image.convert("L").getpixel((30, 20)) == pytest.approx(level_at(2.3), abs=2)
    assert shown.mime == "image/jpeg"


async def test_a_large_picture_is_shown_smaller(kernel, tmp_path):
    import numpy as np
    from PIL import Image

    noise = np.random.default_rng(1).integers(0, 255, (1000, 1600, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(noise).save(buffer, "JPEG", quality=95)
    import av

    with av.open(str(tmp_path / "noise.mkv"), "w") as output:
        stream = output.add_stream("mjpeg", rate=10)
        stream.width, stream.height, stream.pix_fmt = 1600, 1000, "yuvj420p"
        for _ in range(3):
            output.mux(stream.encode(av.VideoFrame.from_ndarray(noise, format="rgb24")))
        output.mux(stream.encode(None))
    arguments = {"file_path": str(tmp_path / "noise.mkv"), "format": "jpg"}
    outcome = await kernel.run("video_clip", arguments)
    assert outcome.data["size_bytes"] > 1_000_000
    assert len(outcome.attachments[0].data) < 1_000_000


async def test_the_same_clip_is_cut_once(kernel, levels):
    arguments = {"file_path": str(levels), "start": 1, "end": 2}
    clips = await asyncio.gather(*(kernel.call("video_clip", **arguments) for _ in range(5)))
    assert sum(not clip.cached for clip in clips) == 1
    assert len({clip.path for clip in clips}) == 1
    artifact = kernel.services.artifacts.find(clips[0].uri.rpartition("/")[2])
    artifact.path.unlink()
    again = await kernel.call("video_clip", **arguments)
    assert not again.cached
    assert again.path == clips[0].path
    assert artifact.path.is_file()


@pytest.mark.parametrize(
    ("arguments", "code", "category"),
    [
        ({"start": 2, "end": 2}, Code.INVALID_INPUT, "TIME_REVERSED"),
        ({"start": 3, "end": 2}, Code.INVALID_INPUT, "TIME_REVERSED"),
        ({"start": 9}, Code.INVALID_INPUT, "TIME_OUTSIDE_VIDEO"),
        ({"start": 1, "end": 20}, Code.INVALID_INPUT, "TIME_OUTSIDE_VIDEO"),
        ({"start": 5, "format": "jpg"}, Code.INVALID_INPUT, "TIME_OUTSIDE_VIDEO"),
        ({"start": "soon"}, Code.INVALID_INPUT, "TIME_INVALID"),
        ({"start": 1, "end": 1.001}, Code.INVALID_INPUT, "CLIP_TOO_SHORT"),
        ({"start": 4.995, "format": "gif"}, Code.INVALID_INPUT, "CLIP_TOO_SHORT"),
        ({"format": "mp3"}, Code.UNSUPPORTED, "FILE_UNSUPPORTED"),
        ({"format": "avi"}, Code.INVALID_INPUT, ""),
    ],
)
async def test_what_cannot_be_cut_is_refused(kernel, levels, arguments, code, category):
    error = await failure(kernel, "video_clip", file_path=str(levels), **arguments)
    assert error.code is code
    assert not category or error.category == category


async def test_progress_goes_forward_in_the_clips_own_time(kernel, tmp_path):
    path = save(
        tmp_path / "film.mkv",
        Tone(8.0, rate=8000, layout="mono", pictures=8.0, container="matroska").encode(),
    )
    said: list[str] = []
    arguments = {"file_path": str(path), "start": 2, "end": 7}
    await kernel.run("video_clip", arguments, lambda _done, _total, message: said.append(message))
    cutting = [message for message in said if message.startswith("Cutting")]
    assert list(dict.fromkeys(cutting)) == [f"Cutting: 00:0{n} of 00:05" for n in range(6)]
    assert cutting == sorted(cutting)


@pytest.mark.parametrize("form", ["mp4", "gif", "jpg"])
async def test_a_sound_has_no_pictures(kernel, tmp_path, form):
    path = save(tmp_path / "tone.wav", Tone(1.0, codec="pcm_s16le", container="wav").encode())
    error = await failure(kernel, "video_clip", file_path=str(path), format=form)
    assert error.code is Code.UNSUPPORTED
    assert "no pictures" in error.message
    assert "format='mp3'" in error.hint


async def test_clips_have_a_longest_length_and_a_largest_size(tmp_path):
    path = save(
        tmp_path / "long.mkv",
        Lecture((40.0,), fps=1, size=(160, 90), container="matroska").encode(),
    )
    async with open_kernel(tmp_path, longest_clip_s="35") as kernel:
        long = await failure(kernel, "video_clip", file_path=str(path))
        gif = await failure(kernel, "video_clip", file_path=str(path), end=31, format="gif")
        await kernel.call("video_clip", file_path=str(path), start=39, format="jpg")
    assert {long.category, gif.category} == {"CLIP_TOO_LONG"}
    assert long.code is Code.TOO_LARGE
    assert "longest_clip_s" in long.hint


@pytest.mark.parametrize("write", [write_film, write_sound, write_animation, write_still])
def test_no_clip_grows_above_the_largest_size(tmp_path, write):
    path = save(
        tmp_path / "film.mkv",
        Tone(3.0, rate=8000, layout="mono", pictures=3.0, container="matroska").encode(),
    )
    with path.open("rb") as file:
        media = probe(file)
        target = tmp_path / "clip"
        request = ClipRequest(file, media, 0.0, media.duration, target, 200, lambda _seconds: None)
        with pytest.raises(VrError) as caught:
            write(request)
    assert (caught.value.code, caught.value.category) == (Code.TOO_LARGE, "CLIP_TOO_LARGE")
    assert "largest_clip_mb" in caught.value.hint


@pytest.mark.parametrize("write", [write_film, write_sound, write_animation, write_still])
def test_a_clip_without_room_names_the_folder_and_may_be_tried_again(tmp_path, write):
    path = save(
        tmp_path / "film.mkv",
        Tone(3.0, rate=8000, layout="mono", pictures=3.0, container="matroska").encode(),
    )
    (tmp_path / "clip").mkdir()
    with path.open("rb") as file, no_room(100):
        media = probe(file)
        target = tmp_path / "clip" / "made"
        request = ClipRequest(
            file, media, 0.0, media.duration, target, 10**9, lambda _seconds: None
        )
        with pytest.raises(VrError) as caught:
            write(request)
    assert (caught.value.code, caught.value.retryable) == (Code.UNAVAILABLE, True)
    assert str(tmp_path) in caught.value.hint


async def test_a_clip_of_a_video_from_the_web_links_there(tmp_path, encoded_levels):
    videos = WebVideos(encoded_levels)
    with videos.serving():
        async with open_kernel(tmp_path, environ=videos.allowed) as kernel:
            clip = await kernel.call("video_clip", url=videos.url("a.mp4"), start=2, end=3)
    assert clip.source == videos.url("a.mp4")
    assert clip.link == videos.url("a.mp4#t=2")
    assert looked_at(clip.path)[0][1] == pytest.approx(level_at(2), abs=2.5)


@given(st.floats(1, 20_000), st.floats(1, 20_000), st.sampled_from([FULL_HD, SMALL, WHOLE]))
def test_pictures_are_never_enlarged_nor_too_large(width, height, fit):
    wide, tall = fit.size(width, height)
    assert max(wide, tall) <= fit.longest + 1
    assert min(wide, tall) <= fit.shortest + 1
    assert wide <= width + 2
    assert tall <= height + 2
    if fit.even:
        assert wide % 2 == tall % 2 == 0
        assert min(wide, tall) >= 2


async def test_a_file_that_is_cut_off_gives_what_is_readable(kernel, tmp_path):
    whole = Lecture((5.0, 5.0), size=(160, 90), container="matroska", gop=10).encode()
    path = save(tmp_path / "cut.mkv", whole[: len(whole) * 2 // 3])
    clip = await kernel.call("video_clip", file_path=str(path), start=1, end=10)
    assert clip.partial
    assert clip.end < 9
    assert looked_at(clip.path)[-1][0] == pytest.approx(clip.duration, abs=0.3)
    error = await failure(kernel, "video_clip", file_path=str(path), start=9.5, end=10)
    assert error.category == "FILE_UNSUPPORTED"


async def test_a_clip_that_is_stopped_leaves_nothing(tmp_path):
    lecture = Lecture((5.0, 5.0), size=(640, 360), gop=10)
    path = save(tmp_path / "long.mp4", lecture.encode())
    async with open_kernel(tmp_path) as kernel:
        begun = asyncio.Event()
        arguments = {"file_path": str(path)}
        loop = asyncio.get_running_loop()

        def told(_done: float, _total: float | None, said: str) -> None:
            if said.startswith("Cutting"):
                loop.call_soon_threadsafe(begun.set)

        task = asyncio.create_task(kernel.run("video_clip", arguments, told))
        waiting = asyncio.create_task(begun.wait())
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert list((tmp_path / "cache" / "clips").iterdir()) == []
        assert list((tmp_path / "state").rglob("*.mp4")) == []


FULL_DISK = """
import asyncio, pathlib, resource, sys
sys.path.insert(0, sys.argv[1])
from videokit import failure, open_kernel

async def main(folder):
    async with open_kernel(folder) as kernel:
        for form in ("mp4", "gif", "mp3", "jpg"):
            soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), hard))
            found = {"file_path": str(folder / "film.mkv"), "format": form}
            error = await failure(kernel, "video_clip", **found)
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            print(form, error.code, error.category)
            assert not list((folder / "cache" / "clips").iterdir())
            clip = await kernel.call("video_clip", **found)
            assert not clip.cached

asyncio.run(main(pathlib.Path(sys.argv[2])))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file size limit to set")
def test_a_full_disk_is_told_and_leaves_nothing(tmp_path):
    film = Tone(3.0, rate=8000, layout="mono", pictures=3.0, container="matroska")
    save(tmp_path / "film.mkv", film.encode())
    done = subprocess.run(
        [sys.executable, "-B", "-c", FULL_DISK, str(Path(__file__).parent), str(tmp_path), "100"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [
        f"{form} UNAVAILABLE STATE_UNAVAILABLE" for form in ("mp4", "gif", "mp3", "jpg")
    ]
