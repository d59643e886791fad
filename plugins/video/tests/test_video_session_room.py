"""Turns of sessions on a disk that fills up: none is missing, and they stand in order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sessionkit import asked, echo, key_for
from videokit import open_kernel, recorded, silence
from vr_kernel import Kernel, VrError
from vr_testing import FakeGemini
from vr_testing.full_disk import no_room
from vr_testing.gemini.request import RecordedRequest


async def ask(kernel: Kernel, session_id: str, prompt: str) -> Any:
    return await kernel.call("video_continue_session", session_id=session_id, prompt=prompt)


@pytest.fixture
def full() -> Iterator[ExitStack]:
    """The files that the disk has no room for."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def gemini(full: ExitStack) -> Iterator[FakeGemini]:
    """A service during whose second answer the disk fills up."""

    def answer(request: RecordedRequest) -> str:
        if "Two?" in str(request.body["contents"][-1]):
            full.enter_context(no_room(4096))
        return echo(request)

    with FakeGemini() as fake:
        fake.answer(answer)
        yield fake


@pytest.mark.slow
async def test_turns_without_room_are_held_in_order(
    tmp_path: Path, gemini: FakeGemini, full: ExitStack
) -> None:
    talk = tmp_path / "talk.wav"
    talk.write_bytes(silence(5, 8000))
    async with open_kernel(tmp_path, environ=key_for(gemini)) as kernel:
        session_id = (await kernel.call("video_create_session", file_path=str(talk))).session_id
        assert (await ask(kernel, session_id, "One?")).turn_count == 1
        paid = len(asked(gemini))
        try:
            second = await ask(kernel, session_id, "Two?")
            assert second.turn_count == 2
            assert any("held in memory" in limit for limit in second.limits)
            with pytest.raises(VrError) as caught:
                await ask(kernel, session_id, "Three?")
            assert (caught.value.category, caught.value.retryable) == ("STATE_UNAVAILABLE", True)
            assert len(asked(gemini)) == paid + 1
            listed = await kernel.call("video_list_sessions")
            assert [session.turn_count for session in listed.sessions] == [2]
        finally:
            full.close()
        assert (await ask(kernel, session_id, "Three?")).turn_count == 3
        said = await recorded(kernel, "SessionTranscripts")
        assert len(said) == 3
    async with open_kernel(tmp_path, environ=key_for(gemini)) as kernel:
        exported = await kernel.call("video_export_session", session_id=session_id)
    text = await asyncio.to_thread(Path(exported.path).read_text, "utf-8")
    places = [text.index(f"You asked: {each}?") for each in ("One", "Two", "Three")]
    assert places == sorted(places)
