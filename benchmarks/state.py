"""Rates of records, steps and cache hits, beside SQLite alone and beside another version."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.environments import HERE, Environments
from benchmarks.processes import clean_environment
from benchmarks.rows import Row, bar

BEFORE = "VR_BENCH_BEFORE"
"""Names a Python of another version's environment, which is then measured in turn with ours."""
JOB = HERE / "state_job.py"
ROUNDS = "4"
"""Repetitions within one process."""
LIMIT = 0.95
"""A version keeps at least this part of the rates of the one before."""


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Rates in a second of processor time, of all in turn."""
    ours, home = environments.ours.python, environments.home("state")
    given = os.environ.get(BEFORE)
    before = Path(given) if given else None
    found: dict[str, list[dict[str, float]]] = {"ours": [], "floor": [], "before": []}
    for _ in range(rounds):
        found["ours"].append(_rates(ours, "ours", home))
        found["floor"].append(_rates(ours, "floor", home))
        if before is not None:
            found["before"].append(_rates(before, "ours", home))
    rows = []
    for name in found["ours"][0]:
        rate = median(run[name] for run in found["ours"])
        rows.append(_beside_floor(name, rate, [run.get(name) for run in found["floor"]]))
        if before is not None:
            pairs = zip(found["ours"], found["before"], strict=True)
            by = median(new[name] / old[name] for new, old in pairs)
            said = f"{name}, of the version before"
            rows.append(bar(said, by, sign=">=", limit=LIMIT, unit="x before"))
    return rows


def _beside_floor(name: str, rate: float, floors: Sequence[float | None]) -> Row:
    known = [each for each in floors if each is not None]
    if not known:
        return Row(f"{name}, a second", rate)
    return Row(f"{name}, a second", rate, median(known), ratio=rate / median(known))


def _rates(python: Path, side: str, home: Path) -> dict[str, float]:
    """The rates that one process finds."""
    done = subprocess.run(
        [str(python), str(JOB), side, ROUNDS],
        env=clean_environment(home),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{python} could not measure:\n{done.stderr[-3000:]}")
    rates: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return rates
