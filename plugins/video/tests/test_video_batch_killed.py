"""Batches of processes that are killed: every one ends, no committed reply is paid again."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Self

import batch_worker
import pytest
from batch_worker import AT_ONCE, ITEMS, OPEN_JOBS
from lecture import Lecture
from test_video_batch import end_of, fill
from test_video_gemini import SEEN, asked, key_for
from vr_kernel.state.sqlite.ledger import open_ledger
from vr_testing import FakeGemini

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX"),
]
LATENCY_S = 0.03
REMEMBER = """
CREATE TABLE committed (question TEXT, at REAL);
CREATE TRIGGER remember AFTER INSERT ON step WHEN NEW.scope LIKE 'result/%' BEGIN
    INSERT INTO committed SELECT
        json_extract(json_extract(CAST(NEW.reply AS TEXT), '$.reply.text'), '$.title'),
        NEW.committed_at;
END;
"""
"""Steps are forgotten once their result is kept; this remembers when each was committed."""


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as service:
        service.latency = LATENCY_S
        service.answer(lambda request: {**SEEN, "title": question(request)})
        yield service


def question(request: Any) -> str:
    """Return the video and the batch that a request is about."""
    (batch,) = re.findall(r"\b[0-9a-f]{32}\b", request.text)
    return f"{batch} {int.from_bytes(end_of(request), 'big')}"


class Nursery:
    """The parent of the worker program: makes processes, and kills them."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self.pids: list[int] = []
        self._program = subprocess.Popen(
            [sys.executable, batch_worker.__file__, str(folder)],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for pid in list(self.pids):
            self.kill(pid)
        with self._program:
            self._program.stdin.close()

    def start(self) -> int:
        self._program.stdin.write("\n")
        self._program.stdin.flush()
        self.pids.append(int(self._program.stdout.readline()))
        return self.pids[-1]

    def kill(self, pid: int) -> None:
        if self.lives(pid):
            os.kill(pid, signal.SIGKILL)
        self.pids.remove(pid)

    def lives(self, pid: int) -> bool:
        with suppress(ProcessLookupError):
            os.kill(pid, 0)
            return True
        return False

    def wait(self, within: float = 100) -> None:
        """Wait until all processes have ended by themselves."""
        end = time.monotonic() + within
        while any(self.lives(pid) for pid in self.pids):
            assert time.monotonic() < end, "some job does not end"
            time.sleep(0.05)


def kill_again_and_again(nursery: Nursery, gemini: FakeGemini, kills: int) -> None:
    """Two processes work; one after the other is killed at any moment, and replaced."""
    chance = random.Random(kills)
    alive = [nursery.start(), nursery.start()]
    for _ in range(kills):
        enough = len(asked(gemini)) + chance.randrange(1, 40)
        gemini.wait(lambda: len(asked(gemini)) >= enough, timeout=60)  # noqa: B023
        time.sleep(chance.random() * LATENCY_S * 2)  # the moment within a step is chance, too
        victim = chance.randrange(2)
        nursery.kill(alive[victim])
        alive[victim] = nursery.start()


def rows(state: Path, file: str, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(state / file)) as connection:
        return connection.execute(query).fetchall()


def repeats(state: Path, gemini: FakeGemini) -> tuple[int, int]:
    """Count the requests that repeat a committed one, and those that repeat one in flight."""
    offset = time.time() - time.monotonic()
    committed: dict[str, float] = {}
    for title, at in rows(state, "jobs.db", "SELECT question, at FROM committed"):
        committed[title] = min(at - offset, committed.get(title, at))
    times: dict[str, list[float]] = defaultdict(list)
    for request in asked(gemini):
        times[question(request)].append(request.at)
    assert set(times) == set(committed), "something was paid and not committed, or not paid"
    late = sum(at > committed[title] for title, all_at in times.items() for at in all_at)
    return late, sum(len(all_at) - 1 for all_at in times.values()) - late


def check_jobs(state: Path) -> int:
    """Every batch is done, with all its videos, each recorded once; returns how many there are."""
    jobs = rows(state, "jobs.db", "SELECT state, arguments, result FROM job")
    for ended, arguments, result in jobs:
        assert ended == "done"
        found, batch = json.loads(result)["result"], json.loads(arguments)["instruction"]
        assert (found["total"], found["ok"]) == (ITEMS, ITEMS)
        assert found["usage"]["calls"] == ITEMS
        # A title of many tokens is cut in the answer.
        assert all(item["title"].startswith(batch[:16]) for item in found["items"])
    records = rows(state, "journal.db", "SELECT fields FROM record WHERE kind = 'VideoAnalyses'")
    titles = Counter(json.loads(fields)["title"] for (fields,) in records)
    assert set(titles.values()) == {1}
    assert len(titles) == len(jobs) * ITEMS
    return len(jobs)


@pytest.mark.parametrize("kills", [10, 200])
def test_no_kill_loses_a_batch_or_repeats_a_committed_reply(
    kills: int, gemini: FakeGemini, tmp_path: Path
) -> None:
    videos, state = tmp_path / "videos", tmp_path / "state"
    for folder in (videos, state):
        folder.mkdir()
    lecture = Lecture((10.0, 10.0), size=(64, 36), fps=1, container="matroska")
    fill(videos, lecture.encode(), ITEMS)
    ledger = open_ledger(state / "jobs.db")
    ledger.run_blocking(lambda connection: connection.execute("SELECT 1"))
    ledger.close()
    with closing(sqlite3.connect(state / "jobs.db")) as connection:
        connection.executescript(REMEMBER)
    own = {f"VR_{name}_DIR": str(tmp_path / name.lower()) for name in ("STATE", "CONFIG", "CACHE")}
    settings = {"VR_VIDEO__BATCH_CONCURRENCY": str(AT_ONCE), "VR_KERNEL__LEASE_S": "1"}
    environment = {**own, **settings, **key_for(gemini), "PATH": os.environ["PATH"]}
    started = time.monotonic()
    with Nursery({**environment, "HOME": str(tmp_path)}, tmp_path) as nursery:
        kill_again_and_again(nursery, gemini, kills)
        (tmp_path / "last").touch()
        nursery.wait()
    jobs = check_jobs(state)
    committed, in_flight = repeats(state, gemini)
    print(  # noqa: T201
        f"{kills} kills, {jobs} batches, {len(asked(gemini))} requests, repeats: "
        f"{committed} committed, {in_flight} in flight, {time.monotonic() - started:.0f} s"
    )
    assert committed == 0
    assert in_flight <= kills * AT_ONCE * OPEN_JOBS
