"""Kept results of another shape heal through the tools; those of before are found."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from lecture import Lecture
from test_video_gemini import SEEN, key_for
from test_video_model_transcript import NO_MODEL, SAID
from tones import Tone
from videokit import Reader, line, open_kernel
from vr_kernel import Kernel, cache_key
from vr_plugin_video.vision.watching import VERSION
from vr_testing import FakeGemini
from youtube_server import KEY, FakeYouTube, player, video

ID = "dQw4w9WgXcQ"
URL = f"https://youtu.be/{ID}"
XML = '<transcript><text start="0" dur="4">An embedding stands for a text.</text></transcript>'
OTHER_SHAPES: list[dict[str, Any]] = [
    {},
    {"other": 1},
    {"segments": [{"from": 1, "to": 2, "words": "older"}], "origin": "captions"},
    {"transcript": {"lines": []}, "cached": False},
    {"slides": [{"at": 3.0}], "found": 1},
    {"found": 0},
    {"records": "many"},
    {"title": "half of it"},
]


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as fake:
        fake.answer(SEEN, when=lambda request: "title" in (request.schema or {})["properties"])
        fake.answer(SAID, when=lambda request: "lines" in (request.schema or {})["properties"])
        yield fake


@pytest.fixture
def film(tmp_path: Path) -> Path:
    path = tmp_path / "film.mp4"
    path.write_bytes(Tone(8.0, rate=8000, layout="mono", pictures=8.0).encode())
    return path


async def replace_all(kernel: Kernel, row: dict[str, Any]) -> None:
    """Every kept result becomes that row, well-formed and under the same key."""
    with closing(sqlite3.connect(kernel.services.cache.path)) as connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM result")]
    for key in keys:
        await kernel.services.cache.set(key, row)


def told(result: Any) -> dict[str, Any]:
    """Return what a result says, without what tells a kept one from a new one."""
    says: dict[str, Any] = result.model_dump(exclude={"cached", "usage", "elapsed_s"})
    return says


@pytest.mark.parametrize(
    "rows", [OTHER_SHAPES[:3], pytest.param(OTHER_SHAPES[3:], marks=pytest.mark.slow)]
)
async def test_rows_of_another_shape_are_paid_once_more_and_heal(gemini, film, tmp_path, rows):
    calls: list[tuple[str, dict[str, Any]]] = [
        ("video_transcript", {"engine": "gemini"}),
        ("video_analyze", {"engine": "gemini"}),
        ("video_scenes", {}),
    ]
    async with open_kernel(tmp_path, environ=key_for(gemini), **NO_MODEL) as kernel:

        async def ask() -> list[Any]:
            return [await kernel.call(t, file_path=str(film), **more) for t, more in calls]

        first = await ask()
        assert gemini.bill.calls == 2
        for row in rows:
            paid = gemini.bill.calls
            await replace_all(kernel, row)
            again = await ask()
            assert [told(result) for result in again] == [told(result) for result in first]
            assert gemini.bill.calls == paid + 2
            assert all(result.cached for result in await ask())
            assert gemini.bill.calls == paid + 2


async def test_captions_of_a_web_video_heal(tmp_path):
    pytest.importorskip("youtube_transcript_api", reason="youtube-transcript-api is missing")
    pytest.importorskip("googleapiclient", reason="the client of the Data API is missing")
    known = FakeYouTube(
        videos={ID: video(ID)}, players={ID: player(("en", False))}, texts={"en": XML}
    )
    with known.running() as youtube:
        environ = {"YOUTUBE_API_KEY": KEY}
        address = {"youtube_api_endpoint": youtube.url, "youtube_site": youtube.url}
        async with open_kernel(tmp_path, environ=environ, **address) as kernel:
            first = await kernel.call("video_transcript", url=URL)
            for row in OTHER_SHAPES[:3]:
                await replace_all(kernel, row)
                again = await kernel.call("video_transcript", url=URL)
                assert [s.text for s in again.segments] == [s.text for s in first.segments]
            asked = len(youtube.requests)
            await kernel.call("video_transcript", url=URL)
            assert len(youtube.requests) == asked


async def test_scenes_that_an_earlier_version_kept_are_found_without_looking(tmp_path):
    reader = Reader(lambda _: [line("Never read", 30)])
    path = tmp_path / "lecture.mkv"
    path.write_bytes(Lecture((5.0, 5.0), gop=80, container="matroska").encode())
    async with open_kernel(tmp_path, plugins={"ocr": reader.plugin()}) as kernel:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        parts = {"content": content, "start": 0.0, "end": None}
        key = cache_key(stage="slides", version=VERSION, most=40, ocr="reader", **parts)
        slide = {"start": 0.0, "end": 5.0, "title": "Kept", "lines": [], "thumbnail_uri": ""}
        whole = {"found": 1, "complete": True, "recognizer": "reader", "failure": ""}
        slides = [{**slide, "thumbnail_path": ""}]
        await kernel.services.cache.set(key, {"slides": slides, **whole})
        for _ in range(2):
            scenes = await kernel.call("video_scenes", file_path=str(path))
            assert [scene.title for scene in scenes.scenes] == ["Kept"]
            assert scenes.cached
    assert reader.seen == []
