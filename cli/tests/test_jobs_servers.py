"""Servers that end, or are killed, while they work: what is paid stays, and goes on elsewhere."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from paid_work import ASKED, PAID_STEP, asked, paid_zoo, paying, rows
from plugin_zoo import Zoo
from server_process import ServerProcess
from vr_testing import FakeGemini

pytestmark = pytest.mark.slow
HANDLE_AFTER_S = 0.5
LATENCY_S = 0.4
LONG_LEASE = {"VR_KERNEL__LEASE_S": "20"}
"""For servers that are not killed: one that is busy would lose a short lease, and its run."""


@pytest.fixture
def pair(tmp_path: Path) -> Zoo:
    """Folders of its own for one test."""
    return paid_zoo(tmp_path / "pair")


def serve(zoo: Zoo, gemini: FakeGemini, **more: str) -> ServerProcess:
    """A server that is spoken to line by line."""
    server = ServerProcess(zoo.environment(**paying(gemini, **more)), zoo.work)
    server.shake_hands("2025-06-18")
    return server


def outcome(server: ServerProcess, job_id: str) -> dict[str, Any]:
    """Wait for the end of a job; its result."""
    ended: dict[str, Any] = server.call("job_result", job_id=job_id, wait_s=60)["structuredContent"]
    return ended


def all_answers(server: ServerProcess, requests: list[int]) -> list[dict[str, Any]]:
    """The results of requests, which may be answered in any order."""
    for request in requests:
        if not any(json.loads(line).get("id") == request for line in server.lines):
            server.answer(request)
    found = [json.loads(line) for line in server.lines]
    return [it["result"]["structuredContent"] for it in found if it.get("id") in requests]


def wait_for_steps(zoo: Zoo, count: int) -> None:
    """Wait until so many replies are committed."""
    deadline = time.monotonic() + 20
    while (
        len(rows(zoo.folder / "state", "jobs.db", f"SELECT 1 FROM step WHERE {PAID_STEP}")) < count
    ):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_request_that_its_client_cancels_ends(pair: Zoo, gemini: FakeGemini) -> None:
    with serve(pair, gemini) as server, gemini.hold():
        arguments = {"name": "gone", "items": 3}
        request = server.start("tools/call", name="paid_batch", arguments=arguments)
        gemini.wait(lambda: gemini.in_flight == 3)
        server.notify("notifications/cancelled", requestId=request)
        gemini.wait(lambda: gemini.cancelled == 3)
        gemini.wait(lambda: gemini.in_flight == 0)
        jobs = server.call("job_list")["structuredContent"]["jobs"]
        assert [job["state"] for job in jobs] in (["cancelled"], ["running"])
        ended = outcome(server, jobs[0]["job_id"])
        assert (ended["state"], ended["result"]) == ("cancelled", None)
    assert rows(pair.folder / "state", "journal.db", "SELECT * FROM record") == []
    assert rows(pair.folder / "state", "jobs.db", "SELECT * FROM step") == []


def test_a_job_goes_on_in_the_next_server(pair: Zoo, gemini: FakeGemini) -> None:
    gemini.latency = LATENCY_S / 2
    soon = {"VR_KERNEL__HANDLE_AFTER_S": str(HANDLE_AFTER_S)}
    with serve(pair, gemini, **LONG_LEASE, **soon) as server:
        handle = server.call("paid_batch", name="on", items=12, at_once=2)["structuredContent"]
        wait_for_steps(pair, 3)
        assert server.finish() == 0
    state = pair.folder / "state"
    committed = len(rows(state, "jobs.db", f"SELECT 1 FROM step WHERE {PAID_STEP}"))
    assert 0 < committed < 12
    in_flight = len(gemini.requests_of(ASKED)) - committed
    assert 0 <= in_flight <= 2
    with serve(pair, gemini, **LONG_LEASE) as server:
        ended = outcome(server, handle["job_id"])
        assert ended["state"] == "done"
        assert ended["usage"]["calls"] == 12
        jobs = server.call("job_list")["structuredContent"]["jobs"]
        assert [(job["job_id"], job["runs"]) for job in jobs] == [(handle["job_id"], 2)]
    assert len(asked(gemini)) == 12
    assert len(gemini.requests_of(ASKED)) <= 12 + in_flight
    ids = {
        json.loads(it)["call_id"]
        for (it,) in rows(state, "journal.db", "SELECT provenance FROM record")
    }
    assert ids == {handle["job_id"]}
    assert len(rows(state, "journal.db", "SELECT key FROM record")) == 12


def test_the_other_server_goes_on_when_one_is_killed(pair: Zoo, gemini: FakeGemini) -> None:
    with serve(pair, gemini) as first, serve(pair, gemini) as second:
        with gemini.hold():
            first.start("tools/call", name="paid_once", arguments={"question": "killed"})
            gemini.wait(lambda: gemini.in_flight == 1)
            calls = [
                second.start("tools/call", name="paid_once", arguments={"question": "killed"})
                for _ in range(25)
            ]
            first.process.kill()
            gemini.wait(lambda: len(gemini.requests_of(ASKED)) == 2)
        answers = all_answers(second, calls)
        assert {answer["text"] for answer in answers} == {"A fake answer to: killed"}
        assert asked(gemini) == {"killed": 2}
        # The job of the one that was killed has the same answer, which is not paid again.
        ((job_id,),) = rows(
            pair.folder / "state", "jobs.db", "SELECT id FROM job ORDER BY created_at LIMIT 1"
        )
        ended = outcome(second, job_id)
        assert ended["state"] == "done"
        assert ended["result"]["cached"]
        assert asked(gemini) == {"killed": 2}
    assert len(rows(pair.folder / "state", "journal.db", "SELECT * FROM record")) == 1
    assert rows(pair.folder / "state", "jobs.db", "PRAGMA integrity_check") == [("ok",)]


def test_a_committed_reply_outlives_its_server(pair: Zoo, gemini: FakeGemini) -> None:
    with serve(pair, gemini) as first, serve(pair, gemini) as second:
        gemini.latency = LATENCY_S / 4
        arguments = {"name": "kept", "items": 6, "at_once": 1}
        first.start("tools/call", name="paid_batch", arguments=arguments)
        wait_for_steps(pair, 3)
        first.process.kill()
        first.process.wait()
        committed = len(
            rows(pair.folder / "state", "jobs.db", f"SELECT 1 FROM step WHERE {PAID_STEP}")
        )
        ((job_id,),) = rows(pair.folder / "state", "jobs.db", "SELECT id FROM job")
        assert outcome(second, job_id)["state"] == "done"
        repeats = {text: times for text, times in asked(gemini).items() if times > 1}
        assert len(gemini.requests_of(ASKED)) <= 7
        assert all(int(text.rpartition(" ")[2]) >= committed for text in repeats)


def test_where_nothing_can_be_kept_nothing_is_paid(pair: Zoo, gemini: FakeGemini) -> None:
    gemini.latency = LATENCY_S
    (pair.folder / "state").touch()  # where the folder should be
    with serve(pair, gemini, VR_KERNEL__HANDLE_AFTER_S="0.1") as server:
        result = server.call("paid_batch", name="whole", items=2)
        assert result["isError"]
        assert json.loads(result["content"][1]["text"])["category"] == "STATE_UNAVAILABLE"
    assert gemini.requests == []
