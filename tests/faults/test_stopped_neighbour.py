"""One of two servers on a state folder is suspended in the middle of its writes, and goes on."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from installation import SERVE
from vr_kernel import VrError
from vr_server import ToolClient, connect
from vr_testing import FakeGemini

pytestmark = pytest.mark.skipif(os.name == "nt", reason="SIGSTOP is POSIX")
STOPS = 6
SEED = 5
CALL_S = 15.0
"""No tool takes longer, whoever stands still."""
READ_S = 3.0
"""The same for tools that only read."""
COLLECTION = "VideoAnalyses"
READS: dict[str, dict[str, Any]] = {
    "knowledge_search": {"query": "note"},
    "knowledge_stats": {},
    "job_list": {},
    "infra_usage": {},
}


class Neighbours:
    """Two servers, what they confirmed, and how long calls took."""

    def __init__(self, stopped: ToolClient, awake: ToolClient, process: int) -> None:
        self.stopped = stopped
        self.awake = awake
        self.process = process
        self.recorded: dict[str, str] = {}
        self.committed: set[str] = set()
        self.slowest: Counter[str] = Counter()
        self.refused: list[VrError] = []

    async def record(self, client: ToolClient, text: str) -> None:
        """Record a note; what is confirmed is kept in mind."""
        properties = {"title": text, "summary": text, "video_id": text}
        answer = await client.call("knowledge_ingest", collection=COLLECTION, properties=properties)
        self.recorded[answer["object_ids"][0]] = text

    async def timed(self, name: str, work: Any) -> Any:
        """Result of a call; one that is refused because of the other says so, and is retryable."""
        begun = time.monotonic()
        try:
            return await work
        except VrError as error:
            self.refused.append(error)
            return None
        finally:
            took = time.monotonic() - begun
            self.slowest[name] = max(self.slowest[name], took)


async def writing(both: Neighbours, round_number: int) -> None:
    """Write without end, until cancelled."""
    for number in range(10_000):
        with suppress(VrError):
            await both.record(both.stopped, f"theirs {round_number}-{number}")


async def stop_once(
    both: Neighbours, number: int, chance: random.Random, talk: Path, kept: Callable[[], int]
) -> None:
    question = {"file_path": str(talk), "instruction": f"Look closely, {number}."}
    before = kept()
    theirs = [asyncio.create_task(writing(both, number)) for _ in range(4)]
    equal = asyncio.create_task(both.stopped.call("video_analyze", **question))
    await asyncio.sleep(chance.uniform(0.02, 0.5))  # the moment is the point
    os.kill(both.process, signal.SIGSTOP)
    if kept() > before:
        both.committed.add(question["instruction"])
    try:
        for name, arguments in READS.items():
            await both.timed(name, both.awake.call(name, **arguments))
        for part in range(3):
            await both.timed("knowledge_ingest", both.record(both.awake, f"ours {number}-{part}"))
        await both.timed("video_analyze", both.awake.call("video_analyze", **question))
        await both.timed("after", both.awake.call("knowledge_search", query="ours"))
    finally:
        os.kill(both.process, signal.SIGCONT)
    await asyncio.wait({equal})
    assert equal.exception() is None, equal.exception()
    for one in theirs:
        one.cancel()
    await asyncio.gather(*theirs, return_exceptions=True)
    await both.awake.call("video_analyze", **question)


def kept_in(home: Path) -> int:
    """The number of paid replies that are committed, as steps or in results."""
    counted = 0
    for name, table in (("state/jobs.db", "step"), ("cache/results.db", "result")):
        with closing(sqlite3.connect(home / name, timeout=30)) as file:
            counted += file.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    return counted


async def run(environment: dict[str, str], talk: Path) -> tuple[Neighbours, list[str]]:
    home = Path(environment["HOME"])
    start = ["sh", "-c", f'echo $$ > "{home}/pid"; exec "$@"', "sh", *SERVE]
    chance = random.Random(SEED)
    async with (
        connect(start, env=environment, cwd=home) as stopped,
        connect(SERVE, env=environment, cwd=home) as awake,
    ):
        process = int(await asyncio.to_thread((home / "pid").read_text))
        both = Neighbours(stopped, awake, process)
        await both.record(awake, "the first")
        await awake.call("knowledge_search", query="first")
        # A file that is being made cannot be read while its maker stands still: make all of them.
        await stopped.call("video_analyze", file_path=str(talk), instruction="Look first.")
        for number in range(STOPS):
            await stop_once(both, number, chance, talk, partial(kept_in, home))
        left = []
        for key, text in both.recorded.items():
            found = await awake.call("knowledge_fetch", object_id=key, collection=COLLECTION)
            if not found["found"] or found["properties"]["title"] != text:
                left.append(text)
    return both, left


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_suspended_server_holds_nobody_up_and_nothing_is_lost(
    fresh_environment: Callable[..., dict[str, str]], talk: Path
) -> None:
    with FakeGemini() as gemini:
        environment = fresh_environment(
            GEMINI_API_KEY="a-key",
            GOOGLE_GEMINI_BASE_URL=gemini.url,
            VR_ALLOWED_ROOTS=str(talk.parent),
            VR_KERNEL__LEASE_S="3",
            VR_KERNEL__HANDLE_AFTER_S="6",
        )
        home = environment["HOME"]
        environment |= {"VR_STATE_DIR": f"{home}/state", "VR_CACHE_DIR": f"{home}/cache"}
        both, lost = asyncio.run(run(environment, talk))
        paid = Counter(request.text for request in gemini.requests_of("generateContent"))
        state = Path(environment["VR_STATE_DIR"])
    told = f"seed {SEED}: {both.slowest}, {[str(error) for error in both.refused]}"
    assert max(both.slowest.values()) < CALL_S, told
    assert max(both.slowest[name] for name in [*READS, "after"]) < READ_S, told
    for error in both.refused:
        assert (error.code, error.retryable) == ("UNAVAILABLE", True), error
        assert "Another process holds" in error.message, error
        assert str(both.process) in error.hint, error
    for text, times in paid.items():  # what was under way at the stop may be asked once more
        assert times <= 1 + (text.split(".")[0] + "." not in both.committed), (text, told)
    assert lost == []
    for name in ("journal.db", "jobs.db", "usage.db", "knowledge.db"):
        with closing(sqlite3.connect(state / name)) as file:
            assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
