"""Cost of the command line over an empty Python program, and of showing a result."""

from __future__ import annotations

import sys
from statistics import median

from benchmarks.environments import Environments
from benchmarks.processes import clean_environment, cpu_of
from benchmarks.rows import Row, bar

LIMITS = {("--help",): 0.4, ("plugin", "list"): 0.8}
SHOWN, SHOWN_LIMIT = ("infra", "plugins"), 0.25
"""A tool whose result is shown as a table, and what that may cost over its JSON, CPU s."""


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Run each command beside `python -c pass`, `rounds` times."""
    if sys.platform == "win32":
        raise RuntimeError("Processor time of ended programs is not read on Windows.")
    rows = [_row(environments, words, limit, rounds) for words, limit in LIMITS.items()]
    return [*rows, _shown(environments, rounds)]


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


def _shown(environments: Environments, rounds: int) -> Row:
    """Processor time of a result that is shown, beside the same result as JSON."""
    env = clean_environment(environments.home("commands"))
    command = [environments.ours.program("vr"), *SHOWN]
    cpu_of(command, env)
    plain, used = [], []
    for _ in range(rounds):
        plain.append(cpu_of([*command, "--json"], env))
        used.append(cpu_of(command, env))
    return bar(
        f"vr {' '.join(SHOWN)}, CPU s; floor: with --json",
        median(used),
        floor=median(plain),
        by=median(a - b for a, b in zip(used, plain, strict=True)),
        sign="<=",
        limit=SHOWN_LIMIT,
        unit="s over floor",
    )
