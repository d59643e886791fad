"""An owner stands still past its lease, and then goes on: what its successor has made stays."""

from __future__ import annotations

import json
import os
import random
import signal
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from paid_work import PAID_STEP, rows
from stopped_work import Answers, Trial, nursery_in, texts_of
from vr_testing import FakeGemini

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.skipif(os.name == "nt", reason="SIGSTOP is POSIX"),
]
STOPS = 100
AT_ONCE = 8
SEED = 15
TOOLS = ("paid_batch", "paid_once")
LATE = "before steps.commit"
"""A point at which `paid_once` has a paid reply; its successor forgets its own."""
SURELY_LATE = range(1, 8, 2)
"""The trials, all of `paid_once`, that are stopped there and not by chance."""
KEPT = {
    "state/jobs.db": {
        "job": "SELECT id, * FROM job",
        "step": "SELECT scope || ' ' || key || ' ' || version, * FROM step",
    },
    "state/journal.db": {"record": "SELECT workspace || kind || key, * FROM record"},
    "cache/results.db": {"result": "SELECT key, * FROM result"},
}


def kept_in(trial: Trial) -> dict[str, dict[Any, tuple[Any, ...]]]:
    """The rows of each table, by key."""
    return {
        table: {row[0]: row[1:] for row in rows(trial.home, file, query)}
        for file, queries in KEPT.items()
        for table, query in queries.items()
    }


def stop_at(at: int | str, trial: Trial, answers: Answers) -> tuple[str, str, int]:
    """Stop an owner until another one has ended its job; returns where, its error, late steps.

    Args:
        at: the number of the point, or the name of one that is passed for the first time.
        trial: whose owner it is.
        answers: that were paid.
    """
    where = {"first": at} if isinstance(at, str) else {"at": at}
    stopped = trial.work("stopped", sign=int(signal.SIGSTOP), **where)
    point = stopped.heard().get("at", "")
    assert point, f"{trial.order.tool} has no point {at}"
    try:
        end = trial.work("successor", tool="").ended()
        before = kept_in(trial)
    finally:
        os.kill(stopped.pid, signal.SIGCONT)
    late, after = stopped.ended(), kept_in(trial)
    told = f"{trial.order.tool} stopped {point} ({at}): {late}"
    assert end.get("state") == "done", (told, end)
    check_kept(before, after, texts_of(end["result"]), told)
    check_paid(trial, answers, told)
    if late["error"]:
        assert late["error"] == "LEASE_LOST", told
    else:
        assert texts_of(late["result"]) == texts_of(end["result"]), told
    steps = [row for key, row in after["step"].items() if key not in before["step"]]
    return point, late["error"], sum("#" in row[1] for row in steps)


def check_kept(
    before: dict[str, dict[Any, tuple[Any, ...]]],
    after: dict[str, dict[Any, tuple[Any, ...]]],
    texts: list[str],
    told: str,
) -> None:
    """Check that all of the successor's is there as it was, and nothing else but late steps."""
    for table in ("job", "record", "result"):
        assert after[table] == before[table], (table, told)
    assert {**after["step"], **before["step"]} == after["step"], told
    assert [json.loads(row[4])["text"] for row in before["record"].values()] == texts, told


def check_paid(trial: Trial, answers: Answers, told: str) -> None:
    """Check that each request has a row, and each reply that was kept one that was paid."""
    states = rows(trial.state, "usage.db", "SELECT state FROM attempt")
    counted = Counter(state for (state,) in states)
    assert set(counted) <= {"paid", "maybe_paid", "free", "sent"}, (counted, told)
    asked = answers.asked(trial.name)
    assert counted["paid"] <= asked <= counted.total() - counted["free"], (counted, told)
    replies = rows(trial.state, "jobs.db", f"SELECT reply FROM step WHERE {PAID_STEP}")
    kept = {json.loads(reply)["reply"]["text"] for (reply,) in replies}
    assert kept <= {text for texts in answers.of(trial.name) for text in texts}, told
    assert len(kept) <= counted["paid"], (kept, counted, told)


def points_of(trial: Trial) -> int:
    """Count the points that the call passes when nothing stops it."""
    passed: Iterable[str] = trial.work("whole").ended()["passed"]
    return sum("renew" not in point for point in passed)


def test_a_stopped_owner_changes_nothing_of_its_successor(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    with FakeGemini() as gemini, nursery_in(tmp_path, {**os.environ}) as nursery:
        answers = Answers(gemini)
        of = partial(Trial, nursery, gemini, tmp_path)
        points = {tool: points_of(of(f"whole {tool}", tool)) for tool in TOOLS}

        def stop(number: int, at: int) -> tuple[str, str, int]:
            where = LATE if number in SURELY_LATE else at
            return stop_at(where, of(f"trial {number}", TOOLS[number % 2]), answers)

        numbers = range(STOPS)
        chosen = [chance.randrange(points[TOOLS[number % 2]]) for number in numbers]
        with ThreadPoolExecutor(AT_ONCE) as several:
            tried = [several.submit(stop, *each) for each in zip(numbers, chosen, strict=True)]
    failed = [str(error) for it in tried if (error := it.exception()) is not None]
    assert failed == []
    ends = [it.result() for it in tried]
    print(f"seed {SEED}: {sorted(Counter(ends).items())}")  # noqa: T201
    paid_late = [ends[number] for number in SURELY_LATE]
    assert all(late == 1 for _, _, late in paid_late), paid_late
