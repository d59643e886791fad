"""Probing: what a file says it is, and what is refused."""

from __future__ import annotations

import io
import struct
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from lecture import Lecture
from tones import Tone
from vr_kernel import Code, VrError
from vr_plugin_video.media.info import SubtitleStream
from vr_plugin_video.media.probe import INSTALL_HINT, opened, probe

SHORT = Lecture((1.0, 1.0), size=(320, 180))
PNG_HEAD = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10\x00\x00\x00\x10\x08\x02\x00\x00\x00"
)
SRT = "1\n00:00:00,500 --> 00:00:01,500\nHello\n\n2\n00:00:01,600 --> 00:00:01,900\nagain\n"


def reject(content: bytes) -> VrError:
    with pytest.raises(VrError) as caught:
        probe(io.BytesIO(content))
    return caught.value


def test_a_talk_with_chapters(sample_media: Path) -> None:
    with (sample_media / "talk.mp4").open("rb") as file:
        media = probe(file)
    assert media.duration == pytest.approx(72.7, abs=0.1)
    assert (media.width, media.height, media.fps) == (1280, 720, 10.0)
    assert media.has_video
    assert media.has_audio
    assert media.complete
    assert media.title == "Vector Search in Practice (synthetic talk)"
    assert [chapter.title for chapter in media.chapters][1:3] == [
        "What is an embedding?",
        "Index types",
    ]
    assert [round(chapter.start, 2) for chapter in media.chapters[:3]] == [0.0, 9.37, 23.31]
    assert media.chapters[0].end == media.chapters[1].start


@pytest.mark.parametrize(
    ("container", "codec", "mime"),
    [
        ("mp4", "libx264", "video/mp4"),
        ("mov", "libx264", "video/quicktime"),
        ("3gp", "mpeg4", "video/3gpp"),
        ("matroska", "libx264", "video/x-matroska"),
        ("mpegts", "libx264", ""),
        ("avi", "mpeg4", "video/x-msvideo"),
        ("asf", "wmv2", "video/x-ms-wmv"),
        ("webm", "libvpx-vp9", "video/webm"),
    ],
)
def test_a_video_in_every_container(container: str, codec: str, mime: str) -> None:
    media = probe(io.BytesIO(Lecture((1.0,), container=container, codec=codec).encode()))
    assert media.duration == pytest.approx(1.0, abs=0.15)
    assert (media.width, media.height, media.fps) == (640, 360, 10.0)
    assert (media.has_video, media.has_audio, media.complete) == (True, False, True)
    assert media.mime == mime


@pytest.mark.parametrize(
    ("container", "codec", "mime"),
    [
        ("mp3", "libmp3lame", "audio/mpeg"),
        ("flac", "flac", "audio/flac"),
        ("wav", "pcm_s16le", "audio/x-wav"),
        ("adts", "aac", "audio/aac"),
        ("mp4", "aac", "audio/mp4"),
        ("ogg", "libopus", "audio/ogg"),
        ("webm", "libopus", "audio/webm"),
        ("matroska", "aac", "audio/x-matroska"),
        ("aiff", "pcm_s16be", ""),
    ],
)
def test_sound_alone(container: str, codec: str, mime: str) -> None:
    media = probe(io.BytesIO(Tone(2.0, rate=48_000, container=container, codec=codec).encode()))
    assert media.duration == pytest.approx(2.0, abs=0.1)
    assert (media.width, media.height, media.fps) == (0, 0, 0.0)
    assert (media.has_video, media.has_audio, media.complete) == (False, True, True)
    assert media.mime == mime


def test_a_film_of_a_disc_is_told_by_its_streams() -> None:
    film = Lecture((1.0,), container="mpeg", codec="mpeg2video").encode()
    assert probe(io.BytesIO(film)).mime == "video/mpeg"


