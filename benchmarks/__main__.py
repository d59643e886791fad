"""Run all benchmarks, or those that are named; print tables; exit with 1 when a bar fails."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

from benchmarks.environments import HERE, Environments
from benchmarks.rows import Row, as_json, table

RESULTS = HERE / "results"
NAMES = (
    "start",
    "commands",
    "calls",
    "endurance",
    "tokens",
    "paid_work",
    "model_door",
    "batches",
    "local_engine",
    "documents",
    "real_documents",
    "retrieval",
    "quotes",
    "research",
    "state",
    "stores",
    "weaviate_ranks",
    "pages",
)
Measure = Callable[[Environments, int], list[Row]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks that were asked for."""
    options = _options(arguments)
    environments = Environments()
    failed: list[str] = []
    for name in options.names or NAMES:
        measure: Measure = import_module(f"benchmarks.{name}").measure
        print(f"\n## {name}", flush=True)
        rows = measure(environments, options.rounds)
        print(table(rows), flush=True)
        _keep(name, rows, environments, options.rounds)
        failed += [f"{name}: {row.what}" for row in rows if row.passed is False]
    print("\nEvery bar is reached." if not failed else "\nNot reached:\n  " + "\n  ".join(failed))
    return 1 if failed else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument(
        "--rounds", type=int, default=11, help="repetitions of what is timed (default 11)"
    )
    options = parser.parse_args(arguments)
    unknown = sorted({*options.names} - {*NAMES})
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(NAMES)}")
    if options.rounds < 1:
        parser.error("--rounds takes a number above 0")
    return options


def _keep(name: str, rows: Sequence[Row], environments: Environments, rounds: int) -> None:
    RESULTS.mkdir(exist_ok=True)
    report: dict[str, Any] = {
        "benchmark": name,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "rounds": rounds,
        "machine": {
            "system": platform.platform(),
            "processors": os.cpu_count(),
            "python": sys.version.split()[0],
            "load": os.getloadavg()[0],
        },
        "versions": environments.built_versions,
        "rows": as_json(rows),
    }
    file = RESULTS / f"{name}.json"
    file.write_text(json.dumps(report, indent=1, ensure_ascii=False), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
