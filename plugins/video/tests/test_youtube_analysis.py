"""A YouTube video: watched by a model, or outlined by its captions, and found again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from videokit import failure, open_kernel, recorded
from vr_kernel import Code, Kernel
from vr_testing import FakeGemini
from vr_testing.gemini.request import look_up
from youtube_server import KEY, FakeYouTube, player, video

pytest.importorskip("googleapiclient", reason="google-api-python-client is not installed")
pytest.importorskip("youtube_transcript_api", reason="youtube-transcript-api is not installed")

ID = "dQw4w9WgXcQ"
URL = f"https://youtu.be/{ID}?t=42"
WATCH = f"https://www.youtube.com/watch?v={ID}"
CAPTIONS = """<?xml version="1.0" encoding="utf-8" ?><transcript>
<text start="1.0" dur="4.0">A vector stands for the meaning of a text.</text>
<text start="95.0" dur="4.0">A flat index is exact but slow.</text>
<text start="730.0" dur="5.0">Trees lose a little and win a lot.</text>
</transcript>"""
SEEN = {
    "title": "Vector search",
    "summary": "How vectors find texts.",
    "key_points": ["Flat is exact"],
    "timestamps": [
        {"time": "1:40", "description": "Flat index", "quote": "a flat index is exact but slow"},
        {"time": "2:00", "description": "Trees", "quote": "trees lose a little and win a lot"},
    ],
    "topics": ["search"],
    "sentiment": "neutral",
}


@pytest.fixture
def youtube() -> Iterator[FakeYouTube]:
    fake = FakeYouTube(
        videos={ID: video(ID)}, players={ID: player(("en", False))}, texts={"en": CAPTIONS}
    )
    with fake.running():
        yield fake


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as fake:
        fake.answer(SEEN, when=lambda request: "title" in (request.schema or {})["properties"])
        yield fake


@asynccontextmanager
async def opened(
    folder: Path, youtube: FakeYouTube, gemini: FakeGemini | None = None
) -> AsyncIterator[Kernel]:
    """A kernel that asks the fakes."""
    variables = {"YOUTUBE_API_KEY": KEY}
    if gemini is not None:
        variables |= {"GEMINI_API_KEY": "a-key", "GOOGLE_GEMINI_BASE_URL": gemini.url}
    address = {"youtube_api_endpoint": youtube.url, "youtube_site": youtube.url}
    async with open_kernel(folder, environ=variables, **address) as kernel:
        yield kernel


def sent(gemini: FakeGemini) -> list[Any]:
    """The requests that a model answered."""
    return gemini.requests_of("generateContent")


async def test_a_model_watches_it_by_its_address(tmp_path, youtube, gemini):
    async with opened(tmp_path, youtube, gemini) as kernel:
        analysis = await kernel.call("video_analyze", url=URL, start="1:00", end=900, fps=2)
        analyses = await recorded(kernel, "VideoAnalyses")
        again = await kernel.call("video_analyze", url=WATCH, start=60, end="15:00", fps=2)
    (request,) = sent(gemini)
    (part,) = request.media
    assert look_up(look_up(part, "fileData"), "fileUri") == WATCH
    cut = look_up(part, "videoMetadata")
    assert [look_up(cut, name) for name in ("startOffset", "endOffset", "fps")] == [
        "60s",
        "900s",
        2,
    ]
    assert (analysis.source, analysis.video_id, analysis.duration) == (WATCH, ID, 3723)
    assert [(m.time, m.status, m.original_time) for m in analysis.timestamps] == [
        ("01:40", "verified", None),
        ("12:10", "moved", "02:00"),
    ]
    assert [m.link for m in analysis.timestamps] == [f"{WATCH}&t=100s", f"{WATCH}&t=730s"]
    assert [fields["video_id"] for fields in analyses] == [ID]
    assert again.cached


async def test_without_a_model_its_captions_and_chapters_make_an_outline(tmp_path, youtube):
    async with opened(tmp_path, youtube) as kernel:
        analysis = await kernel.call("video_analyze", url=URL)
        segments = await recorded(kernel, "VideoSegments")
    assert analysis.engine == "local"
    assert analysis.title == "Vector search from scratch"
    assert [chapter.title for chapter in analysis.chapters] == [
        "Why vectors",
        "Flat index",
        "Trees",
    ]
    assert analysis.transcript is not None
    assert analysis.transcript.origin == "captions"
    assert any("No scenes" in limit for limit in analysis.limits)
    assert [(s["title"], s["link"]) for s in segments] == [
        ("Why vectors", f"{WATCH}&t=1s"),
        ("Flat index", f"{WATCH}&t=95s"),
        ("Trees", f"{WATCH}&t=730s"),
    ]


async def test_its_transcript_is_read_and_found_by_its_moment(tmp_path, youtube):
    async with opened(tmp_path, youtube) as kernel:
        page = await kernel.call("video_transcript", url=URL, format="srt", start="1:30", end=200)
        segments = await recorded(kernel, "VideoSegments")
    assert (page.origin, page.language, page.total) == ("captions", "en", 1)
    assert "00:01:35,000 --> 00:01:39,000" in page.content
    assert [s["link"] for s in segments] == [f"{WATCH}&t=95s"]


async def test_a_language_that_is_not_there_names_those_that_are(tmp_path, youtube):
    async with opened(tmp_path, youtube) as kernel:
        error = await failure(kernel, "video_transcript", url=URL, language="de")
    assert (error.code, error.category) == (Code.NOT_FOUND, "CAPTIONS_MISSING")
    assert "en" in error.hint


async def test_a_window_behind_its_end_is_refused_before_anything_is_paid(
    tmp_path, youtube, gemini
):
    async with opened(tmp_path, youtube, gemini) as kernel:
        error = await failure(kernel, "video_analyze", url=URL, start="2:00:00")
    assert error.category == "TIME_OUTSIDE_VIDEO"
    assert sent(gemini) == []


async def test_a_video_that_is_gone_is_refused_before_anything_is_paid(tmp_path, youtube, gemini):
    youtube.videos.clear()
    async with opened(tmp_path, youtube, gemini) as kernel:
        error = await failure(kernel, "video_analyze", url=URL)
        assert await kernel.services.journal.last_seq() == 0
    assert error.code is Code.NOT_FOUND
    assert sent(gemini) == []


async def test_a_model_watches_it_although_nobody_tells_its_length(tmp_path, youtube, gemini):
    youtube.fail("videos", *["keyInvalid"] * 9)
    youtube.page_status = 503
    youtube.players.clear()
    async with opened(tmp_path, youtube, gemini) as kernel:
        analysis = await kernel.call("video_analyze", url=URL)
    assert (analysis.duration, analysis.title) == (None, "Vector search")
    assert [moment.status for moment in analysis.timestamps] == ["unchecked", "unchecked"]
    assert any("length" in limit for limit in analysis.limits)
    assert not any("outside" in limit for limit in analysis.limits)


async def test_an_end_at_the_videos_own_is_none_and_is_paid_once(tmp_path, youtube, gemini):
    async with opened(tmp_path, youtube, gemini) as kernel:
        whole = await kernel.call("video_analyze", url=URL, fps=0.5)
        again = await kernel.call("video_analyze", url=URL, start=0, end="1:02:03", fps=0.5)
        usage = await kernel.call("infra_usage")
    assert usage.total.media_seconds == 3723
    assert (again.cached, again.summary) == (True, whole.summary)
    assert len(sent(gemini)) == 1


async def test_slides_need_its_file(tmp_path, youtube, monkeypatch):
    async with opened(tmp_path, youtube) as kernel:
        error = await failure(kernel, "video_scenes", url=URL)
    assert error.hint
    assert error.code in {Code.UNAVAILABLE, Code.NOT_FOUND}
