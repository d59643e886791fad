"""Start: spawn, shake hands, list tools. Processor seconds and memory at that point."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median

from benchmarks.environments import Environment, Environments
from benchmarks.processes import StdioServer, Usage, clean_environment
from benchmarks.rows import Row, bar

RATIO_LIMIT = 1.15
MEMORY_LIMIT_MB = 25


@dataclass(frozen=True, slots=True)
class Start:
    """One start of one server."""

    usage: Usage
    tools: int


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Start ours, the floor and the peer in turn, `rounds` times."""
    measured = {e.name: e for e in (environments.ours, environments.floor, environments.peer)}
    for environment in measured.values():
        start(environments, environment)
    runs: dict[str, list[Start]] = {name: [] for name in measured}
    for name in in_turn(measured, rounds):
        runs[name].append(start(environments, measured[name]))
    return [_cpu_row(runs), _memory_row(runs), _tools_row(runs)]


def start(environments: Environments, environment: Environment) -> Start:
    """Start a server once, until it has listed its tools."""
    home = environments.home(environment.name)
    with StdioServer(environment.server, clean_environment(home), home) as server:
        server.shake_hands()
        tools = server.tools()
        return Start(server.usage(), len(tools))


def _cpu_row(runs: Mapping[str, list[Start]]) -> Row:
    cpu = {name: [run.usage.cpu_s for run in starts] for name, starts in runs.items()}
    return bar(
        "spawn -> tools/list, CPU s",
        median(cpu["ours"]),
        floor=median(cpu["floor"]),
        peer=f"{median(cpu['peer']):.3g} ({paired(cpu['peer'], cpu['floor']):.2f} x)",
        ratio=paired(cpu["ours"], cpu["floor"]),
        sign="<=",
        limit=RATIO_LIMIT,
        unit="x floor",
    )


def _memory_row(runs: Mapping[str, list[Start]]) -> Row:
    memory = {name: median(run.usage.rss_mb for run in starts) for name, starts in runs.items()}
    return bar(
        "resident memory then, MB",
        memory["ours"],
        floor=memory["floor"],
        peer=f"{memory['peer']:.3g} (+ {memory['peer'] - memory['floor']:.0f})",
        by=memory["ours"] - memory["floor"],
        sign="<=",
        limit=MEMORY_LIMIT_MB,
        unit="MB over floor",
    )


def _tools_row(runs: Mapping[str, list[Start]]) -> Row:
    tools = {name: starts[0].tools for name, starts in runs.items()}
    return Row("tools listed", tools["ours"], tools["floor"], tools["peer"])


def in_turn(names: Iterable[str], rounds: int) -> Iterator[str]:
    """All names, `rounds` times, each round beginning with the next one."""
    listed = list(names)
    for turn in range(rounds):
        first = turn % len(listed)
        yield from listed[first:] + listed[:first]


def paired(ours: list[float], floor: list[float]) -> float:
    """The median of the ratios of runs that stood side by side."""
    return median(a / b for a, b in zip(ours, floor, strict=True))
