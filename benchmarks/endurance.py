"""Remains of ten thousand calls: memory, tasks, threads, open files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.environments import Environments
from benchmarks.processes import StdioServer, clean_environment
from benchmarks.rows import Row, bar

CALLS, WARM = 10_000, 1_000
MEMORY_LIMIT_MB = 5
GOOD: tuple[str, Mapping[str, Any]] = ("bench_add", {"a": 2, "b": 3})
FAILING: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("bench_add", {"a": "much"}),
    ("bench_ad", {}),
)
OWN: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("bench_fail", {}),
    ("infra_plugins", {}),
    ("knowledge_search", {"query": "what was said"}),
    ("job_status", {"job_id": "nobody"}),
)


@dataclass(frozen=True, slots=True)
class Left:
    """Resources that a server holds: MB of memory, asyncio tasks, threads, file descriptors."""

    memory: float
    tasks: int = 0
    threads: int = 0
    files: int = 0


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Call ours and the floor ten thousand times: good calls, wrong ones, cancelled ones."""
    del rounds
    floor = _grown(environments, "floor")
    ours = _grown(environments, "ours")
    return [
        bar(
            f"memory after {CALLS:,} calls over that after {WARM:,}, MB",
            ours.memory,
            floor=floor.memory,
            sign="<=",
            limit=MEMORY_LIMIT_MB,
            unit="MB",
        ),
        bar("tasks more", ours.tasks, sign="<=", limit=0),
        bar("threads more", ours.threads, sign="<=", limit=0),
        bar("open files more", ours.files, sign="<=", limit=0),
    ]


def _grown(environments: Environments, name: str) -> Left:
    environment, home = getattr(environments, name), environments.home(name)
    own = name == "ours"
    more = {"PYTHONPATH": str(environments.probe)} if own else {}
    with StdioServer(environment.server, clean_environment(home, **more), home) as server:
        server.shake_hands()
        _call(server, WARM, own=own)
        before = _left(server, own=own)
        _call(server, CALLS - WARM, own=own)
        after = _left(server, own=own)
    return Left(
        after.memory - before.memory,
        after.tasks - before.tasks,
        after.threads - before.threads,
        after.files - before.files,
    )


def _call(server: StdioServer, times: int, *, own: bool) -> None:
    """In ten calls, two that are wrong; of ours also other tools, and one that is cancelled."""
    mixed = [*FAILING, *(OWN if own else ())]
    cycle = [*mixed, *[GOOD] * (10 - len(mixed) - own)]
    for _ in range(times // 10):
        for tool, arguments in cycle:
            server.call(tool, arguments)
        if own:
            server.cancel("bench_wait", {})


def _left(server: StdioServer, *, own: bool) -> Left:
    memory = server.usage().rss_mb
    if not own:
        return Left(memory)
    held = server.call("bench_held", {})["structuredContent"]
    return Left(memory, held["tasks"], held["threads"], held["files"])
