"""Processes that pay, killed again and again: every job ends, no committed reply is paid again."""

from __future__ import annotations

import json
import os
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from paid_work import ASKED, PAID_STEP, paid_zoo, paying, recorded, rows
from paid_worker import AT_ONCE, ITEMS, OPEN_JOBS, Nursery
from server_process import ServerProcess
from vr_testing import FakeGemini

pytestmark = pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")
LATENCY_S = 0.02
LEASE_S = 2.0
MANY_LEASE_S = 1.0
"""Where many are killed: the jobs of each stand still for that long."""
OPEN = "SELECT 1 FROM job WHERE state = 'running'"
FRUITLESS = (
    "SELECT job.id FROM job LEFT JOIN step ON step.scope = 'job/' || job.id "
    "AND step.key IN ('run/' || runs, 'run/' || (runs - 1), 'run/' || (runs - 2)) "
    "WHERE state = 'running' AND runs >= 3 GROUP BY job.id HAVING COUNT(step.key) = 0"
)
"""Jobs that another kill would end: none of their last three runs got any further."""


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    """The service."""
    with FakeGemini() as service:
        service.latency = LATENCY_S
        yield service


def repeats(state: str | Path, gemini: FakeGemini) -> tuple[int, int]:
    """Count the requests that repeat a committed one, and those that repeat one in flight."""
    offset = time.time() - time.monotonic()
    committed = {
        json.loads(reply)["reply"]["text"].removeprefix("A fake answer to: "): at - offset
        for reply, at in rows(
            state, "jobs.db", f"SELECT reply, committed_at FROM step WHERE {PAID_STEP}"
        )
    }
    asked: dict[str, list[float]] = defaultdict(list)
    for request in gemini.requests_of(ASKED):
        asked[request.text].append(request.at)
    assert set(asked) == set(committed), "something was paid and not committed, or not paid"
    late = sum(at > committed[text] for text, times in asked.items() for at in times)
    return late, sum(len(times) - 1 for times in asked.values()) - late


def check_jobs(state: str | Path) -> int:
    """Every job is done, with its own answers in order, recorded once; returns how many."""
    jobs = rows(state, "jobs.db", "SELECT state, arguments, result FROM job")
    for ended, arguments, result in jobs:
        assert ended == "done"
        name, items = json.loads(arguments)["name"], json.loads(arguments)["items"]
        texts = json.loads(result)["result"]["texts"]
        assert texts == [f"A fake answer to: {name} item {number}" for number in range(items)]
        assert json.loads(result)["usage"]["calls"] == items
    texts = [json.loads(fields)["text"] for _, fields in recorded(state)]
    assert len(texts) == len(set(texts))
    for file in ("jobs.db", "journal.db", "usage.db"):
        assert rows(state, file, "PRAGMA integrity_check") == [("ok",)]
    # A process killed between the end of a job and its release leaves a lease that runs out.
    assert rows(state, "jobs.db", "SELECT * FROM lease WHERE expires_at > ?", time.time()) == []
    return len(jobs)


def kill_again_and_again(
    nursery: Nursery, gemini: FakeGemini, kills: int, chance: random.Random
) -> None:
    """Two processes work; one after the other is killed at any moment, and replaced."""
    alive = [nursery.start(), nursery.start()]
    for _ in range(kills):
        enough = len(gemini.requests) + chance.randrange(1, 25)
        gemini.wait(lambda: len(gemini.requests) >= enough, timeout=60)  # noqa: B023
        time.sleep(chance.random() * LATENCY_S * 2)  # the moment within a step is chance, too
        victim = chance.randrange(2)
        nursery.kill(alive[victim])
        alive[victim] = nursery.start()


def wait_for_the_end(nursery: Nursery, within: float = 60) -> None:
    """Wait until all processes have left by themselves."""
    end = time.monotonic() + within
    while any(nursery.lives(pid) for pid in nursery.pids):
        assert time.monotonic() < end, "some job does not end"
        time.sleep(0.05)


