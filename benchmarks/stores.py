"""Cost of keeping and finding records, beside Chroma and LanceDB; vectors are given to all.

Synthetic rows (`engines/samples.py`). Ours goes through journal, delivery and store. With
`VR_BENCH_MILLION=1` hybrid search over a million rows is reported, too.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.children import child, command_of
from benchmarks.environments import Environment, Environments
from benchmarks.rows import Row, bar

SIZES = (10_000, 100_000)
MILLION = 1_000_000
OUTAGE = 10_000
KILLS = 2
QUESTIONS_A_ROUND = 10

Figures = dict[str, Any]


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Fill and ask every engine in turn, the small ones first."""
    if sys.platform != "linux":
        raise RuntimeError("Resident memory is read from /proc, which only Linux has.")
    asked = rounds * QUESTIONS_A_ROUND
    rows: list[Row] = []
    for size in SIZES:
        found = {name: _figures(environments, name, size, asked) for name in _NAMES}
        rows += _rows(size, found["embedded"], found["chroma"], found["lance"])
    if os.environ.get("VR_BENCH_MILLION") == "1":
        ours = _figures(environments, "embedded", MILLION, asked)
        rows.append(Row(f"hybrid search p50 of {MILLION:,} rows, ms", ours["hybrid_ms"]))
    return [*rows, *_outage(environments)]


_NAMES = ("embedded", "chroma", "lance")


def _environment(environments: Environments, name: str) -> Environment:
    return environments.ours if name == "embedded" else environments.engine(name)


def _figures(environments: Environments, name: str, size: int, asked: int) -> Figures:
    home = _empty(environments.home(f"stores-{name}"))
    python = _environment(environments, name).python
    found: Figures = child(python, name, home, size, asked)
    shutil.rmtree(home)
    return found


def _rows(size: int, ours: Figures, chroma: Figures, lance: Figures) -> list[Row]:
    of = f"{size:,} rows"
    rows = [
        _times(f"single-row commits/s beside {of}", "single_rows_s", ours, chroma, limit=5),
        _times(f"batch rows/s up to {of}", "batch_rows_s", ours, chroma, limit=5),
        _faster(f"filtered vector search p50 of {of}, ms (Chroma)", "filtered_ms", ours, chroma),
        _beside("filtered", ours),
        _faster(f"hybrid search p50 of {of}, ms (LanceDB flat)", "hybrid_ms", ours, lance),
        _beside("hybrid", ours),
        bar(f"recall@10 of hybrid search of {of}", ours["recall"], sign=">=", limit=1.0),
        Row(f"vector search p50 of {of}, ms (Chroma)", ours["vector_ms"], chroma["vector_ms"]),
    ]
    if size < max(SIZES):
        return rows
    return [
        *rows,
        bar(f"memory of {of}, MB above idle", ours["memory_mb"], sign="<=", limit=200, unit="MB"),
        bar(
            f"first search after start of {of}, s", ours["first_s"], sign="<=", limit=1.5, unit="s"
        ),
        bar(
            "  event loop stalled meanwhile, ms", ours["stall_ms"], sign="<=", limit=100, unit="ms"
        ),
    ]


def _times(what: str, key: str, ours: Figures, peer: Figures, *, limit: float) -> Row:
    ratio = ours[key] / peer[key]
    return bar(what, ours[key], floor=peer[key], ratio=ratio, sign=">=", limit=limit)


def _faster(what: str, key: str, ours: Figures, peer: Figures) -> Row:
    """The ratio is how many times faster ours is."""
    ratio = peer[key] / ours[key]
    return bar(what, ours[key], floor=peer[key], ratio=ratio, sign=">=", limit=8)


def _beside(search: str, ours: Figures) -> Row:
    mine, bare = ours[f"{search}_ms"], ours[f"bare_{search}_ms"]
    return Row("  the same by SQLite and numpy alone, ms", mine, floor=bare, ratio=mine / bare)


def _outage(environments: Environments) -> list[Row]:
    home = _empty(environments.home("stores-outage"))
    python = environments.ours.python
    written = child(python, "outage", home, "write", OUTAGE)
    killed = [_deliver_until_killed(python, home, at) for at in _moments()]
    last = child(python, "outage", home, "deliver", OUTAGE)
    shutil.rmtree(home)
    speed = OUTAGE / (last["seconds"] + sum(killed))
    what = f"store away during {OUTAGE:,} writes, drainer killed {KILLS} times"
    return [
        Row(f"{what}: acknowledged/s", written["rows_s"]),
        bar("  records lost", last["lost"], sign="<=", limit=0),
        bar("  records twice", last["twice"], sign="<=", limit=0),
        bar("  delivered with vectors, rows/s", speed, sign=">=", limit=200, unit="/s"),
    ]


def _moments() -> list[int]:
    """Numbers of records delivered when the drainer is killed: somewhere in each third."""
    chance = random.Random(5)
    third = OUTAGE // (KILLS + 1)
    return [third * number + chance.randrange(third) for number in range(KILLS)]


def _deliver_until_killed(python: Path, home: Path, delivered: int) -> float:
    """Seconds from the first progress to the kill."""
    command, env = command_of(python, "outage", home, "deliver", OUTAGE)
    drainer = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    assert drainer.stdout
    started = 0.0
    for line in drainer.stdout:
        started = started or time.perf_counter()
        if not line.strip().isdigit() or int(line) >= delivered:
            break
    seconds = time.perf_counter() - started
    drainer.kill()
    drainer.wait()
    drainer.stdout.close()
    return seconds


def _empty(folder: Path) -> Path:
    shutil.rmtree(folder)
    folder.mkdir()
    return folder
