from __future__ import annotations

from pathlib import Path

import pytest
from lecture import Lecture
from videokit import failure, open_kernel, recorded
from vr_kernel import Code, estimate_tokens


def srt(count: int, text: str = "sentence") -> str:
    cues = (
        f"{n + 1}\n00:{n // 60:02}:{n % 60:02},000 --> 00:{n // 60:02}:{n % 60:02},900\n"
        f"This is {text} number {n} of the talk.\n"
        for n in range(count)
    )
    return "\n".join(cues)


@pytest.fixture(scope="module")
def long_lecture() -> bytes:
    """Five minutes of two slides at one frame a second."""
    return Lecture((150.0, 150.0), fps=1, size=(160, 90), container="matroska").encode()


@pytest.fixture
def video(tmp_path, long_lecture) -> Path:
    path = tmp_path / "talk [1].mkv"
    path.write_bytes(long_lecture)
    return path


def with_subtitles(video: Path, *tracks: tuple[str, str]) -> Path:
    """The video in another file with subtitle streams of (language, SRT text)."""
    import av

    target = video.with_name("subtitled.mkv")
    with av.open(str(target), "w") as output, av.open(str(video)) as pictures:
        source = pictures.streams.video[0]
        stream = output.add_stream_from_template(source)
        inputs = []
        for number, (language, text) in enumerate(tracks):
            path = video.with_name(f"track{number}.txt.srt")
            path.write_text(text)
            opened = av.open(str(path))
            track = output.add_stream_from_template(opened.streams.subtitles[0])
            track.metadata["language"] = language
            inputs.append((opened, track))
        for packet in pictures.demux(source):
            if packet.dts is not None:
                packet.stream = stream
                output.mux(packet)
        for opened, track in inputs:
            for packet in opened.demux():
                if packet.dts is not None:
                    packet.stream = track
                    output.mux(packet)
            opened.close()
    return target


async def test_pages_make_the_whole_transcript(tmp_path, video):
    video.with_suffix(".srt").write_text(srt(280))
    async with open_kernel(tmp_path, page_bytes="3000") as kernel:
        pages = [await kernel.call("video_transcript", file_path=str(video))]
        while pages[-1].next_cursor:
            pages.append(
                await kernel.call(
                    "video_transcript", file_path=str(video), cursor=pages[-1].next_cursor
                )
            )
        whole = kernel.services.artifacts.find(
            pages[0].transcript_uri.rpartition("/")[2]
        ).path.read_text()
        moments = await recorded(kernel, "VideoSegments")
    texts = [segment.text for page in pages for segment in page.segments]
    assert texts == [f"This is sentence number {n} of the talk." for n in range(280)]
    assert len(pages) > 3
    assert all(len(page.model_dump_json()) < 4_000 for page in pages)
    assert {page.total for page in pages} == {280}
    assert texts[-1] in whole
    assert not any(page.transcript_uri for page in pages[1:])
    assert len(moments) < 40
    assert all(m["end"] - m["start"] <= 40 for m in moments)


@pytest.mark.parametrize(
    "sentence",
    [pytest.param("The words of the talk", marks=pytest.mark.slow), "講演の言葉です", "የንግግሩ ቃላት"],
)
async def test_no_language_makes_a_page_too_long(sentence, tmp_path, video):
    video.with_suffix(".srt").write_text(srt(280, sentence * 4))
    async with open_kernel(tmp_path, page_bytes="24000") as kernel:
        page = await kernel.call("video_transcript", file_path=str(video))
        full = await kernel.call("video_analyze", file_path=str(video), detail="full")
    assert 6_000 < estimate_tokens(page.model_dump_json()) <= 10_000
    assert full.segments
    assert estimate_tokens(full.model_dump_json()) <= 10_000


@pytest.mark.parametrize(
    ("style", "start"),
    [
        ("text", "This is sentence number 2 of"),
        ("srt", "1\n00:00:02,000 --> 00:00:02,900\nThis is"),
        ("vtt", "WEBVTT"),
        ("md", "**00:02** This is"),
        ("json", '[{"start": 2.0'),
    ],
)
async def test_every_format_of_a_window(tmp_path, video, style, start):
    video.with_suffix(".srt").write_text(srt(280))
    async with open_kernel(tmp_path) as kernel:
        result = await kernel.call(
            "video_transcript", file_path=str(video), format=style, start="0:02", end="0:04"
        )
    assert result.content.startswith(start)
    assert "number 3" in result.content
    assert "number 4" not in result.content
    assert not result.segments


