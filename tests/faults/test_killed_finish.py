"""A process is killed at each commit of the end of a call: all that it keeps agrees afterwards."""

from __future__ import annotations

import json
import os
import signal
import uuid
from itertools import count
from pathlib import Path

import pytest
from paid_work import recorded, rows
from stopped_work import Answers, Trial, nursery_in, texts_of
from vr_testing import FakeGemini

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(120),
    pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX"),
]
COMMITS = {"paid_batch": 3, "paid_once": 5}
"""A job's records, end and lease; and before these the cached result with its lease."""


@pytest.mark.parametrize("tool", COMMITS)
def test_all_that_is_kept_agrees_after_a_kill(tool: str, tmp_path: Path) -> None:
    points = []
    with FakeGemini() as gemini, nursery_in(tmp_path, {**os.environ}) as nursery:
        answers = Answers(gemini)
        for at in count():
            trial = Trial(nursery, gemini, tmp_path, f"trial {at}", tool)
            last = trial.work("killed", ending=True, sign=int(signal.SIGKILL), at=at).ended()
            if "at" not in last:  # it came to its end
                break
            points.append(last["at"])
            check(trial, answers, points)
    assert len(points) == 2 * COMMITS[tool], points


def check(trial: Trial, answers: Answers, points: list[str]) -> None:
    """Take the job of the dead up, and check that all that is kept says the same."""
    end = trial.work("next", tool="").ended()
    assert end["state"] == "done", (points, end)
    texts = texts_of(end["result"])
    if trial.order.tool == "paid_once":
        equal = trial.work("equal", job=uuid.uuid4().hex).ended()
        assert (texts_of(equal["result"]), equal["result"]["cached"]) == (texts, True), points
    assert answers.of(trial.name) == [[text] for text in texts], points
    assert answers.asked(trial.name) == len(texts), points
    assert [json.loads(fields)["text"] for _, fields in recorded(trial.state)] == texts, points
    states = [row[0] for row in rows(trial.state, "usage.db", "SELECT state FROM attempt")]
    assert len(states) == len(texts), points
    assert set(states) <= {"paid", "maybe_paid", "sent"}, points
    cached = rows(trial.cache, "results.db", "SELECT value FROM result")
    assert [[json.loads(row[0])["text"]] for row in cached] in ([], [texts]), points
    left = rows(trial.state, "jobs.db", "SELECT scope, key FROM step WHERE scope LIKE 'result/%'")
    assert left == [], points
    ended = rows(trial.state, "jobs.db", "SELECT state FROM job WHERE id = ?", trial.order.job)
    assert ended == [("done",)], points
