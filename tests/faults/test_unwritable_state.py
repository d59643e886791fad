"""A state folder that cannot be written: the work is still done, and it says what was lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from installation import SERVE
from vr_kernel.client import connect


@pytest.mark.slow
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