def wait_for_fruit(state: Path, within: float = 60) -> None:
    """Wait until no job would be given up after one more kill."""
    end = time.monotonic() + within
    while rows(state, "jobs.db", FRUITLESS):
        assert time.monotonic() < end, "some job does not get any further"
        time.sleep(0.05)


@pytest.mark.parametrize(
    "kills",
    [1, pytest.param(200, marks=[pytest.mark.slow, pytest.mark.timeout(900)])],
)
def test_no_kill_loses_a_job_or_repeats_a_committed_reply(
    kills: int, environ: Mapping[str, str], gemini: FakeGemini, tmp_path: Path
) -> None:
    lease_s = LEASE_S if kills == 1 else MANY_LEASE_S
    variables = paying(gemini, VR_KERNEL__LEASE_S=str(lease_s))
    environment = {**environ, **variables, "PATH": os.environ["PATH"]}
    started = time.monotonic()
    with Nursery(environment, tmp_path) as nursery:
        kill_again_and_again(nursery, gemini, kills, random.Random(kills))
        (tmp_path / "last").touch()
        wait_for_the_end(nursery)
    jobs = check_jobs(environ["VR_STATE_DIR"])
    committed, in_flight = repeats(environ["VR_STATE_DIR"], gemini)
    print(  # noqa: T201
        f"{kills} kills, {jobs} jobs, {len(gemini.requests_of(ASKED))} requests, repeats: "
        f"{committed} committed, {in_flight} in flight, {time.monotonic() - started:.0f} s"
    )
    assert committed == 0
    assert in_flight <= kills * AT_ONCE * OPEN_JOBS
    assert jobs * ITEMS == len(recorded(environ["VR_STATE_DIR"]))


def begin(server: ServerProcess, name: str) -> None:
    """Begin a batch; nobody waits for the answer."""
    arguments = {"name": name, "items": 20, "at_once": AT_ONCE}
    server.start("tools/call", name="paid_batch", arguments=arguments)


@pytest.mark.slow
def test_real_servers_are_killed(gemini: FakeGemini, tmp_path: Path) -> None:
    zoo, chance = paid_zoo(tmp_path / "zoo"), random.Random(3)
    environment = zoo.environment(**paying(gemini, VR_KERNEL__LEASE_S=str(LEASE_S)))
    gemini.latency = LATENCY_S * 5

    def serve() -> ServerProcess:
        server = ServerProcess(environment, zoo.work)
        server.shake_hands("2025-06-18")
        return server

    kills, under_way, state = 8, 0, zoo.folder / "state"
    alive = [serve(), serve()]
    for number in range(kills):
        before = len(gemini.requests_of(ASKED))
        begin(alive[number % 2], f"job {number}")
        enough = before + chance.randrange(5, 15)
        gemini.wait(lambda: len(gemini.requests_of(ASKED)) >= enough, 30)  # noqa: B023
        wait_for_fruit(state)
        under_way += AT_ONCE * len(rows(state, "jobs.db", OPEN))
        time.sleep(chance.random() * gemini.latency)
        with alive[number % 2]:
            alive[number % 2].process.kill()
        alive[number % 2] = serve()
    with alive[0] as server, alive[1]:
        jobs = server.call("job_list", limit=100)["structuredContent"]["jobs"]
        assert len(jobs) == kills
        for job in jobs:
            ended = server.call("job_result", job_id=job["job_id"], wait_s=60)["structuredContent"]
            assert ended["state"] == "done", ended["error"]
        assert server.stray_lines() == []
        assert server.finish() == 0
        assert alive[1].finish() == 0
    assert check_jobs(state) == kills
    committed, in_flight = repeats(state, gemini)
    print(f"{kills} kills of servers, repeats: {committed} committed, {in_flight} in flight")  # noqa: T201
    assert committed == 0
    assert in_flight <= under_way
