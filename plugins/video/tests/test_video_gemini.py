"""`video_analyze(engine="gemini")`: one call of a model, its quotes looked up, nothing lost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from lecture import Lecture
from tones import Tone
from videokit import failure, open_kernel, recorded
from vr_kernel import Code, Kernel
from vr_testing import FakeGemini, Fault
from vr_testing.gemini.request import look_up

SRT = """1
00:00:00,500 --> 00:00:04,000
An embedding stands for the meaning of a text.

2
00:00:40,000 --> 00:00:44,000
A flat index is exact but slow when there is much data.

3
00:01:10,000 --> 00:01:14,000
Recall rose to ninety four percent with the tree.
"""
SEEN = {
    "title": "Vector search",
    "summary": "How vectors find texts.",
    "key_points": ["Flat is exact"],
    "timestamps": [
        {
            "time": "0:02",
            "description": "What an embedding is",
            "quote": "An embedding stands for the meaning of a text",
        },
        {
            "time": "00:05",
            "description": "The flat index",
            "quote": "a flat index is exact, but slow",
        },
        {
            "time": "1:12",
            "description": "Something nobody said",
            "quote": "the graph index lost every single vector",
        },
        {"time": "1:15", "description": "The end", "quote": ""},
        {"time": "59:00", "description": "Not in this video", "quote": "whatever"},
        {"time": "soon", "description": "No time", "quote": ""},
    ],
    "topics": ["search"],
    "sentiment": "neutral",
}


@pytest.fixture(scope="module")
def lecture() -> bytes:
    """Three slides, 80 seconds, without sound."""
    return Lecture((30.0, 30.0, 20.0), fps=1, size=(160, 90), container="matroska").encode()


@pytest.fixture
def video(tmp_path: Path, lecture: bytes) -> Path:
    path = tmp_path / "lecture.mkv"
    path.write_bytes(lecture)
    return path


@pytest.fixture
def captioned(video: Path) -> Path:
    video.with_suffix(".en.srt").write_text(SRT)
    return video


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as fake:
        fake.answer(SEEN, when=lambda request: "title" in (request.schema or {})["properties"])
        yield fake


@pytest.fixture
async def kernel(tmp_path: Path, gemini: FakeGemini) -> AsyncIterator[Kernel]:
    async with open_kernel(tmp_path, environ=key_for(gemini)) as opened:
        yield opened


def key_for(gemini: FakeGemini) -> dict[str, str]:
    """Variables of a kernel that asks the fake."""
    return {
        "GEMINI_API_KEY": "a-key",
        "GOOGLE_GEMINI_BASE_URL": gemini.url,
        "GEMINI_RETRY_BASE_DELAY": "0.01",
    }


def asked(gemini: FakeGemini) -> list[Any]:
    """The requests that a model answered."""
    return gemini.requests_of("generateContent")


async def test_one_call_of_the_model_makes_an_analysis(kernel, gemini, captioned):
    analysis = await kernel.call("video_analyze", file_path=str(captioned), instruction="Why?")
    assert analysis.engine == "gemini"
    assert analysis.model.startswith("gemini/gemini-")
    assert analysis.title == "Vector search"
    assert analysis.summary == "How vectors find texts."
    assert analysis.sentiment == "neutral"
    (request,) = asked(gemini)
    assert "Why?" in request.text
    assert len(request.media) == 1
    assert analysis.usage == gemini.bill
    assert analysis.usage.calls == 1
    (record,) = await recorded(kernel, "VideoAnalyses")
    assert record["summary"] == "How vectors find texts."
    assert record["instruction"] == "Why?"


async def test_quotes_are_looked_up(kernel, captioned):
    analysis = await kernel.call("video_analyze", file_path=str(captioned))
    found = [(m.status, m.time, m.original_time) for m in analysis.timestamps]
    assert found == [
        ("verified", "00:02", None),
        ("moved", "00:40", "00:05"),
        ("not_found", "01:12", None),
        ("", "01:15", None),
    ]
    limits = " ".join(analysis.limits)
    assert "1 of 6 timestamps are left out: outside the video" in limits
    assert "1 of 6 timestamps are left out: without a time that can be read" in limits
    assert "1 of 3 quotes" in limits


async def test_moments_link_to_the_video_wherever_it_lies(kernel, gemini, captioned):
    analysis = await kernel.call("video_analyze", file_path=str(captioned))
    home = captioned.as_uri()
    links = [f"{home}#t=2", f"{home}#t=40", f"{home}#t=72", f"{home}#t=75"]
    assert [moment.link for moment in analysis.timestamps] == links
    (record,) = await recorded(kernel, "VideoAnalyses")
    assert [m["link"] for m in json.loads(record["raw_result"])["timestamps"]] == links
    moved = captioned.rename(captioned.with_name("moved.mkv"))
    again = await kernel.call("video_analyze", file_path=str(moved), engine="gemini")
    assert len(asked(gemini)) == 1
    assert again.timestamps[0].link == f"{moved.as_uri()}#t=2"


async def test_the_report_tells_what_became_of_each_quote(kernel, captioned):
    analysis = await kernel.call("video_analyze", file_path=str(captioned))
    report = kernel.services.artifacts.find(analysis.report_uri.rpartition("/")[2]).path.read_text()
    home, moved = captioned.as_uri(), "✓ Moved to where the quote was found"
    found = "✓ The quote was found at this place."
    lost = "✗ The quote was not found: take the place with care."
    assert report.partition("## Moments\n\n")[2].partition("\n\n")[0].splitlines() == [
        f"- **[0:02]({home}#t=2)** What an embedding is",
        f"  - “An embedding stands for the meaning of a text” · {found}",
        f"- **[0:40]({home}#t=40)** The flat index",
        f"  - “a flat index is exact, but slow” · {moved}; the model said 00:05.",
        f"- **[1:12]({home}#t=72)** Something nobody said",
        f"  - “the graph index lost every single vector” · {lost}",
        f"- **[1:15]({home}#t=75)** The end",
    ]
    assert "- Topics: search\n- Mood: neutral\n" in report


async def test_an_analysis_whose_report_finds_no_room_is_made_again_for_nothing(
    kernel, gemini, captioned
):
    kernel.services.artifacts.folder.parent.mkdir(exist_ok=True)
    kernel.services.artifacts.folder.touch()  # a file in its place: nothing can be written there
    first = await kernel.call("video_analyze", file_path=str(captioned))
    assert any("were not kept" in limit for limit in first.limits)
    kernel.services.artifacts.folder.unlink()
    again = await kernel.call("video_analyze", file_path=str(captioned))
    assert again.report_uri
    assert again.summary == first.summary
    assert (await kernel.call("video_analyze", file_path=str(captioned))).cached
    assert len(asked(gemini)) == 1


async def test_without_words_at_hand_quotes_are_unchecked(kernel, video):
    analysis = await kernel.call("video_analyze", file_path=str(video))
    assert [m.status for m in analysis.timestamps] == ["unchecked"] * 3 + [""]
    assert [m.time for m in analysis.timestamps] == ["00:02", "00:05", "01:12", "01:15"]


async def test_a_kept_analysis_is_checked_when_words_come_to_hand(kernel, gemini, video):
    await kernel.call("video_analyze", file_path=str(video))
    video.with_suffix(".en.srt").write_text(SRT)
    again = await kernel.call("video_analyze", file_path=str(video))
    assert again.cached
    assert [m.status for m in again.timestamps] == ["verified", "moved", "not_found", ""]
    assert len(asked(gemini)) == 1
    report = kernel.services.artifacts.find(again.report_uri.rpartition("/")[2]).path.read_text()
    assert "the model said 00:05" in report


async def test_equal_calls_without_the_cache_are_each_asked_anew(kernel, gemini, captioned):
    """Equal calls with use_cache=False share no work, either."""
    with gemini.hold():
        calls = [
            asyncio.create_task(
                kernel.call("video_analyze", file_path=str(captioned), use_cache=False)
            )
            for _ in range(3)
        ]
        await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == 3)
    answers = await asyncio.gather(*calls)
    assert gemini.bill.calls == 3
    assert not any(answer.cached for answer in answers)
    tool = kernel.tools["video_analyze"].input_schema["properties"]["use_cache"]
    assert "anew" in tool["description"]


async def test_the_default_question_wants_precise_times_and_enough_key_points(
    kernel, gemini, captioned
):
    await kernel.call("video_analyze", file_path=str(captioned))
    (request,) = asked(gemini)
    for wish in ("five to ten key points", "precise time", "never round"):
        assert wish in " ".join(request.text.split())


async def test_equal_calls_at_the_same_time_pay_once(kernel, gemini, captioned):
    calls = [kernel.call("video_analyze", file_path=str(captioned)) for _ in range(50)]
    answers = await asyncio.gather(*calls)
    assert len(asked(gemini)) == 1
    assert sum(not answer.cached for answer in answers) == 1
    assert sum(answer.usage is not None for answer in answers) == 1
    assert {answer.summary for answer in answers} == {"How vectors find texts."}
    assert len(await recorded(kernel, "VideoAnalyses")) == 1


async def test_the_first_caller_may_leave(kernel, gemini, captioned):
    with gemini.hold():
        first = asyncio.create_task(kernel.call("video_analyze", file_path=str(captioned)))
        await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight)
        joined = asyncio.Event()
        arguments = {"file_path": str(captioned)}
        second = asyncio.create_task(
            kernel.run("video_analyze", arguments, lambda *_report: joined.set())
        )
        await joined.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
    answer = (await second).data
    assert answer["summary"] == "How vectors find texts."
    assert len(asked(gemini)) == 1
    assert len(await recorded(kernel, "VideoAnalyses")) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"instruction": "Other"},
        {"thinking_level": "low"},
        {"start": "0:10"},
        {"fps": 2},
        {"media_resolution": "low"},
        {"output_schema": {"type": "object", "properties": {"a": {"type": "string"}}}},
        {"use_cache": False},
    ],
    ids=lambda change: next(iter(change)),
)
async def test_what_changes_the_answer_asks_again(kernel, gemini, captioned, change):
    await kernel.call("video_analyze", file_path=str(captioned))
    again = await kernel.call("video_analyze", file_path=str(captioned), **change)
    assert not again.cached
    assert len(asked(gemini)) == 2


@pytest.mark.parametrize("end", [80, "1:20.5"])
async def test_an_end_at_or_past_the_videos_own_is_none(kernel, gemini, captioned, end):
    whole = await kernel.call("video_analyze", file_path=str(captioned))
    again = await kernel.call("video_analyze", file_path=str(captioned), start=0, end=end)
    assert (whole.duration, again.cached, len(asked(gemini))) == (80, True, 1)


async def test_the_ledger_knows_how_much_was_watched(kernel, captioned):
    await kernel.call("video_analyze", file_path=str(captioned))
    assert (await kernel.call("infra_usage")).total.media_seconds == 80
    await kernel.call("video_analyze", file_path=str(captioned), start=70)
    assert (await kernel.call("infra_usage")).total.media_seconds == 90


async def test_no_more_frames_are_asked_for_than_a_model_takes(kernel, gemini, captioned):
    error = await failure(kernel, "video_analyze", file_path=str(captioned), fps=25)
    assert error.code is Code.INVALID_INPUT
    await kernel.call("video_analyze", file_path=str(captioned), fps=24)
    assert len(asked(gemini)) == 1


async def test_a_changed_model_asks_again(kernel, gemini, captioned):
    await kernel.call("video_analyze", file_path=str(captioned))
    await kernel.call("infra_configure", preset="budget")
    again = await kernel.call("video_analyze", file_path=str(captioned))
    assert not again.cached
    assert len({request.model for request in asked(gemini)}) == 2


async def test_window_rate_and_resolution_reach_the_model(kernel, gemini, captioned):
    await kernel.call(
        "video_analyze",
        file_path=str(captioned),
        start="0:10",
        end=50,
        fps=2,
        media_resolution="low",
    )
    said = json.dumps(asked(gemini)[0].body)
    assert '"10s"' in said
    assert '"50s"' in said
    assert '"fps": 2' in said
    assert "MEDIA_RESOLUTION_LOW" in said


async def test_the_callers_own_form_is_in_custom(kernel, gemini, captioned):
    form = {
        "type": "object",
        "properties": {"names": {"type": "array", "items": {"type": "string"}}},
        "required": ["names"],
    }
    gemini.answer({"names": ["Ada", "Grace"]}, when=lambda r: "names" in r.schema["properties"])
    gemini.heal()
    gemini.answer({"names": ["Ada", "Grace"]})
    analysis = await kernel.call("video_analyze", file_path=str(captioned), output_schema=form)
    assert analysis.custom == {"names": ["Ada", "Grace"]}
    assert len(asked(gemini)) == 1
    (record,) = await recorded(kernel, "VideoAnalyses")
    assert "Grace" in record["summary"]


async def test_auto_takes_the_model_when_there_is_a_key(kernel, captioned):
    assert (await kernel.call("video_analyze", file_path=str(captioned))).engine == "gemini"


async def test_local_asks_nobody(kernel, gemini, captioned):
    analysis = await kernel.call("video_analyze", file_path=str(captioned), engine="local")
    assert analysis.engine == "local"
    assert gemini.requests == []


@pytest.mark.parametrize(
    ("name", "content"),
    [("empty.mp4", b""), ("text.mp4", b"no film at all\n" * 100), ("zeros.mkv", bytes(4096))],
)
async def test_what_is_no_media_is_refused_before_it_is_paid_for(
    kernel, gemini, tmp_path, name, content
):
    (tmp_path / name).write_bytes(content)
    error = await failure(kernel, "video_analyze", file_path=str(tmp_path / name))
    assert error.code in {Code.INVALID_INPUT, Code.UNSUPPORTED}
    assert gemini.requests == []


async def test_a_window_outside_is_refused_before_it_is_paid_for(kernel, gemini, captioned):
    error = await failure(kernel, "video_analyze", file_path=str(captioned), start="5:00")
    assert error.code is Code.INVALID_INPUT
    assert gemini.requests == []


async def test_a_refused_key_says_which(kernel, gemini, captioned):
    gemini.keys = {"another"}
    error = await failure(kernel, "video_analyze", file_path=str(captioned))
    assert error.code is Code.AUTH
    assert "GEMINI_API_KEY" in error.message + error.hint
    assert "a-key" not in error.message + error.hint


async def test_a_failed_analysis_leaves_nothing_and_says_what_it_cost(kernel, gemini, captioned):
    gemini.heal()
    gemini.fail(Fault.invalid_json(), times=None)
    error = await failure(kernel, "video_analyze", file_path=str(captioned))
    assert error.category == "REPLY_INVALID"
    assert error.usage == gemini.bill
    assert error.usage.calls == 2
    assert await recorded(kernel, "VideoAnalyses") == []
    assert (await kernel.call("infra_cache")).total_files == 0


async def test_a_cancelled_analysis_ends_the_call_and_leaves_nothing(kernel, gemini, captioned):
    with gemini.hold():
        task = asyncio.create_task(kernel.call("video_analyze", file_path=str(captioned)))
        await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(gemini.wait, lambda: gemini.cancelled)
    assert await recorded(kernel, "VideoAnalyses") == []
    assert (await kernel.call("infra_cache")).total_files == 0


@pytest.mark.parametrize(
    ("name", "container", "codec", "mime"),
    [
        ("talk.mp4", "flac", "flac", "audio/flac"),
        ("talk.wav", "mp3", "libmp3lame", "audio/mpeg"),
    ],
)
async def test_a_model_is_told_what_a_file_holds(
    kernel, gemini, tmp_path, name, container, codec, mime
):
    (tmp_path / name).write_bytes(Tone(1.0, container=container, codec=codec).encode())
    await kernel.call("video_analyze", file_path=str(tmp_path / name))
    assert sent_types(gemini) == [mime]


async def test_an_answer_is_the_same_whatever_a_video_is_called(kernel, gemini, video):
    for name in ("talk.mp3", "talk.mp4"):
        video = video.rename(video.with_name(name))
        await kernel.call("video_analyze", file_path=str(video))
    assert sent_types(gemini) == ["video/x-matroska"]


@pytest.mark.parametrize("tool", ["video_analyze", "video_create_session", "video_transcript"])
async def test_what_no_model_is_given_is_refused_unpaid(kernel, gemini, tmp_path, tool):
    path = tmp_path / "talk.mp4"
    path.write_bytes(Tone(1.0, container="aiff", codec="pcm_s16be").encode())
    engine = {} if tool == "video_create_session" else {"engine": "gemini"}
    error = await failure(kernel, tool, file_path=str(path), **engine)
    assert (error.code, error.category) == (Code.UNSUPPORTED, "FILE_UNSUPPORTED")
    assert "Convert it" in error.hint
    assert gemini.requests == []


def sent_types(gemini: FakeGemini) -> list[str]:
    """The media type of the one file of each request."""
    return [
        look_up(look_up(part, "inlineData"), "mimeType")
        for request in asked(gemini)
        for part in request.media
    ]


async def test_of_a_cut_video_a_model_is_asked_and_the_cut_is_told(kernel, gemini, video, lecture):
    video.write_bytes(lecture[: len(lecture) * 3 // 5])
    analysis = await kernel.call("video_analyze", file_path=str(video))
    session = await kernel.call("video_create_session", file_path=str(video))
    again = await kernel.call("video_analyze", file_path=str(video))
    assert analysis.partial
    assert again.cached
    for told in (analysis, again, session):
        assert told.limits[0].startswith("Damaged or cut off")
    assert len(asked(gemini)) == 1
