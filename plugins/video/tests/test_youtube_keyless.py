"""YouTube without a key: yt-dlp, captions, files, and the page that everybody sees."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from videokit import failure, open_kernel
from vr_kernel import Code, Kernel, VrError
from vr_plugin_video.downloads import Downloads
from vr_plugin_video.settings import VideoSettings
from vr_plugin_video.youtube.client import YouTube
from vr_plugin_video.youtube.saving import save_video
from vr_plugin_video.youtube.transcript_api import TranscriptApi
from vr_plugin_video.youtube.ytdlp import YtDlp
from youtube_server import FakeYouTube, player

pytest.importorskip("yt_dlp", reason="yt-dlp is not installed")
needs_captions = pytest.mark.usefixtures("transcript_api")

ID = "dQw4w9WgXcQ"
URL = f"https://youtu.be/{ID}"
XML = """<?xml version="1.0" encoding="utf-8" ?><transcript>
<text start="0" dur="4.5">An embedding stands</text>
<text start="2.5" dur="4">for the &amp;quot;meaning&amp;quot; of a text.</text>
<text start="8" dur="2"></text></transcript>"""
JSON3 = {
    "wireMagic": "pb3",
    "events": [
        {"tStartMs": 0, "dDurationMs": 90_000, "id": 1},
        {"tStartMs": 500, "dDurationMs": 4000, "segs": [{"utf8": "Ein "}, {"utf8": "Satz."}]},
        {"tStartMs": 2500, "aAppend": 1, "segs": [{"utf8": "\n"}]},
        {"tStartMs": 2500, "dDurationMs": 3000, "segs": [{"utf8": "Noch einer."}]},
    ],
}
INFO = {
    "id": ID,
    "title": "Vector search",
    "description": "All of it.",
    "channel": "Search School",
    "channel_id": "UC1",
    "upload_date": "20240229",
    "duration": 3723,
    "tags": ["search"],
    "categories": ["Education"],
    "view_count": 7,
    "language": "de",
    "chapters": [{"start_time": 0, "end_time": 60, "title": "Start"}],
    "availability": "public",
    "age_limit": 18,
    "live_status": "not_live",
}


@pytest.fixture
def transcript_api() -> None:
    pytest.importorskip("youtube_transcript_api", reason="youtube-transcript-api is missing")


@pytest.fixture
def without_transcript_api(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "youtube_transcript_api", None)


@pytest.fixture
def youtube() -> Iterator[FakeYouTube]:
    with FakeYouTube(infos={ID: dict(INFO)}).running() as fake:
        yield fake


@asynccontextmanager
async def opened(folder: Path, youtube: FakeYouTube, **settings: str) -> AsyncIterator[Kernel]:
    allowed = {"VR_KERNEL__HTTP__ALLOWED_HOSTS": youtube.url.removeprefix("http://")}
    address = {"youtube_site": youtube.url, **settings}
    async with open_kernel(folder, environ=allowed, **address) as kernel:
        yield kernel


@pytest.fixture
async def kernel(tmp_path: Path, youtube: FakeYouTube) -> AsyncIterator[Kernel]:
    async with opened(tmp_path, youtube) as opened_kernel:
        yield opened_kernel


@pytest.fixture
def client(kernel: Kernel) -> YouTube:
    return kernel.services.providers.get(YouTube)


async def test_metadata_by_yt_dlp(kernel):
    found = await kernel.call("video_metadata", url=URL)
    assert found.engine == "yt-dlp"
    assert (found.title, found.channel_title) == ("Vector search", "Search School")
    assert (found.published_at, found.duration) == ("2024-02-29T00:00:00Z", "1:02:03")
    assert (found.category, found.view_count, found.like_count) == ("Education", 7, None)
    assert [chapter.title for chapter in found.chapters] == ["Start"]
    assert found.restrictions == ["age restricted"]
    assert found.has_captions is False


async def test_comments_by_yt_dlp(kernel, youtube):
    youtube.infos[ID]["comments"] = [
        {"id": "a", "text": "Good", "author": "@x", "like_count": 3, "timestamp": 1709287200},
        {"id": "a.1", "text": "Yes", "author": "@y", "parent": "a"},
        {"id": "b", "text": "Bad", "author": "@z", "parent": "root", "like_count": None},
    ]
    found = await kernel.call("video_comments", url=URL, max_comments=5)
    assert [(c.text, c.like_count, c.published_at) for c in found.comments] == [
        ("Good", 3, "2024-03-01T10:00:00Z"),
        ("Bad", 0, ""),
    ]


async def test_a_playlist_by_yt_dlp(kernel, youtube):
    titles = ["First", "[Private video]", "[Deleted video]", "Fourth"]
    entries = [
        {"_type": "url", "id": f"video{n:06}", "url": f"https://youtu.be/video{n:06}", "title": t}
        for n, t in enumerate(titles)
    ]
    youtube.infos["PLabc"] = {
        "_type": "playlist",
        "id": "PLabc",
        "title": "A course",
        "uploader": "School",
        "playlist_count": 63,
        "entries": entries,
    }
    url = "https://www.youtube.com/playlist?list=PLabc"
    found = await kernel.call("video_playlist", url=url, max_items=3)
    assert (found.title, found.channel, found.total) == ("A course", "School", 63)
    shown = [(item.position, item.availability) for item in found.items]
    assert shown == [(1, "available"), (2, "private"), (3, "deleted")]


@pytest.mark.parametrize(
    ("said", "code", "category"),
    [
        ("Private video. Sign in if you've been granted access", Code.NOT_ALLOWED, "VIDEO_PRIVATE"),
        ("Sign in to confirm your age.", Code.NOT_ALLOWED, "VIDEO_RESTRICTED"),
        ("Video unavailable. This video has been removed", Code.UNAVAILABLE, "VIDEO_UNAVAILABLE"),
        ("Something quite new", Code.UNAVAILABLE, "YOUTUBE_CHANGED"),
    ],
)
async def test_what_yt_dlp_cannot_read(youtube, said, code, category):
    youtube.infos[ID] = {"error": said}
    with pytest.raises(VrError) as caught:
        await YtDlp(youtube.url).video(ID)
    assert (caught.value.code, caught.value.category) == (code, category)
    assert caught.value.hint


async def test_the_page_tells_a_title_when_yt_dlp_does_not(client, youtube):
    youtube.infos[ID] = {"error": "Sign in to confirm you're not a bot"}
    youtube.pages[ID] = {"title": "From the page", "author_name": "School"}
    described = await client.describe(ID)
    assert (described.title, described.channel, described.duration) == (
        "From the page",
        "School",
        0,
    )
    assert described.chapters == ()


@pytest.mark.parametrize(
    ("status", "code"),
    [(404, Code.NOT_FOUND), (400, Code.NOT_FOUND), (401, Code.UNAVAILABLE)],
)
async def test_a_video_without_a_page(client, youtube, status, code):
    youtube.infos.clear()
    youtube.page_status = status
    with pytest.raises(VrError) as caught:
        await client.describe(ID)
    assert caught.value.code is code


@needs_captions
async def test_captions_by_the_transcript_library(client, youtube):
    youtube.players[ID] = player(("de", False), ("en", True), ("en-GB", False))
    youtube.texts |= {"en-GB": XML, "de": XML.replace("meaning", "Sinn"), "en-asr": XML}
    found = await client.captions(ID, "")
    assert (found.origin, found.language, found.notes) == ("captions", "en", ())
    assert [(s.start, s.end, s.text) for s in found.segments] == [
        (0.0, 2.5, "An embedding stands"),
        (2.5, 6.5, 'for the "meaning" of a text.'),
    ]
    asked = len(youtube.requests)
    assert await client.captions(ID, "") == found
    assert len(youtube.requests) == asked
    assert "Sinn" in (await client.captions(ID, "de")).segments[1].text


@needs_captions
async def test_recognised_captions_say_so(youtube):
    youtube.players[ID] = player(("en", True))
    youtube.texts["en-asr"] = XML
    found = await TranscriptApi(youtube.url).captions(ID, "en")
    assert "recognised" in found.notes[0]


@needs_captions
async def test_a_language_that_is_not_there_names_those_that_are(youtube):
    youtube.players[ID] = player(("de", False), ("pt-BR", False), ("en", True))
    with pytest.raises(VrError) as caught:
        await TranscriptApi(youtube.url).captions(ID, "fr")
    assert (caught.value.code, caught.value.category) == (Code.NOT_FOUND, "CAPTIONS_MISSING")
    assert "de, en, pt-BR" in caught.value.hint


@needs_captions
@pytest.mark.parametrize(
    ("status", "code", "category"),
    [
        ({"status": "OK"}, Code.NOT_FOUND, "CAPTIONS_MISSING"),
        (
            {
                "status": "LOGIN_REQUIRED",
                "reason": "This video may be inappropriate for some users.",
            },
            Code.NOT_ALLOWED,
            "VIDEO_RESTRICTED",
        ),
        (
            {"status": "LOGIN_REQUIRED", "reason": "This video is private"},
            Code.NOT_ALLOWED,
            "VIDEO_PRIVATE",
        ),
        (
            {"status": "UNPLAYABLE", "reason": "Not available in your country"},
            Code.NOT_ALLOWED,
            "VIDEO_RESTRICTED",
        ),
    ],
)
async def test_captions_that_are_not_to_be_had(youtube, status, code, category):
    youtube.players[ID] = {"playabilityStatus": status}
    with pytest.raises(VrError) as caught:
        await TranscriptApi(youtube.url).captions(ID, "")
    assert (caught.value.code, caught.value.category) == (code, category)


@needs_captions
async def test_yt_dlp_reads_captions_when_the_other_is_blocked(client, youtube):
    youtube.players[ID] = {
        "playabilityStatus": {
            "status": "LOGIN_REQUIRED",
            "reason": "Sign in to confirm you\u2019re not a bot",
        }
    }
    youtube.infos[ID]["subtitles"] = {"de": [{"ext": "json3", "url": "/api/timedtext?track=de"}]}
    youtube.texts["de"] = json.dumps(JSON3)
    assert (await client.captions(ID, "")).language == "de"


@pytest.mark.usefixtures("without_transcript_api")
async def test_captions_by_yt_dlp_alone(client, youtube):
    vtt = "WEBVTT\n\n00:01.000 --> 00:02.000\nTranslated.\n"
    youtube.texts |= {"de": json.dumps(JSON3), "vtt": vtt, "odd": "<html>"}
    youtube.infos[ID] |= {
        "subtitles": {"en": [{"ext": "vtt", "url": "/api/timedtext?track=vtt"}]},
        "automatic_captions": {
            "de-orig": [{"ext": "json3", "url": "/api/timedtext?track=de"}],
            "fr": [{"ext": "json3", "url": "/api/timedtext?track=odd"}],
        },
    }
    spoken = await client.captions(ID, "")
    assert [(s.start, s.end, s.text) for s in spoken.segments] == [
        (0.5, 2.5, "Ein Satz."),
        (2.5, 5.5, "Noch einer."),
    ]
    assert spoken.notes
    assert [s.text for s in (await client.captions(ID, "en")).segments] == ["Translated."]
    with pytest.raises(VrError) as caught:
        await client.captions(ID, "fr")  # a translation by machine is none
    assert "de, en" in caught.value.hint


async def test_without_any_library_the_error_says_what_to_install(tmp_path, youtube, monkeypatch):
    for name in ("youtube_transcript_api", "yt_dlp"):
        monkeypatch.setitem(sys.modules, name, None)
    async with opened(tmp_path, youtube) as kernel:
        client = kernel.services.providers.get(YouTube)
        with pytest.raises(VrError, match="captions") as caught:
            await client.captions(ID, "")
        assert caught.value.category == "EXTRA_MISSING"
        with pytest.raises(VrError, match="Downloading") as caught:
            await client.download(ID, tmp_path, lambda _share, _said: None)
        assert "video-research[youtube]" in caught.value.hint


@pytest.fixture
def film(youtube: FakeYouTube) -> bytes:
    content = bytes(range(256)) * 4000
    youtube.media["film.mp4"] = content
    youtube.infos[ID]["formats"] = [{"format_id": "18", "url": "/media/film.mp4", "ext": "mp4"}]
    return content


async def test_a_download_is_made_once(client, youtube, film, tmp_path):
    folder, shares = tmp_path / "down", list[float]()
    path = await client.download(ID, folder, lambda share, _said: shares.append(share))
    assert (path, path.read_bytes()) == (folder / f"{ID}.mp4", film)
    assert shares[-1] == 1.0
    assert shares == sorted(shares)
    youtube.requests.clear()
    again = [client.download(ID, folder, lambda _share, _said: None) for _ in range(2)]
    assert await asyncio.gather(*again) == [path, path]
    assert youtube.requests == []
    assert [item.name for item in folder.iterdir()] == [path.name]


async def test_old_downloads_make_room_but_not_the_one_that_is_asked_for(kernel, youtube, film):
    folder = kernel.services.providers.get(Downloads).folder
    await failure(kernel, "video_scenes", url=URL)  # what is no film is saved all the same
    left = folder / ".other000000.0.part"
    left.mkdir()
    for path in (left, folder / f"{ID}.mp4"):
        os.utime(path, (1, 1))
    youtube.requests.clear()
    await failure(kernel, "video_scenes", url=URL)
    assert [path.name for path in folder.iterdir()] == [f"{ID}.mp4"]
    assert not any("media" in str(request) for request in youtube.requests)


async def test_a_download_stops_when_it_is_cancelled(client, youtube, film, tmp_path):
    youtube.gate.clear()
    task = asyncio.create_task(client.download(ID, tmp_path / "down", lambda _s, _m: None))
    await asyncio.to_thread(youtube.begun.wait, 20)
    task.cancel()
    await asyncio.sleep(0)
    youtube.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert list((tmp_path / "down").iterdir()) == []


async def test_a_video_that_is_too_large_is_not_kept(tmp_path, youtube, film):
    async with opened(tmp_path, youtube, max_download_mb="1") as kernel:
        client = kernel.services.providers.get(YouTube)
        with pytest.raises(VrError) as caught:
            await client.download(ID, tmp_path / "down", lambda _share, _said: None)
    assert (caught.value.code, caught.value.category) == (Code.TOO_LARGE, "FILE_TOO_LARGE")
    assert list((tmp_path / "down").iterdir()) == []


async def test_a_download_that_takes_too_long(tmp_path, youtube, film):
    async with opened(tmp_path, youtube, download_deadline_s="0.000001") as kernel:
        client = kernel.services.providers.get(YouTube)
        with pytest.raises(VrError, match="not done within") as caught:
            await client.download(ID, tmp_path / "down", lambda _share, _said: None)
    assert caught.value.retryable


async def test_a_video_that_cannot_be_saved(client, youtube, film, tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(VrError) as caught:
        await client.download(ID, tmp_path / "file", lambda _share, _said: None)
    assert caught.value.category == "STATE_UNAVAILABLE"
    youtube.infos[ID] = {"error": "Private video"}
    with pytest.raises(VrError) as caught:
        await client.download(ID, tmp_path / "down", lambda _share, _said: None)
    assert caught.value.category == "VIDEO_PRIVATE"


async def test_a_disk_that_fills_up_is_said(youtube, film, tmp_path):
    resource = pytest.importorskip("resource", reason="limits are those of POSIX")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    address = f"{youtube.url}/watch?v={ID}"
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(VrError) as caught:
            await save_video(address, ID, tmp_path, VideoSettings(), lambda _share, _said: None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.category == "STATE_UNAVAILABLE"
    assert "There is no room in" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


async def test_nothing_is_printed(kernel, youtube, film, tmp_path, capfd):
    await kernel.services.providers.get(YouTube).download(
        ID, tmp_path / "d", lambda _share, _said: None
    )
    youtube.infos[ID] = {"error": "Private video"}
    await failure(kernel, "video_metadata", url=URL)
    assert capfd.readouterr().out == ""
