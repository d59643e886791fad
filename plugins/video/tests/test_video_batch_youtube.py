"""A playlist as a batch, and a long YouTube video in windows, against a fake of YouTube."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from test_video_gemini import SEEN, asked
from test_youtube_analysis import opened
from vr_kernel import Kernel
from vr_testing import FakeGemini
from vr_testing.gemini.request import look_up
from youtube_server import FakeYouTube, playlist_item, video

pytest.importorskip("googleapiclient", reason="google-api-python-client is not installed")

LIST = "PLabcdefghijklmnop"
URL = f"https://www.youtube.com/playlist?list={LIST}"
STATES = ["public", "private", "public", "public", "deleted"]
SECONDS = 3_723  # PT1H2M3S
TOKENS = SECONDS * (258 + 32)


@pytest.fixture
def youtube() -> Iterator[FakeYouTube]:
    names = [f"video{number:06}" for number in range(len(STATES))]
    fake = FakeYouTube(
        videos={name: video(name) for name in names[:3]},
        items={
            LIST: [
                playlist_item(number, name, state)
                for number, (name, state) in enumerate(zip(names, STATES, strict=True))
            ]
        },
    )
    with fake.running():
        yield fake


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as fake:
        fake.answer(SEEN, when=lambda r: "timestamps" in (r.schema or {})["properties"])
        yield fake


@pytest.fixture
async def kernel(tmp_path: Path, youtube: FakeYouTube, gemini: FakeGemini) -> AsyncIterator[Kernel]:
    async with opened(tmp_path, youtube, gemini) as kernel:
        yield kernel


def part(request: Any) -> tuple[str, str, str]:
    """Return the video and the window that a request is about."""
    media = request.media[0]
    cut = look_up(media, "videoMetadata", {})
    uri = look_up(look_up(media, "fileData"), "fileUri")
    return uri[-11:], look_up(cut, "startOffset", ""), look_up(cut, "endOffset", "")


async def test_a_playlist_is_a_batch(kernel, gemini):
    result = await kernel.call("video_batch_analyze", url=URL)
    assert [item.status for item in result.items] == ["ok", "skipped", "ok", "failed", "skipped"]
    assert (result.ok, result.failed, result.skipped) == (2, 1, 2)
    assert {item.error.category for item in result.items if item.status == "skipped"} == {
        "VIDEO_UNAVAILABLE"
    }
    assert result.items[3].error.code == "NOT_FOUND"
    assert result.items[0].source == "https://www.youtube.com/watch?v=video000000"
    assert result.estimate.tokens_in == 2 * TOKENS
    again = await kernel.call("video_batch_analyze", url=URL)
    assert (again.ok, again.cached) == (2, 2)


async def test_a_long_video_is_watched_in_windows(kernel, gemini):
    await kernel.call("video_analyze", url="https://youtu.be/video000000")
    windows = sorted(part(request) for request in asked(gemini) if request.media)
    assert windows == [("video000000", "", "1866s"), ("video000000", "1856s", "3723s")]
    assert len(asked(gemini)) == 3
