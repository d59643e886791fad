"""Recordings as documents for other plugins."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from lecture import Lecture
from vr_plugin_video import plugin
from vr_testing import DocumentLoaderContract

SRT = """1
00:00:00,500 --> 00:00:01,500
Words of the beginning.

2
00:00:02,500 --> 00:00:03,500
Words of the end.
"""


class TestMediaLoader(DocumentLoaderContract):
    """Promises of every loader."""

    plugins: ClassVar = {"video": plugin}
    provider = "video"
    name = "talk.mkv"
    words = ("Words of the beginning.", "Words of the end.")

    def write(self, path: Path) -> None:
        path.write_bytes(Lecture((2.0, 2.0), container="matroska").encode())
        path.with_suffix(".srt").write_text(SRT)

    async def test_segments_open_the_video_at_their_time(self) -> None:
        """Times and links."""
        async with self._at_desk() as desk:
            path = await self._sample(desk)
            document = await desk.load(str(path))
            last = document.segments[-1]
            assert last.locator.as_dict() == {"start": 2.5, "end": 3.5}
            assert last.link == f"{path.as_uri()}#t=2"
            assert document.mime == "video/x-matroska"


@pytest.mark.parametrize(
    ("source", "taken"),
    [
        ("https://youtu.be/dQw4w9WgXcQ", True),
        ("https://www.youtube.com/playlist?list=PL1", False),
        ("https://example.com/a/talk.webm?x=1", True),
        ("https://example.com/a/page", False),
        ("ftp://example.com/talk.webm", False),
        ("talk.MP3", True),
        ("notes.md", False),
    ],
)
async def test_addresses_are_taken_by_their_form(source: str, taken: bool) -> None:
    async with TestMediaLoader().opened() as loader:
        assert loader.takes(source) is taken
