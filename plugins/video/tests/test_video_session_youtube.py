"""Sessions about videos at YouTube and on the web: by their address, or downloaded and cached."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sessionkit import address_in, asked, echo, key_for
from videokit import failure, open_kernel, silence
from vr_kernel import Code, Kernel
from vr_testing import FakeGemini, Fault
from web_videos import WebVideos
from youtube_server import KEY, FakeYouTube, video

pytest.importorskip("googleapiclient", reason="google-api-python-client is not installed")

ID = "dQw4w9WgXcQ"
WATCH = f"https://www.youtube.com/watch?v={ID}"


@pytest.fixture
def youtube() -> Iterator[FakeYouTube]:
    with FakeYouTube(videos={ID: video(ID)}).running() as fake:
        yield fake


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as fake:
        fake.answer(echo)
        yield fake


@asynccontextmanager
async def opened(
    folder: Path, youtube: FakeYouTube, gemini: FakeGemini, key: str = KEY
) -> AsyncIterator[Kernel]:
    environ = key_for(gemini) | {"YOUTUBE_API_KEY": key}
    address = {"youtube_api_endpoint": youtube.url, "youtube_site": youtube.url}
    async with open_kernel(folder, environ=environ, **address) as kernel:
        yield kernel


def forget_downloads(folder: Path) -> None:
    for path in (folder / "cache" / "downloads").iterdir():
        path.unlink()


async def test_a_model_watches_it_at_youtube(tmp_path, youtube, gemini):
    gemini.heal()
    gemini.answer("It begins at 0:43 and ends at 1:02:00; nothing is at 9:59:59.")
    async with opened(tmp_path, youtube, gemini) as kernel:
        info = await kernel.call("video_create_session", url=f"https://youtu.be/{ID}?t=3")
        answer = await kernel.call(
            "video_continue_session", session_id=info.session_id, prompt="When?"
        )
        assert (await kernel.call("infra_usage")).total.media_seconds == 3723
    assert info.source == WATCH
    assert info.video_title == "Vector search from scratch"
    assert "download=true" in info.cache
    assert [moment.link for moment in answer.moments] == [f"{WATCH}&t=43s", f"{WATCH}&t=3720s"]
    assert not answer.cached_context
    (request,) = asked(gemini)
    assert address_in(request) == WATCH
    assert gemini.requests_of("cachedContents.create") == []


async def test_a_video_that_is_not_there_begins_no_session(tmp_path, youtube, gemini):
    async with opened(tmp_path, youtube, gemini) as kernel:
        error = await failure(kernel, "video_create_session", url="https://youtu.be/AAAAAAAAAAA")
        assert (await kernel.call("video_list_sessions")).sessions == []
    assert error.code in {Code.NOT_FOUND, Code.NOT_ALLOWED}
    assert gemini.requests == []


async def test_a_downloaded_video_is_cached_and_watched_at_youtube_once_it_is_gone(
    tmp_path, youtube, gemini
):
    pytest.importorskip("yt_dlp", reason="yt-dlp is not installed")
    saved = tmp_path / "cache" / "downloads" / f"{ID}.wav"
    saved.parent.mkdir(parents=True)
    saved.write_bytes(silence(80, 8000))
    async with opened(tmp_path, youtube, gemini) as kernel:
        info = await kernel.call("video_create_session", url=WATCH, download=True)
        first = await kernel.call(
            "video_continue_session", session_id=info.session_id, prompt="One?"
        )
        saved.unlink()
        second = await kernel.call(
            "video_continue_session", session_id=info.session_id, prompt="Two?"
        )
    assert (info.cache, info.source) == ("cached", WATCH)
    assert info.video_title == "Vector search from scratch"
    assert first.cached_context
    assert first.limits == []
    assert not second.cached_context
    assert "watches it at YouTube" in second.limits[0]
    assert second.turn_count == 2
    assert address_in(asked(gemini)[1]) == WATCH


async def test_a_video_of_the_web_is_fetched_again_once_it_is_gone(tmp_path, gemini):
    videos = WebVideos(silence(5, 8000), mime="audio/wav")
    with videos.serving():
        environ = key_for(gemini) | videos.allowed
        async with open_kernel(tmp_path, environ=environ) as kernel:
            url = videos.url("talk.wav")
            info = await kernel.call("video_create_session", url=url)
            more = {"session_id": info.session_id, "prompt": "What?"}
            await kernel.call("video_continue_session", **more)
            assert len(videos.asked) == 1
            forget_downloads(tmp_path)
            assert (await kernel.call("video_continue_session", **more)).turn_count == 2
            assert len(videos.asked) == 2
            forget_downloads(tmp_path)
            videos.content = silence(6, 8000)
            error = await failure(kernel, "video_continue_session", **more)
    assert (info.video_title, info.source) == ("talk", url)
    assert (error.code, error.category) == (Code.CONFLICT, "FILE_CHANGED")
    assert len(asked(gemini)) == 2


async def test_a_title_that_youtube_does_not_tell_is_a_models(tmp_path, youtube, gemini):
    gemini.heal()
    gemini.answer("\u201cVector search, explained\u201d\n")
    async with opened(tmp_path, youtube, gemini, key="of something else") as kernel:
        info = await kernel.call("video_create_session", url=WATCH)
    assert info.video_title == "Vector search, explained"
    assert info.usage == gemini.bill
    assert any("title" in limit for limit in info.limits)
    (request,) = gemini.requests_of("generateContent")
    assert address_in(request) == WATCH


async def test_where_no_model_gives_a_title_the_session_begins_all_the_same(
    tmp_path, youtube, gemini
):
    gemini.fail(Fault.prompt_blocked(), times=None)
    async with opened(tmp_path, youtube, gemini, key="of something else") as kernel:
        info = await kernel.call("video_create_session", url=WATCH)
    assert (info.status, bool(info.video_title)) == ("created", True)
