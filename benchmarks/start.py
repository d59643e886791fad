"""Start: spawn, shake hands, list tools. Processor seconds and memory at that point."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median

from benchmarks.domains import TOOLS
from benchmarks.environments import Environment, Environments
from benchmarks.processes import StdioServer, Usage, clean_environment
from benchmarks.rows import Row, bar

ALONE = ("ours", "floor", "peer")
NARROWED, ALL_SHOWN = f"{TOOLS} tools more", f"{TOOLS} tools more, all shown"
CROWDED = {NARROWED: {}, ALL_SHOWN: {"VR_TOOLSETS": "all"}}
RATIO_LIMIT = 1.15
MEMORY_LIMIT_MB = 25


@dataclass(frozen=True, slots=True)
class Start:
    """One start of one server."""

    usage: Usage
    tools: int


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Start ours, ours with 75 more tools, the floor and the peer in turn, `rounds` times."""
    commands = {name: partial(start, environments, getattr(environments, name)) for name in ALONE}
    more = str(environments.domains)
    for name, given in CROWDED.items():
        variables = {"PYTHONPATH": more, **given}
        commands[name] = partial(start, environments, environments.ours, name, **variables)
    for once in commands.values():
        once()
    runs: dict[str, list[Start]] = {name: [] for name in commands}
    for name in in_turn(commands, rounds):
        runs[name].append(commands[name]())
    listed = runs[NARROWED][0].tools
    if runs[ALL_SHOWN][0].tools < TOOLS or listed >= TOOLS:
        raise RuntimeError(f"The view does not depend on the number of tools: {listed} are shown.")
    return [row for name in ("ours", *CROWDED) for row in _rows(runs, name)]


def start(
    environments: Environments, environment: Environment, home: str = "", **more: str
) -> Start:
    """Start a server once, until it has listed its tools."""
    folder = environments.home(home.replace(" ", "-") or environment.name)
    with StdioServer(environment.server, clean_environment(folder, **more), folder) as server:
        server.shake_hands()
        tools = server.tools()
        return Start(server.usage(), len(tools))


def _rows(runs: Mapping[str, list[Start]], ours: str) -> list[Row]:
    besides = "" if ours == "ours" else f", {ours}"
    return [
        _cpu_row(runs, ours, besides),
        _memory_row(runs, ours, besides),
        _tools_row(runs, ours, besides),
    ]


def _cpu_row(runs: Mapping[str, list[Start]], ours: str, besides: str) -> Row:
    cpu = {name: [run.usage.cpu_s for run in starts] for name, starts in runs.items()}
    return bar(
        f"spawn -> tools/list, CPU s{besides}",
        median(cpu[ours]),
        floor=median(cpu["floor"]),
        peer=f"{median(cpu['peer']):.3g} ({paired(cpu['peer'], cpu['floor']):.2f} x)",
        ratio=paired(cpu[ours], cpu["floor"]),
        sign="<=",
        limit=RATIO_LIMIT,
        unit="x floor",
    )


def _memory_row(runs: Mapping[str, list[Start]], ours: str, besides: str) -> Row:
    memory = {name: median(run.usage.rss_mb for run in starts) for name, starts in runs.items()}
    return bar(
        f"resident memory then, MB{besides}",
        memory[ours],
        floor=memory["floor"],
        peer=f"{memory['peer']:.3g} (+ {memory['peer'] - memory['floor']:.0f})",
        by=memory[ours] - memory["floor"],
        sign="<=",
        limit=MEMORY_LIMIT_MB,
        unit="MB over floor",
    )


def _tools_row(runs: Mapping[str, list[Start]], ours: str, besides: str) -> Row:
    tools = {name: starts[0].tools for name, starts in runs.items()}
    return Row(f"tools listed{besides}", tools[ours], tools["floor"], tools["peer"])


def in_turn(names: Iterable[str], rounds: int) -> Iterator[str]:
    """All names, `rounds` times, each round beginning with the next one."""
    listed = list(names)
    for turn in range(rounds):
        first = turn % len(listed)
        yield from listed[first:] + listed[:first]


def paired(ours: list[float], floor: list[float]) -> float:
    """The median of the ratios of runs that stood side by side."""
    return median(a / b for a, b in zip(ours, floor, strict=True))
