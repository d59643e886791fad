"""`video_transcript` by a model: only where nothing else can, in windows, its times bounded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_video_gemini import asked, key_for
from videokit import failure, open_kernel, recorded, silence
from vr_kernel import Code, Kernel
from vr_plugin_video.speech.said_lines import SaidLine, SaidWords, usable_lines
from vr_plugin_video.text.times import Window, format_time
from vr_testing import FakeGemini, Fault
from vr_testing.gemini.request import look_up
from youtube_server import KEY, FakeYouTube, player, video

SRT = "1\n00:00:01,000 --> 00:00:04,000\nA caption.\n"
SAID = {
    "language": "EN-gb",
    "lines": [
        {"time": "0:05", "speaker": "Bob", "text": "Good evening."},
        {"time": "00:01.5", "speaker": "Ann", "text": "Welcome to the  talk."},
        {"time": "0:05", "speaker": "", "text": "And thank you."},
    ],
}
ID = "dQw4w9WgXcQ"
URL = f"https://youtu.be/{ID}"
WATCH = f"https://www.youtube.com/watch?v={ID}"
NO_MODEL = {"speech_model": "no-such-model"}


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as fake:
        yield fake


@pytest.fixture
async def kernel(tmp_path: Path, gemini: FakeGemini) -> AsyncIterator[Kernel]:
    async with open_kernel(tmp_path, environ=key_for(gemini), **NO_MODEL) as opened:
        yield opened


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.wav"
    path.write_bytes(silence(10, 1000))
    return path


def words(*lines: tuple[str, str]) -> dict[str, Any]:
    """An answer of lines, each a time and a text."""
    said = [{"time": time, "speaker": "", "text": text} for time, text in lines]
    return {"language": "en", "lines": said}


async def transcript(kernel: Kernel, path: Path, **arguments: Any) -> Any:
    return await kernel.call("video_transcript", file_path=str(path), **arguments)


async def test_without_captions_and_speech_model_a_model_listens(kernel, gemini, talk):
    gemini.answer(SAID)
    page = await transcript(kernel, talk)
    assert [(s.start, s.speaker, s.text) for s in page.segments] == [
        (1.5, "Ann", "Welcome to the talk."),
        (5.0, "Bob", "Good evening."),
        (pytest.approx(6.4, abs=0.2), "", "And thank you."),
    ]
    assert page.segments[0].end == pytest.approx(3.3, abs=0.2)
    assert (page.origin, page.language, page.engine) == ("model", "en", "gemini")
    assert page.model.startswith("gemini/")
    assert page.usage == gemini.bill
    assert (await kernel.call("infra_usage")).total.media_seconds == 10
    assert "no-such-model is not installed. So a model listened." in page.limits[0]
    assert "nobody checked" in page.limits[1]
    (request,) = asked(gemini)
    assert "from 00:00 to the end" in request.text
    (moment,) = await recorded(kernel, "VideoSegments")
    assert moment["text"] == ("Ann: Welcome to the talk. Bob: Good evening. And thank you.")


async def test_it_is_paid_once_and_known_from_then_on(kernel, gemini, talk):
    gemini.answer(SAID)
    with gemini.hold():
        calls = [asyncio.create_task(transcript(kernel, talk)) for _ in range(5)]
        await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight)
    pages = [await call for call in calls]
    part = await transcript(kernel, talk, start=4, format="srt")
    assert len(asked(gemini)) == 1
    assert sum(not page.cached for page in pages) == 1
    assert part.cached
    assert "Bob: Good evening." in part.content
    assert "Ann" not in part.content
    assert len(await recorded(kernel, "VideoSegments")) == 1
    again = await transcript(kernel, talk, use_cache=False)
    assert not again.cached
    assert len(asked(gemini)) == 2


async def test_captions_go_before_a_model_unless_it_is_asked_for(kernel, gemini, talk):
    gemini.answer(SAID)
    talk.with_suffix(".srt").write_text(SRT)
    assert (await transcript(kernel, talk)).origin == "sidecar"
    assert asked(gemini) == []
    assert (await transcript(kernel, talk, engine="gemini")).origin == "model"


async def test_local_never_asks_a_model(kernel, gemini, talk):
    error = await failure(kernel, "video_transcript", file_path=str(talk), engine="local")
    assert error.category in {"MODEL_MISSING", "EXTRA_MISSING"}
    assert "fetch-models" in error.hint or "pip install" in error.hint
    assert gemini.requests == []


async def test_a_model_that_is_asked_for_needs_a_key(tmp_path, talk):
    async with open_kernel(tmp_path, **NO_MODEL) as kernel:
        error = await failure(kernel, "video_transcript", file_path=str(talk), engine="gemini")
        other = await failure(kernel, "video_transcript", file_path=str(talk))
    assert (error.code, error.category) == (Code.AUTH, "ENGINE_UNAVAILABLE")
    assert other.category in {"MODEL_MISSING", "EXTRA_MISSING"}


async def test_captions_in_other_languages_are_listed_not_paid_for(kernel, gemini, talk):
    talk.with_name("talk.de.srt").write_text(SRT)
    error = await failure(kernel, "video_transcript", file_path=str(talk), language="fr")
    assert error.category == "CAPTIONS_MISSING"
    assert error.hint.startswith("There are: de. ")
    assert "engine='gemini'" in error.hint
    assert gemini.requests == []


async def test_what_has_no_sound_is_never_sent(kernel, gemini, tmp_path):
    from lecture import Lecture

    path = tmp_path / "mute.mp4"
    path.write_bytes(Lecture((1.0,), size=(64, 36)).encode())
    for engine in ("auto", "gemini"):
        error = await failure(kernel, "video_transcript", file_path=str(path), engine=engine)
        assert error.category == "NO_WORDS"
    assert gemini.requests == []


async def test_a_long_recording_is_heard_in_windows(kernel, gemini, tmp_path):
    path = tmp_path / "long.wav"
    path.write_bytes(silence(50 * 60, 100))
    at = (0, 30, 1004, 1200, 1990, 2000, 2500, 2990)

    def hear(request: Any) -> dict[str, Any]:
        cut = look_up(request.media[0], "videoMetadata", {})
        start, end = (int(look_up(cut, name, "0s")[:-1]) for name in ("startOffset", "endOffset"))
        shift = start if "heard before" in request.text or start > 1500 else 0
        return {
            "language": "en",
            "lines": [
                {"time": format_time(t - shift), "speaker": "Ann", "text": f"Line {t}"}
                for t in at
                if start <= t < end
            ],
        }

    gemini.answer(hear)
    page = await transcript(kernel, path)
    assert [(round(s.start), s.text) for s in page.segments] == [(t, f"Line {t}") for t in at]
    assert len(asked(gemini)) == 3
    assert "These spoke before: Ann." in asked(gemini)[1].text
    assert "counted times from the start of a part" in " ".join(page.limits)


async def test_a_window_that_failed_is_paid_alone_later(kernel, gemini, tmp_path):
    path = tmp_path / "long.wav"
    path.write_bytes(silence(50 * 60, 100))
    gemini.answer(words(("0:01", "One.")))
    gemini.fail(
        Fault.status(400), when=lambda request: "from 00:00" not in request.text, times=None
    )
    error = await failure(kernel, "video_transcript", file_path=str(path))
    assert error.usage is not None
    paid = len(asked(gemini))
    gemini.heal()
    gemini.answer(words(("0:01", "One.")))
    page = await transcript(kernel, path)
    assert page.origin == "model"
    assert sum("from 00:00" in request.text for request in asked(gemini)[paid:]) == 0


async def test_lines_outside_are_left_out_and_counted(kernel, gemini, talk):
    gemini.answer(words(("0:02", "In."), ("0:59", "Out."), ("soon", "Never."), ("0:03", " ")))
    page = await transcript(kernel, talk)
    assert [segment.text for segment in page.segments] == ["In."]
    assert "3 of 4 lines were left out" in " ".join(page.limits)


async def test_answers_that_are_of_no_use(kernel, gemini, talk):
    gemini.answer(words(("0:59", "Out."), ("soon", "Never.")))
    error = await failure(kernel, "video_transcript", file_path=str(talk))
    assert (error.code, error.category) == (Code.UNAVAILABLE, "REPLY_INVALID")
    assert "the answer: no line has words and a time from 00:00" in asked(gemini)[-1].text
    gemini.fail(Fault.empty(), times=None)
    empty = await failure(kernel, "video_transcript", file_path=str(talk))
    assert empty.code is Code.UNAVAILABLE
    gemini.heal()
    gemini.answer(words())
    page = await transcript(kernel, talk)
    assert page.segments == []
    assert "Nothing is said in this part." in page.limits


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.floats(0, 4000), st.text(max_size=40)), max_size=30),
    st.floats(0, 2000),
    st.floats(20, 1200),
)
def test_segments_are_sorted_and_inside_their_window(lines, start, length):
    window = Window(start, start + length)
    said = SaidWords(
        language="en",
        lines=[SaidLine(time=f"{time:.1f}", speaker="", text=text) for time, text in lines],
    )
    used = usable_lines(said, window, start, start + length)
    starts = [segment.start for segment in used.segments]
    assert starts == sorted(starts)
    assert len(used.segments) <= used.lines - used.lost
    for segment in used.segments:
        assert start - 0.001 <= segment.start <= segment.end <= start + length + 0.001


@pytest.fixture
def youtube() -> Iterator[FakeYouTube]:
    pytest.importorskip("googleapiclient", reason="google-api-python-client is not installed")
    pytest.importorskip("youtube_transcript_api", reason="youtube-transcript-api is missing")
    with FakeYouTube(videos={ID: video(ID)}, players={ID: player()}).running() as fake:
        yield fake


@pytest.fixture
async def online(tmp_path, gemini, youtube) -> AsyncIterator[Kernel]:
    variables = {**key_for(gemini), "YOUTUBE_API_KEY": KEY}
    address = {"youtube_api_endpoint": youtube.url, "youtube_site": youtube.url}
    async with open_kernel(tmp_path, environ=variables, **address, **NO_MODEL) as opened:
        yield opened


async def test_a_youtube_video_without_captions_is_heard_by_its_address(online, gemini):
    gemini.answer(words(("0:07", "Hello.")))
    page = await online.call("video_transcript", url=URL, end=600, format="md")
    (request,) = asked(gemini)
    assert look_up(look_up(request.media[0], "fileData"), "fileUri") == WATCH
    assert page.content == f"**[00:07]({WATCH}&t=7s)** Hello."
    assert page.origin == "model"


async def test_captions_of_youtube_go_before_a_model(online, gemini, youtube):
    youtube.players[ID] = player(("en", False))
    youtube.texts["en"] = (
        '<?xml version="1.0" encoding="utf-8" ?><transcript>'
        '<text start="93" dur="4">&amp;gt;&amp;gt; ANN: A vector.</text>'
        '<text start="97" dur="4">BOB: A text.</text></transcript>'
    )
    page = await online.call("video_transcript", url=URL, format="md")
    assert page.origin == "captions"
    assert page.content.startswith(f"**[01:33]({WATCH}&t=93s)** ANN: A vector.")
    error = await failure(online, "video_transcript", url=URL, language="fr")
    assert error.category == "CAPTIONS_MISSING"
    assert "en" in error.hint
    assert asked(gemini) == []
