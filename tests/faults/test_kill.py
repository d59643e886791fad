"""SIGKILL while recording: what a client was told is recorded, is there afterwards."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from installation import SERVE
from server_process import EndedError, ServerProcess
from vr_server import connect

pytestmark = pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")
KILLS = 40


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_acknowledged_records_survive_many_kills(
    fresh_environment: Callable[..., dict[str, str]],
) -> None:
    _kill_and_check(fresh_environment(), KILLS)


def _kill_and_check(environment: dict[str, str], kills: int) -> None:
    """Kill servers that ingest at random moments, then ask a new one for every record."""
    state = Path(environment["HOME"]) / "state"
    environment |= {"VR_STATE_DIR": str(state)}
    chance = random.Random(7)
    acknowledged: dict[str, str] = {}
    for round_number in range(kills):
        acknowledged |= _record_until_killed(environment, round_number, chance)
    assert len(acknowledged) >= kills
    assert asyncio.run(_missing(environment, acknowledged)) == []
    with closing(sqlite3.connect(state / "journal.db")) as journal:
        assert journal.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def _record_until_killed(
    environment: dict[str, str], round_number: int, chance: random.Random
) -> dict[str, str]:
    """Object ids that the server confirmed before it died, with the text of each."""
    confirmed: dict[str, str] = {}
    fatal = chance.randrange(1, 30)
    with ServerProcess(environment, Path(environment["HOME"])) as server:
        server.shake_hands("2025-06-18")
        for number in range(1000):
            text = f"note {round_number}-{number}"
            properties = {"title": text, "summary": text, "video_id": text}
            arguments = {"collection": "VideoAnalyses", "properties": properties}
            try:
                asked = server.start("tools/call", name="knowledge_ingest", arguments=arguments)
                if number == fatal:
                    server.process.kill()
                answer = server.answer(asked)
            except (BrokenPipeError, EndedError):
                break
            confirmed[answer["result"]["structuredContent"]["object_ids"][0]] = text
    return confirmed


async def _missing(environment: dict[str, str], acknowledged: dict[str, str]) -> list[str]:
    async with connect(SERVE, env=environment, cwd=Path(environment["HOME"])) as client:
        found = [
            await client.call("knowledge_fetch", object_id=key, collection="VideoAnalyses")
            for key in acknowledged
        ]
    return [
        text
        for text, answer in zip(acknowledged.values(), found, strict=True)
        if not answer["found"] or answer["properties"]["title"] != text
    ]