async def test_a_cursor_of_another_transcript_is_refused(tmp_path, video):
    video.with_suffix(".srt").write_text(srt(280))
    async with open_kernel(tmp_path, page_bytes="3000") as kernel:
        page = await kernel.call("video_transcript", file_path=str(video))
        other = {"file_path": str(video), "start": 20.0}
        for cursor in (page.next_cursor, "nonsense", "-1", "x" * 5000):
            error = await failure(kernel, "video_transcript", cursor=cursor, **other)
            assert error.code is Code.INVALID_INPUT
            assert error.category == "CURSOR_INVALID"


async def test_the_language_chooses_the_caption_file(tmp_path, video):
    video.with_name("talk [1].de.srt").write_text(srt(3, "Satz"))
    video.with_name("talk [1].en-GB.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n")
    video.with_name("talk [1].part2.srt").write_text(srt(3, "wrong"))
    video.with_name("talk.srt").write_text(srt(3, "wrong"))
    async with open_kernel(tmp_path) as kernel:
        german = await kernel.call("video_transcript", file_path=str(video), language="de-DE")
        english = await kernel.call("video_transcript", file_path=str(video), language="en")
        error = await failure(kernel, "video_transcript", file_path=str(video), language="fr")
        bad = await failure(kernel, "video_transcript", file_path=str(video), language="klingon")
    assert (german.language, german.segments[0].text.split()[2]) == ("de", "Satz")
    assert (english.language, english.segments[0].text) == ("en", "Hello")
    assert (error.code, error.category) == (Code.NOT_FOUND, "CAPTIONS_MISSING")
    assert error.hint == "There are: de, en."
    assert bad.code is Code.INVALID_INPUT


async def test_streams_inside_the_file_are_read(tmp_path, video):
    path = with_subtitles(video, ("ger", srt(3, "Satz")), ("eng", srt(3, "<i>part</i>")))
    async with open_kernel(tmp_path) as kernel:
        first = await kernel.call("video_transcript", file_path=str(path))
        english = await kernel.call("video_transcript", file_path=str(path), language="en")
        error = await failure(kernel, "video_transcript", file_path=str(path), language="fr")
    assert (first.origin, first.language) == ("embedded", "de")
    assert english.segments[1].text == "This is part number 1 of the talk."
    assert english.segments[1].start == pytest.approx(1.0, abs=0.05)
    assert (error.code, error.hint) == (Code.NOT_FOUND, "There are: de, en.")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no captions here",
        b"\xff\xfe" + "1\n00:00:01,000 -->".encode("utf-16-le"),
        b"\x00" * 50,
    ],
)
async def test_a_useless_caption_file_is_passed_over(tmp_path, video, content):
    path = with_subtitles(video, ("eng", srt(3)))
    path.with_suffix(".srt").write_bytes(content)
    async with open_kernel(tmp_path) as kernel:
        result = await kernel.call("video_transcript", file_path=str(path))
    assert result.origin == "embedded"


async def test_a_cue_without_end_is_cut_into_pieces(tmp_path, video):
    cue = f"1\n00:00:00,000 --> 00:01:40,000\n{'word ' * 10_000}\n"
    video.with_suffix(".srt").write_text(cue)
    async with open_kernel(tmp_path) as kernel:
        page = await kernel.call("video_transcript", file_path=str(video))
    assert len(page.model_dump_json()) < 12_000
    assert page.next_cursor
    assert page.segments[-1].end < 100


async def test_old_encodings_are_read(tmp_path, video):
    text = "1\n00:00:01,000 --> 00:00:02,000\nGr\u00fc\u00dfe aus K\u00f6ln\n"
    async with open_kernel(tmp_path) as kernel:
        for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
            video.with_suffix(".srt").write_bytes(text.encode(encoding))
            result = await kernel.call("video_transcript", file_path=str(video))
            assert [s.text for s in result.segments] == ["Gr\u00fc\u00dfe aus K\u00f6ln"], encoding


async def test_a_caption_file_outside_the_roots_is_not_read(tmp_path, video):
    inside = tmp_path / "inside"
    inside.mkdir()
    video.rename(inside / "talk.mkv")
    secret = tmp_path / "secret.srt"
    secret.write_text(srt(3, "secret"))
    (inside / "talk.srt").symlink_to(secret)
    async with open_kernel(inside) as kernel:
        error = await failure(kernel, "video_transcript", file_path=str(inside / "talk.mkv"))
    assert error.code is Code.UNSUPPORTED


async def test_a_changed_caption_file_is_another_analysis(tmp_path, video):
    captions = video.with_suffix(".srt")
    captions.write_text(srt(3, "first"))
    async with open_kernel(tmp_path) as kernel:
        await kernel.call("video_analyze", file_path=str(video))
        captions.write_text(srt(3, "second"))
        changed = await kernel.call("video_analyze", file_path=str(video), detail="full")
    assert not changed.cached
    assert "second" in changed.segments[0].text