def test_cover_art_is_no_video() -> None:
    cover = b"\x00image/png\x00\x03\x00" + PNG_HEAD
    tag = b"APIC" + struct.pack(">I", len(cover)) + b"\x00\x00" + cover
    size = bytes(len(tag) >> shift & 0x7F for shift in (21, 14, 7, 0))
    sound = Tone(1.0, container="mp3", codec="libmp3lame").encode()
    media = probe(io.BytesIO(b"ID3\x03\x00\x00" + size + tag + sound[sound.index(b"\xff\xfb") :]))
    assert (media.has_video, media.has_audio) == (False, True)


def test_the_name_of_a_file_plays_no_part(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(SHORT.encode())
    with path.open("rb") as file:
        file.seek(100)
        assert probe(file).has_video


def test_an_empty_file() -> None:
    error = reject(b"")
    assert (error.code, error.category) == (Code.INVALID_INPUT, "FILE_UNSUPPORTED")


@pytest.mark.parametrize(
    "content",
    [
        b"Dear diary, this is no video.\n" * 500,
        b"\x00" * 5000,
        PNG_HEAD + bytes(200),
        SRT.encode(),
        b"%PDF-1.7\n" + b"x" * 3000,
        b"<html><video src='a.mp4'></video></html>",
    ],
    ids=["text", "zeros", "picture", "captions", "pdf", "page"],
)
def test_bytes_that_are_no_media(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "talk.mp4"
    path.write_bytes(content)
    with path.open("rb") as file, pytest.raises(VrError) as caught:
        probe(file)
    assert (caught.value.code, caught.value.category) == (Code.UNSUPPORTED, "FILE_UNSUPPORTED")
    assert str(tmp_path) not in caught.value.message


@pytest.mark.parametrize(
    "playlist",
    ["ffconcat version 1.0\nfile '{0}'\n", "#EXTM3U\n#EXTINF:9,\nfile://{0}\n#EXT-X-ENDLIST\n"],
    ids=["concat", "hls"],
)
def test_a_list_of_other_files_is_not_followed(playlist: str, tmp_path: Path) -> None:
    other = tmp_path / "other.ts"
    other.write_bytes(Lecture((1.0,), container="mpegts").encode())
    assert reject(playlist.format(other).encode()).code is Code.UNSUPPORTED


def test_a_file_cut_before_its_index_says_so() -> None:
    whole = SHORT.encode()
    error = reject(whole[: len(whole) // 2])
    assert error.code is Code.UNSUPPORTED
    assert "cut off" in error.hint


def test_pyav_missing_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    content = SHORT.encode()
    monkeypatch.setitem(sys.modules, "av", None)
    error = reject(content)
    assert error.code is Code.UNAVAILABLE
    assert (
        error.hint
        == f"Install it: {INSTALL_HINT}"
        == 'Install it: pip install "video-research[local]"'
    )


@pytest.mark.parametrize("size", [(100_000, 100_000), (9000, 9000), (0, 0), (2**31 - 1, 1)])
def test_absurd_frames(size: tuple[int, int]) -> None:
    raw = Lecture((0.3,), size=(160, 120), container="avi", codec="rawvideo").encode()
    header = struct.pack("<iii", 40, 160, 120)
    assert header in raw
    error = reject(raw.replace(header, struct.pack("<iii", 40, *size)))
    assert (error.code, error.category) == (Code.TOO_LARGE, "FILE_TOO_LARGE")


@pytest.mark.parametrize("stated", [float("nan"), float("inf"), -5e9, 1e300, 0.0])
def test_a_bogus_duration_is_measured(stated: float) -> None:
    content = bytearray(Lecture((2.0,), size=(320, 180), container="matroska").encode())
    at = content.index(b"\x44\x89\x88") + 3  # the element Duration, eight bytes long
    content[at : at + 8] = struct.pack(">d", stated)
    media = probe(io.BytesIO(bytes(content)))
    assert media.duration == pytest.approx(2.0, abs=0.15)
    assert media.complete


def test_a_duration_that_is_not_stated_is_measured() -> None:
    content = Lecture((2.0,), size=(320, 180), container="matroska").encode(live="1")
    assert b"\x44\x89\x88" not in content
    assert probe(io.BytesIO(content)).duration == pytest.approx(2.0, abs=0.15)


@pytest.mark.parametrize("container", ["matroska", "mpegts"])
def test_a_start_time_is_not_part_of_the_duration(container: str) -> None:
    content = Lecture((2.0,), size=(320, 180), container=container, start=30.0).encode()
    media = probe(io.BytesIO(content))
    assert media.duration == pytest.approx(2.0, abs=0.15)
    assert media.complete


@pytest.mark.parametrize("share", [0.4, 0.9])
def test_a_cut_file_is_not_complete(share: float) -> None:
    whole = Lecture((8.0, 8.0), size=(320, 180), container="matroska", webcam=True).encode()
    media = probe(io.BytesIO(whole[: int(len(whole) * share)]))
    assert media.duration == pytest.approx(16.0, abs=0.2)
    assert not media.complete


@pytest.mark.parametrize("share", [0.5, 0.98])
def test_a_cut_talk_is_not_complete(sample_media: Path, share: float) -> None:
    whole = (sample_media / "talk.mp4").read_bytes()
    assert not probe(io.BytesIO(whole[: int(len(whole) * share)])).complete


def test_titles_and_chapters_are_made_safe() -> None:
    import av

    target = io.BytesIO()
    with av.open(target, "w", format="matroska") as output:
        output.metadata["title"] = "\x1b[31mRed\x1b[0m\u202e talk\x07\r\n part\t2 " + "long " * 200
        stream = output.add_stream("flac", rate=8000, layout="mono")
        base = Fraction(1, 1000)
        marks = [(0, 700, "Be\x1b]0;x\x07gin"), (700, 90_000, "End"), (95_000, 99_000, "Beyond")]
        output.set_chapters(
            [
                {"id": n, "start": a, "end": b, "time_base": base, "metadata": {"title": title}}
                for n, (a, b, title) in enumerate(marks, 1)
            ]
        )
        for number in range(4):
            frame = av.AudioFrame(format="s16", layout="mono", samples=4096)
            frame.sample_rate, frame.pts, frame.time_base = 8000, number * 4096, Fraction(1, 8000)
            for plane in frame.planes:
                plane.update(bytes(plane.buffer_size))
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    media = probe(target)
    assert media.title.startswith("Red talk part 2 long")
    assert len(media.title) <= 300
    assert [chapter.title for chapter in media.chapters] == ["Begin", "End"]
    assert media.chapters[1].end == pytest.approx(media.duration)


def test_a_title_in_another_encoding() -> None:
    content = Lecture((0.5,), container="matroska", title="Gruezi mitenand").encode()
    assert b"Gruezi" in content
    latin = content.replace(b"Gruezi", "Gr\u00fcezi".encode("latin-1"))
    assert probe(io.BytesIO(latin)).title == "Gr?ezi mitenand"


def test_text_subtitles_are_listed() -> None:
    import av

    target = io.BytesIO()
    with (
        av.open(io.BytesIO(SHORT.encode())) as pictures,
        av.open(io.BytesIO(SRT.encode()), format="srt") as captions,
        av.open(target, "w", format="matroska") as output,
    ):
        copies = [output.add_stream_from_template(c.streams[0]) for c in (pictures, captions)]
        copies[1].metadata["language"] = "deu"
        for source, copy in zip((pictures, captions), copies, strict=True):
            for packet in source.demux():
                if packet.size:
                    packet.stream = copy
                    output.mux(packet)
    assert probe(target).subtitles == (SubtitleStream(index=1, language="deu"),)


def test_damage_met_inside_the_block_is_told() -> None:
    def decode_noise() -> None:
        with opened(io.BytesIO(SHORT.encode())) as container:
            for packet in container.demux(container.streams.video[0]):
                packet.update(b"\xff" * packet.size)
                packet.decode()

    with pytest.raises(VrError) as caught:
        decode_noise()
    assert caught.value.code is Code.UNSUPPORTED
