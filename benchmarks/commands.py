"""Cost of the command line over an empty Python program."""

from __future__ import annotations

import sys
from statistics import median

from benchmarks.environments import Environments
from benchmarks.processes import clean_environment, cpu_of
from benchmarks.rows import Row, bar

LIMITS = {("--help",): 0.4, ("plugin", "list"): 0.8}


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Run each command beside `python -c pass`, `rounds` times."""
    if sys.platform == "win32":
        raise RuntimeError("Processor time of ended programs is not read on Windows.")
    return [_row(environments, words, limit, rounds) for words, limit in LIMITS.items()]


def _row(environments: Environments, words: tuple[str, ...], limit: float, rounds: int) -> Row:
    ours = environments.ours
    env = clean_environment(environments.home("commands"))
    cpu_of([ours.program("vr"), "plugin", "list"], env)  # writes the index that --help reads
    empty, used = [], []
    for _ in range(rounds):
        empty.append(cpu_of([str(ours.python), "-c", "pass"], env))
        used.append(cpu_of([ours.program("vr"), *words], env))
    return bar(
        f"vr {' '.join(words)}, CPU s",
        median(used),
        floor=median(empty),
        by=median(a - b for a, b in zip(used, empty, strict=True)),
        sign="<=",
        limit=limit,
        unit="s over floor",
    )
