"""A state folder that cannot be written: the work is still done, and it says what was lost."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from installation import SERVE
from lost_journal import CONCEPTS, opened
from vr_server import build_server, connect


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_the_answer_comes_and_says_that_it_was_not_recorded(
    talk: Path, fresh_environment: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    # A file where the folder should be cannot be written by anybody, root included.
    blocked = tmp_path / "blocked"
    blocked.touch()
    environment = fresh_environment(
        VR_ALLOWED_ROOTS=str(talk.parent),
        VR_STATE_DIR=str(blocked / "state"),
        VR_CACHE_DIR=str(blocked / "cache"),
        VR_VIDEO__SPEECH_MODEL="none",  # neither words nor slides are read: that is what takes long
        VR_KERNEL__DISABLED="ocr-rapidocr,ocr-tesseract",
    )
    first, second, searched = asyncio.run(_watch(talk, environment))
    for answer in (first, second):
        assert not answer.is_error, answer.content
        assert len(answer.structured_content["timestamps"]) == 6
        assert any("Not recorded" in block.text for block in answer.content)
    assert not second.structured_content["cached"]
    assert searched.is_error or searched.structured_content["results"] == []


async def _watch(talk: Path, environment: dict[str, str]) -> tuple[Any, Any, Any]:
    async with connect(SERVE, env=environment, cwd=talk.parent) as client:
        arguments = {"file_path": str(talk)}
        answers = [
            await client.client.call_tool("video_analyze", arguments, raise_on_error=False)
            for _ in range(2)
        ]
        searched = await client.client.call_tool(
            "knowledge_search", {"query": "index"}, raise_on_error=False
        )
    return answers[0], answers[1], searched


def block(state: Path, away: Path) -> None:
    """Put a file in the place of the folder, which what runs in the background may make again."""
    state.rename(away)
    while not state.is_file():
        shutil.rmtree(state, ignore_errors=True)
        with suppress(FileExistsError):
            state.touch(exist_ok=False)


def free(state: Path, away: Path) -> None:
    state.unlink()
    while away.exists():
        shutil.rmtree(state, ignore_errors=True)
        with suppress(OSError):
            away.rename(state)


@pytest.mark.slow
async def test_the_log_of_a_server_says_it_once_each_time(folder: Path) -> None:
    """Not once for each call; and whoever calls may not be who reads the log."""
    told: list[str] = []

    def hear(level: str, event: str, fields: Mapping[str, Any]) -> None:
        if (level, event) == ("warning", "calls fail"):
            told.append(f"{fields['tool']}: {fields['reason']} {fields['hint']}")

    async def record(client: Client[Any]) -> bool:
        properties = {"concept_name": "fox", "description": "brown"}
        arguments = {"collection": CONCEPTS, "properties": properties}
        done = await client.call_tool("knowledge_ingest", arguments, raise_on_error=False)
        return not done.is_error

    state, away = folder / "state", folder / "away"
    async with opened(folder) as kernel, Client(build_server(kernel)) as client:
        with kernel.log.heard_by(hear):
            for times in (1, 2):
                block(state, away)
                assert [await record(client) for _ in range(3)] == [False] * 3
                assert len(told) == times, told
                free(state, away)
                assert await record(client)
    assert "knowledge_ingest: journal.db cannot be used" in told[0]
    assert "`vr doctor`" in told[0]
