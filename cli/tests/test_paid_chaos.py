"""Two processes that pay in every way, killed, ended, cancelled, and badly served: the books hold.

`VR_CHAOS_SEED=7 pytest -m slow kernel/tests/test_paid_chaos.py` runs it by another chance.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import chaos_worker
import pytest
from paid_work import paying, rows
from paid_worker import Nursery
from test_jobs_killed_servers import wait_for_the_end
from vr_kernel.state.sqlite.ledger import open_ledger
from vr_testing import FakeGemini, Fault
from vr_testing.gemini.request import RecordedRequest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX"),
]
SEED = int(os.environ.get("VR_CHAOS_SEED", "13"))
KILLS = 120
TERMS = 15
LATENCY_S = 0.02
LEASE_S = 2.0
FAULTS = {
    Fault.throttled(0.05): 0.03,
    Fault.status(500): 0.04,
    Fault.reset(): 0.03,
    Fault.lost(): 0.03,
    Fault.truncated("closed"): 0.02,
    Fault.truncated("reset"): 0.02,
    Fault.invalid_json(): 0.02,
}
REMEMBER = """
CREATE TABLE committed (reply TEXT, at REAL);
CREATE TRIGGER remember AFTER INSERT ON step WHEN NEW.key LIKE '%#%' BEGIN
    INSERT INTO committed SELECT
        json_extract(CAST(NEW.reply AS TEXT), '$.reply.text'), NEW.committed_at;
END;
"""
"""Steps are forgotten once their result is kept; this remembers when each was committed."""
ENDED = (
    "SELECT CASE WHEN cancel_asked AND state = 'running' THEN 'cancelled' ELSE state END FROM job"
)
"""How jobs ended; one that was to be cancelled and has no owner left is written down late."""


def answer(request: RecordedRequest) -> object:
    """The question again; in its shape where one is asked for."""
    if request.schema:
        return {"city": "Bern", "people": 1}
    return f"Answer to: {request.text}"


def remember_steps(state: Path) -> None:
    """Have the ledger keep what was committed, and when."""
    state.mkdir()
    ledger = open_ledger(state / "jobs.db")
    ledger.run_blocking(lambda connection: connection.execute("SELECT 1"))
    ledger.close()
    with closing(sqlite3.connect(state / "jobs.db")) as connection:
        connection.executescript(REMEMBER)


def end_again_and_again(nursery: Nursery, gemini: FakeGemini, chance: random.Random) -> None:
    """Two processes work; one after the other is killed or ended at any moment, and replaced."""
    alive = [nursery.start(), nursery.start()]
    signals = [signal.SIGKILL] * KILLS + [signal.SIGTERM] * TERMS
    chance.shuffle(signals)
    for each in signals:
        enough = len(gemini.requests) + chance.randrange(1, 15)
        gemini.wait(lambda: len(gemini.requests) >= enough, timeout=60)  # noqa: B023
        time.sleep(chance.random() * LATENCY_S * 2)  # the moment within a step is chance, too
        victim = chance.randrange(2)
        nursery.kill(alive[victim], each)
        alive[victim] = nursery.start()


def paid_again(state: Path, gemini: FakeGemini) -> list[str]:
    """Questions that were asked after their answer had been committed."""
    offset = time.time() - time.monotonic()
    committed: dict[str, float] = {}
    for reply, at in rows(state, "jobs.db", "SELECT reply, at FROM committed"):
        question = str(reply).removeprefix("Answer to: ")
        committed[question] = min(at - offset, committed.get(question, at))
    assert len(committed) > KILLS, "hardly anything was committed"
    asked = [request for request in gemini.requests if request.asks_model]
    return [each.text for each in asked if each.at > committed.get(each.text, each.at)]


def check_books(state: Path, gemini: FakeGemini) -> Counter[str]:
    """The ledger is the bill, but for what nobody saw; returns how many attempts ended how."""
    found = rows(state, "usage.db", "SELECT state, input_tokens, output_tokens FROM attempt")
    ended = Counter(state for state, *_ in found)
    unseen = ended["sent"] + ended["maybe_paid"]
    assert ended["paid"] <= gemini.bill.calls <= ended["paid"] + unseen, (ended, gemini.bill)
    for place, billed in ((1, gemini.bill.input_tokens), (2, gemini.bill.output_tokens)):
        known = sum(row[place] for row in found)
        assert known <= billed, (ended, gemini.bill)
        assert unseen or known == billed
    return ended


def test_nothing_is_paid_twice_whatever_happens(environ: Mapping[str, str], tmp_path: Path) -> None:
    state, chance = Path(environ["VR_STATE_DIR"]), random.Random(SEED)
    print(f"seed {SEED}")  # noqa: T201
    remember_steps(state)
    started = time.monotonic()
    with FakeGemini(seed=SEED) as gemini:
        gemini.latency = LATENCY_S
        gemini.answer(answer)
        for fault, rate in FAULTS.items():
            gemini.fail(fault, rate=rate, when=lambda request: request.asks_model)
        variables = paying(gemini, VR_KERNEL__LEASE_S=str(LEASE_S), VR_STRICT="0")
        environment = {**environ, **variables, "PATH": os.environ["PATH"]}
        with Nursery(environment, tmp_path, chaos_worker.__file__) as nursery:
            end_again_and_again(nursery, gemini, chance)
            (tmp_path / "last").touch()
            wait_for_the_end(nursery)
        assert paid_again(state, gemini) == []
        ended = check_books(state, gemini)
    jobs = Counter(state for (state,) in rows(state, "jobs.db", ENDED))
    print(  # noqa: T201
        f"{KILLS} kills, {TERMS} ends, jobs {dict(jobs)}, attempts {dict(ended)},"
        f" {gemini.bill.calls} billed, {time.monotonic() - started:.0f} s"
    )
    assert set(jobs) <= {"done", "failed", "cancelled"}
    assert jobs["done"] > jobs["failed"]
    for path in [*state.glob("*.db"), *Path(environ["VR_CACHE_DIR"]).glob("*.db")]:
        assert rows(path.parent, path.name, "PRAGMA integrity_check") == [("ok",)], path.name
    assert rows(state, "jobs.db", "SELECT * FROM lease WHERE expires_at > ?", time.time()) == []
