"""Research: quotes, contradictions, kills, concurrency and budgets, on a fixed offline corpus."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.environments import Environments
from benchmarks.research_job import SOURCES, run_research_job
from benchmarks.rows import Row, bar

KILLS = 200
AT_ONCE = (3, 8)
SLOWER, RUNS = 1.15, 3
"""The fastest of so many runs counts: a neighbour can only slow them down."""


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Run each job in a process of its own; `VR_BENCH_KILLS` changes the number of kills."""
    del environments, rounds
    kills = int(os.environ.get("VR_BENCH_KILLS", KILLS))
    with TemporaryDirectory() as made:
        folder = Path(made)
        return [
            *_figures(run_research_job("figures", folder / "figures")),
            *_kills(folder, kills),
            *(row for at_once in AT_ONCE for row in _sources(folder, at_once)),
            *_budget(*run_research_job("budget", folder / "budget")),
            *_verified(run_research_job("verify", folder / "verify")),
            *_claims(run_research_job("claims", folder / "claims")),
            *_tokens(run_research_job("tokens", folder / "tokens")),
        ]


def _figures(found: dict[str, int]) -> list[Row]:
    invented, true, moved = found["invented"], found["true"], found["to move"]
    return [
        Row("sources, quotes", f"{found['sources']}, {found['quotes']}"),
        bar(f"invented quotes of {invented}, caught", found["caught"], sign=">=", limit=invented),
        bar(
            f"true quotes of {true}, refused, %",
            100 * found["refused"] / true,
            sign="<=",
            limit=1,
        ),
        bar(f"moved places of {moved}, corrected", found["moved"], sign=">=", limit=moved),
        bar("contradictions of 2, listed", found["contradictions"], sign=">=", limit=2),
        bar("other contradictions", found["false contradictions"], sign="<=", limit=0),
    ]


def _kills(folder: Path, kills: int) -> list[Row]:
    """A committed call that is paid again, or another report, ends the job with an error."""
    what = f"kills of {kills} that repeat no committed paid call and leave the report as it was"
    try:
        done = run_research_job("kills", folder / "kills", kills)["kills"]
    except RuntimeError as error:
        return [Row(what, str(error).strip()[-300:], target=f">= {kills}", passed=False)]
    return [bar(what, done, sign=">=", limit=kills)]


def _sources(folder: Path, at_once: int) -> list[Row]:
    runs = [
        run_research_job("sources", folder / f"at-once-{at_once}-{run}", at_once)
        for run in range(RUNS)
    ]
    found = min(runs, key=lambda run: run["reading"])
    least = -(-SOURCES // at_once)
    return [
        bar(
            f"{SOURCES} sources of 1 s, {at_once} at once, read in s",
            found["reading"],
            floor=least,
            ratio=found["reading"] / least,
            sign="<=",
            limit=SLOWER,
            unit="x",
        ),
        Row("  the whole call, with plan and report, s", found["whole"]),
    ]


def _budget(whole: dict[str, Any], half: dict[str, Any]) -> list[Row]:
    return [
        bar(
            "half of the budget: rounds",
            half["rounds"],
            floor=whole["rounds"],
            sign="<=",
            limit=whole["rounds"] - 1,
        ),
        bar(
            "  US dollars, of those of the whole",
            half["usd"],
            floor=whole["usd"],
            by=half["usd"] / whole["usd"],
            sign="<=",
            limit=0.5,
        ),
        bar("  claims of its report", half["claims"], floor=whole["claims"], sign=">=", limit=1),
        Row("  its summary is by", "the model" if half["by model"] else "likeness of words"),
    ]


def _verified(found: dict[str, Any]) -> list[Row]:
    claims = found["claims"]
    return [
        bar("network requests of a verification", found["network"], sign="<=", limit=0),
        bar(f"  claims of {claims}, as before", found["unchanged"], sign=">=", limit=claims),
        Row(f"  for {found['quotes']} quotes, s", found["seconds"]),
    ]


def _claims(found: dict[str, int]) -> list[Row]:
    return [
        Row(f"claims of {found['equal']} in another order, joined", found["joined"]),
        Row(f"claims of {found['other']} about other things, joined", found["confused"]),
    ]


def _tokens(found: dict[str, int]) -> list[Row]:
    return [Row(f"tokens sent, {name}", count) for name, count in found.items()]
