"""Videos from the web: downloaded whole, taken up again, bounded, and known by their content."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager

import pytest
from lecture import Lecture
from videokit import failure, open_kernel, recorded
from vr_kernel import Code
from vr_plugin_video.downloads import Downloads
from web_videos import WebVideos


@pytest.fixture(scope="module")
def lecture() -> bytes:
    """Three slides, some 50 kB."""
    return Lecture((2.0, 2.0, 2.0), size=(320, 180), container="matroska").encode()


@asynccontextmanager
async def watching(folder, videos, pause_s=0.01, **settings):
    """A kernel that may reach the server, and soon tries again."""
    with videos.serving():
        async with open_kernel(folder, environ=videos.allowed, **settings) as kernel:
            kernel.services.providers.get(Downloads).pause_s = pause_s
            yield kernel


def downloads(folder):
    """List the folder of downloads."""
    return sorted((folder / "cache" / "downloads").glob("*"))


async def scenes(kernel, videos, name="talk.mkv"):
    return await kernel.call("video_scenes", url=videos.url(name), ocr=False)


async def test_a_video_from_the_web_is_watched_and_found_again(tmp_path, lecture):
    videos = WebVideos(lecture)
    async with watching(tmp_path, videos) as kernel:
        first = await kernel.call("video_analyze", url=videos.url("a%20talk.mkv"), engine="local")
        again = await kernel.call("video_analyze", url=videos.url("a%20talk.mkv"), engine="local")
        analyses = await recorded(kernel, "VideoAnalyses")
    assert first.source == videos.url("a%20talk.mkv")
    assert first.title == "a talk"
    assert len(first.slides) == 3
    assert again.cached
    assert len(videos.asked) == 1
    assert [each["source_url"] for each in analyses] == [videos.url("a%20talk.mkv")]


@pytest.mark.parametrize("ranges", [True, False], ids=["ranges", "no ranges"])
async def test_an_answer_that_breaks_off_is_taken_up_again(tmp_path, lecture, ranges):
    size = len(lecture)
    videos = WebVideos(lecture, cuts=[size // 3, size // 3, size], ranges=ranges)
    async with watching(tmp_path, videos) as kernel:
        found = await scenes(kernel, videos)
    assert found.found == 3
    third = size // 3
    assert videos.asked == ["", f"bytes={third}-", f"bytes={2 * third if ranges else third}-"]
    assert [path.read_bytes() for path in downloads(tmp_path)] == [lecture]


async def test_a_file_that_changes_meanwhile_is_fetched_anew(tmp_path, lecture):
    size = len(lecture)
    videos = WebVideos(lecture, cuts=[size // 2, size, size], stamps=['"a"', '"b"'])
    async with watching(tmp_path, videos) as kernel:
        assert (await scenes(kernel, videos)).found == 3
    assert [path.read_bytes() for path in downloads(tmp_path)] == [lecture]
    assert videos.asked[-1] == ""


@pytest.mark.parametrize("shift", [0, 1], ids=["past the end", "another part"])
async def test_what_cannot_be_taken_up_again_is_begun_anew_once(tmp_path, lecture, shift):
    have = len(lecture) // 2 if shift else len(lecture)
    videos = WebVideos(lecture, cuts=[have], chunked=True, shift=shift)
    async with watching(tmp_path, videos) as kernel:
        assert (await scenes(kernel, videos)).found == 3
        assert videos.asked == ["", f"bytes={have}-", ""]
        assert [path.read_bytes() for path in downloads(tmp_path)] == [lecture]
        videos.cuts = [have] * 9
        error = await failure(kernel, "video_scenes", url=videos.url("other.mkv"))
    assert (error.code, error.category, error.retryable) == (
        Code.UNAVAILABLE,
        "NETWORK_ERROR",
        True,
    )


async def test_all_tries_together_have_one_deadline(tmp_path, lecture):
    videos = WebVideos(lecture, cuts=[1] * 25)
    async with watching(tmp_path, videos, pause_s=0.1, download_deadline_s="0.25") as kernel:
        error = await failure(kernel, "video_scenes", url=videos.url())
    assert error.message == "The download was not done within 0.25 s."
    assert "download_deadline_s in [plugins.video]" in error.hint
    assert error.retryable
    assert len(videos.asked) > 1
    assert list((tmp_path / "cache" / "downloads").iterdir()) == []


async def test_what_is_asked_for_at_the_same_time_is_fetched_once(tmp_path, lecture):
    videos = WebVideos(lecture)
    async with watching(tmp_path, videos) as kernel:
        calls = [kernel.call("video_analyze", url=videos.url(), engine="local") for _ in range(10)]
        found = await asyncio.gather(*calls)
    assert [len(analysis.slides) for analysis in found] == [3] * 10
    assert videos.asked == [""]


async def test_a_caller_who_leaves_stops_no_download_of_others(tmp_path, lecture):
    videos = WebVideos(lecture)
    async with watching(tmp_path, videos) as kernel:
        videos.gate.clear()
        fetch = kernel.services.providers.get(Downloads).fetch
        first, second = (asyncio.create_task(fetch(videos.url())) for _ in range(2))
        await asyncio.to_thread(videos.begun.wait, 20)
        first.cancel()
        await asyncio.wait({first})
        videos.gate.set()
        path = await second
    assert first.cancelled()
    assert path.read_bytes() == lecture
    assert videos.asked == [""]


async def test_a_download_ends_with_the_last_who_waits_for_it(tmp_path, lecture):
    videos = WebVideos(lecture)
    async with watching(tmp_path, videos) as kernel:
        videos.gate.clear()
        task = asyncio.create_task(kernel.call("video_scenes", url=videos.url()))
        await asyncio.to_thread(videos.begun.wait, 20)
        task.cancel()
        await asyncio.wait({task})
        assert list((tmp_path / "cache" / "downloads").iterdir()) == []


async def test_what_killed_downloads_left_makes_room(tmp_path, lecture):
    folder = tmp_path / "cache" / "downloads"
    for name in (".killed.0.part", ".running.0.part"):
        (folder / name).mkdir(parents=True)
        (folder / name / "talk.mp4.part").write_bytes(b"half")
    (folder / "old.mp4").write_bytes(b"old")
    old = [folder / "old.mp4", folder / ".killed.0.part" / "talk.mp4.part", *folder.glob(".*")]
    for path in old:
        os.utime(path, (1, 1))
    videos = WebVideos(lecture)
    async with watching(tmp_path, videos) as kernel:
        assert (await scenes(kernel, videos)).found == 3
        (made,) = folder.glob("[!.]*.mkv")
    assert {path.name for path in folder.iterdir()} == {".running.0.part", made.name}


async def test_a_moment_in_an_address_is_no_other_video(tmp_path, lecture):
    videos = WebVideos(lecture)
    async with watching(tmp_path, videos) as kernel:
        whole = videos.url("a.mkv")
        clips = [
            await kernel.call("video_clip", url=url, start=3, format="jpg")
            for url in (whole, f"{whole}#t=5")
        ]
    assert {(clip.source, clip.link) for clip in clips} == {(whole, f"{whole}#t=3")}
    assert videos.asked == [""]


@pytest.mark.slow
async def test_a_server_that_always_breaks_off_is_given_up(tmp_path, lecture):
    videos = WebVideos(lecture, cuts=[0] * 20)
    async with watching(tmp_path, videos) as kernel:
        error = await failure(kernel, "video_scenes", url=videos.url())
    assert (error.code, error.category) == (Code.UNAVAILABLE, "NETWORK_ERROR")
    assert error.retryable
    assert downloads(tmp_path) == []


async def test_a_video_that_says_no_size_is_refused_once_it_is_too_large(tmp_path):
    content = b"\x1a\x45\xdf\xa3" + bytes(2_000_000)
    videos = WebVideos(content, chunked=True)
    async with watching(tmp_path, videos, max_download_mb="1") as kernel:
        error = await failure(kernel, "video_scenes", url=videos.url())
    assert (error.code, error.message) == (Code.TOO_LARGE, "The video has more than 1 MB.")
    assert "max_download_mb in [plugins.video]" in error.hint
    assert downloads(tmp_path) == []


@pytest.mark.parametrize("told", [True, False], ids=["says so", "lies"])
async def test_a_video_that_is_too_large_is_refused(tmp_path, told):
    content = b"\x1a\x45\xdf\xa3" + bytes(2_000_000)
    videos = WebVideos(content, size=None if told else 100)
    async with watching(tmp_path, videos, max_download_mb="1") as kernel:
        error = await failure(kernel, "video_scenes", url=videos.url())
        assert await kernel.services.journal.last_seq() == 0
    assert error.code is (Code.TOO_LARGE if told else Code.UNSUPPORTED), error.message
    assert error.hint
    assert len(downloads(tmp_path)) == (0 if told else 1)


async def test_a_page_is_no_video(tmp_path, lecture):
    videos = WebVideos(lecture, mime="text/html")
    async with watching(tmp_path, videos) as kernel:
        error = await failure(kernel, "video_scenes", url=videos.url())
    assert error.category == "CONTENT_TYPE"
    assert downloads(tmp_path) == []


async def test_what_is_no_media_is_refused_by_its_bytes(tmp_path):
    videos = WebVideos(b"no video at all")
    async with watching(tmp_path, videos) as kernel:
        error = await failure(kernel, "video_transcript", url=videos.url("talk.mp4"))
    assert error.category == "FILE_UNSUPPORTED"


async def test_a_folder_that_cannot_be_written(tmp_path, lecture):
    videos = WebVideos(lecture)
    async with watching(tmp_path, videos) as kernel:
        (tmp_path / "cache").mkdir(exist_ok=True)
        (tmp_path / "cache" / "downloads").write_text("a file is in the way")
        error = await failure(kernel, "video_scenes", url=videos.url())
    assert (error.code, error.category) == (Code.UNAVAILABLE, "STATE_UNAVAILABLE")


async def test_a_host_that_nobody_allowed_is_not_asked(tmp_path, lecture):
    with WebVideos(lecture).serving() as videos:
        async with open_kernel(tmp_path) as kernel:
            error = await failure(kernel, "video_scenes", url=videos.url())
    assert error.category == "URL_NOT_ALLOWED"
    assert videos.asked == []


async def test_a_disk_that_fills_up_is_told_and_leaves_nothing(tmp_path):
    resource = pytest.importorskip("resource", reason="needs limits of POSIX")
    videos = WebVideos(b"\x1a\x45\xdf\xa3" + bytes(3_000_000))
    _, hard = limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    async with watching(tmp_path, videos) as kernel:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, hard))
        try:
            error = await failure(kernel, "video_scenes", url=videos.url())
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (error.code, error.category) == (Code.UNAVAILABLE, "STATE_UNAVAILABLE")
    assert "There is no room in" in error.hint
    assert downloads(tmp_path) == []
    assert list((tmp_path / "cache" / "downloads").iterdir()) == []
