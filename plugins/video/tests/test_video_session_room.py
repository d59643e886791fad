"""Turns of sessions on a disk that fills up: none is missing, and they stand in order."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
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


ELSEWHERE = """
import asyncio, json, os, resource, sys
from pathlib import Path
from videokit import open_kernel

async def main():
    folder, session_id, environ = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
    async with open_kernel(folder, environ=environ) as kernel:
        question = {"session_id": session_id, "prompt": "Else?"}
        print((await kernel.call("video_continue_session", **question)).turn_count)

_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
asyncio.run(main())
"""


async def ask_elsewhere(folder: Path, gemini: FakeGemini, session_id: str) -> int:
    """Ask in another process, whose disk has room; returns the number of the turn."""
    arguments = (str(folder), session_id, json.dumps(key_for(gemini)))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", ELSEWHERE, *arguments),
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        stdout=subprocess.PIPE,
    )
    said, _ = await process.communicate()
    assert process.returncode == 0
    return int(said)


@pytest.mark.slow
async def test_a_turn_that_waits_for_room_comes_after_that_of_another_process(
    tmp_path: Path, gemini: FakeGemini, full: ExitStack
) -> None:
    talk = tmp_path / "talk.wav"
    talk.write_bytes(silence(5, 8000))
    async with open_kernel(tmp_path, environ=key_for(gemini)) as kernel:
        session_id = (await kernel.call("video_create_session", file_path=str(talk))).session_id
        await ask(kernel, session_id, "One?")
        try:
            second = await ask(kernel, session_id, "Two?")
            assert any("held in memory" in limit for limit in second.limits)
            assert await ask_elsewhere(tmp_path, gemini, session_id) == 2
        finally:
            full.close()
    async with open_kernel(tmp_path, environ=key_for(gemini)) as kernel:
        assert (await ask(kernel, session_id, "Last?")).turn_count == 4
        exported = await kernel.call("video_export_session", session_id=session_id)
    text = await asyncio.to_thread(Path(exported.path).read_text, "utf-8")
    asked_in_order = [text.index(f"You asked: {each}?") for each in ("One", "Else", "Two", "Last")]
    assert asked_in_order == sorted(asked_in_order)
    assert text.count("You asked: ") == 4
