"""SIGKILL while recording: what a client was told is recorded, is there afterwards."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from installation import SERVE
from vr_server import connect

pytestmark = pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")
KILLS = 5
MANY_KILLS = 60


@pytest.mark.slow
def test_acknowledged_records_survive_a_kill(
    fresh_environment: Callable[..., dict[str, str]],
) -> None:
    _kill_and_check(fresh_environment(), KILLS)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_acknowledged_records_survive_many_kills(
    fresh_environment: Callable[..., dict[str, str]],
) -> None:
    _kill_and_check(fresh_environment(), MANY_KILLS)


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
    """Object ids that the server confirmed before it died, with what they hold."""
    server = subprocess.Popen(
        SERVE,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=environment["HOME"],
    )
    wire = Wire(server)
    wire.start()
    confirmed: dict[str, str] = {}
    fatal = chance.randrange(1, 30)
    for number in range(1000):
        text = f"note {round_number}-{number}"
        wire.send_call(number, text)
        if number == fatal:
            server.send_signal(signal.SIGKILL)
        answer = wire.answer()
        if answer is None:
            break
        confirmed[answer["result"]["structuredContent"]["object_ids"][0]] = text
    server.wait()
    server.stdin.close()
    server.stdout.close()
    return confirmed


class Wire:
    """JSON-RPC over a server's pipes, as bare as it gets."""

    def __init__(self, server: subprocess.Popen[bytes]) -> None:
        self.server = server

    def start(self) -> None:
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        self._send({"id": "start", "method": "initialize", "params": hello})
        self.answer()
        self._send({"method": "notifications/initialized"})

    def send_call(self, number: int, text: str) -> None:
        properties = {"title": text, "summary": text, "video_id": text}
        arguments = {"collection": "VideoAnalyses", "properties": properties}
        params = {"name": "knowledge_ingest", "arguments": arguments}
        self._send({"id": number, "method": "tools/call", "params": params})

    def answer(self) -> dict[str, Any] | None:
        line = self.server.stdout.readline()
        return json.loads(line) if line.endswith(b"\n") else None

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self.server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self.server.stdin.flush()
        except BrokenPipeError:
            pass


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
