"""`video_analyze(instruction="meeting")`: notes of a meeting, stored as such."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from lecture import Lecture
from videokit import open_kernel, recorded
from vr_testing import FakeGemini

SEEN = {
    "title": "Weekly call",
    "summary": "The release was planned.",
    "key_points": ["Release on Friday"],
    "timestamps": [],
    "topics": ["release"],
    "sentiment": "calm",
}
NOTES = {
    "participants": ["Ann", "Bo"],
    "decisions": ["Release on Friday"],
    "action_items": ["Bo writes the notes until Thursday"],
}


@pytest.fixture(scope="module")
def lecture() -> bytes:
    """A minute and a half of two slides."""
    return Lecture((45.0, 45.0), fps=1, size=(64, 36), container="matroska").encode()


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as fake:
        yield fake


def wants(name: str) -> Any:
    """True when the form of the answer has a field."""
    return lambda request: name in (request.schema or {}).get("properties", {})


@pytest.mark.parametrize("windows", [1, 2], ids=["at once", "in windows"])
async def test_a_meeting_gives_notes(tmp_path, lecture, gemini, windows):
    path = tmp_path / "call.mkv"
    path.write_bytes(lecture)
    gemini.answer({**SEEN, **NOTES}, when=wants("decisions"))
    environ = {"GEMINI_API_KEY": "a-key", "GOOGLE_GEMINI_BASE_URL": gemini.url}
    longest = {"longest_window_s": "60"} if windows > 1 else {}
    async with open_kernel(tmp_path, environ=environ, **longest) as kernel:
        analysis = await kernel.call(
            "video_analyze", file_path=str(path), instruction=" Meeting", use_cache=False
        )
        (notes,) = await recorded(kernel, "CallNotes")
    assert analysis.meeting.model_dump() == NOTES
    assert {name: notes[name] for name in NOTES} == NOTES
    assert (notes["title"], notes["topics_discussed"]) == ("Weekly call", ["release"])
    requests = gemini.requests_of("generateContent")
    assert len(requests) == (1 if windows == 1 else windows + 1)
    assert all("action items" in request.text for request in requests)


async def test_another_instruction_gives_none(tmp_path, lecture, gemini):
    path = tmp_path / "call.mkv"
    path.write_bytes(lecture)
    gemini.answer(SEEN, when=wants("title"))
    environ = {"GEMINI_API_KEY": "a-key", "GOOGLE_GEMINI_BASE_URL": gemini.url}
    async with open_kernel(tmp_path, environ=environ) as kernel:
        analysis = await kernel.call(
            "video_analyze", file_path=str(path), instruction="Is this a meeting?"
        )
        assert await recorded(kernel, "CallNotes") == []
    assert analysis.meeting is None
    assert "meeting" not in analysis.model_dump()
