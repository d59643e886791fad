"""Cost of a warm call of a trivial tool, one after another and a thousand at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.environments import Environment, Environments
from benchmarks.processes import StdioServer, clean_environment
from benchmarks.rows import Row, bar, shown
from benchmarks.start import in_turn, paired

if TYPE_CHECKING:
    from fastmcp import Client

SEQUENTIAL_LIMIT = 1.25
THROUGHPUT_LIMIT = 0.8
BLOCK = 100
FLOOD = 1000
TRIVIAL: Mapping[str, tuple[str, dict[str, Any]]] = {
    "ours": ("bench_add", {"a": 2, "b": 3}),
    "floor": ("bench_add", {"a": 2, "b": 3}),
    "peer": ("infra_configure", {}),
}


@dataclass(slots=True)
class Calls:
    """Seconds of single calls, block by block, and calls a second of each flood."""

    blocks: list[float] = field(default_factory=list)
    floods: list[float] = field(default_factory=list)
    errors: int = 0


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Call ours, the floor and the peer with one client, in turn, block by block."""
    calls = asyncio.run(_through_client(environments, rounds))
    costs = _server_cost(environments, rounds)
    blocks = {name: c.blocks for name, c in calls.items()}
    floods = {name: c.floods for name, c in calls.items()}
    return [
        bar(
            f"trivial call, p50 of {rounds * BLOCK}, ms",
            **_beside(blocks, 1000),
            sign="<=",
            limit=SEQUENTIAL_LIMIT,
            unit="x floor",
        ),
        bar(
            f"{FLOOD} concurrent calls, calls/s",
            **_beside(floods),
            sign=">=",
            limit=THROUGHPUT_LIMIT,
            unit="x floor",
        ),
        bar(
            "errors among them",
            calls["ours"].errors,
            floor=calls["floor"].errors,
            peer=calls["peer"].errors,
            sign="<=",
            limit=0,
        ),
        Row("server's CPU a call, no client, ms", **_beside(costs, 1000)),
    ]


def _beside(runs: Mapping[str, list[float]], scale: float = 1) -> dict[str, Any]:
    """Medians of ours, the floor and the peer, with the ratios to the floor."""
    ratio = {name: paired(values, runs["floor"]) for name, values in runs.items()}
    middle = {name: median(values) * scale for name, values in runs.items()}
    return {
        "ours": middle["ours"],
        "floor": middle["floor"],
        "peer": f"{shown(middle['peer'])} ({ratio['peer']:.2f} x)",
        "ratio": ratio["ours"],
    }


async def _through_client(environments: Environments, rounds: int) -> dict[str, Calls]:
    calls = {name: Calls() for name in TRIVIAL}
    async with AsyncExitStack() as stack:
        clients = {
            name: await stack.enter_async_context(_connected(environments, name))
            for name in TRIVIAL
        }
        for name, client in clients.items():  # once uncounted: a client lists tools first
            await _one_by_one(client, name)
            await _flood(client, name, Calls())
        for name in in_turn(clients, rounds):
            calls[name].blocks.append(await _one_by_one(clients[name], name))
        for name in in_turn(clients, rounds):
            await _flood(clients[name], name, calls[name])
    return calls


async def _one_by_one(client: Client[Any], name: str) -> float:
    """The median seconds of a call in a block of calls."""
    tool, arguments = TRIVIAL[name]
    seconds = []
    for _ in range(BLOCK):
        before = time.perf_counter()
        await client.call_tool(tool, arguments)
        seconds.append(time.perf_counter() - before)
    return median(seconds)


async def _flood(client: Client[Any], name: str, calls: Calls) -> None:
    tool, arguments = TRIVIAL[name]
    before = time.perf_counter()
    results = await asyncio.gather(
        *(client.call_tool(tool, arguments, raise_on_error=False) for _ in range(FLOOD)),
        return_exceptions=True,
    )
    calls.floods.append(FLOOD / (time.perf_counter() - before))
    calls.errors += sum(isinstance(r, BaseException) or r.is_error for r in results)


@asynccontextmanager
async def _connected(environments: Environments, name: str) -> AsyncIterator[Client[Any]]:
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    environment, home = _environment(environments, name), environments.home(name)
    transport = StdioTransport(
        command=environment.server[0],
        args=environment.server[1:],
        env=_variables(environments, name),
        cwd=str(home),
        keep_alive=False,
        log_file=home / "calls.log",
    )
    async with Client(transport) as client:
        yield client


def _server_cost(environments: Environments, rounds: int) -> dict[str, list[float]]:
    """Processor seconds a call in the server alone, spoken to in raw lines, block by block."""
    costs: dict[str, list[float]] = {}
    for name, (tool, arguments) in TRIVIAL.items():
        environment, home = _environment(environments, name), environments.home(name)
        with StdioServer(environment.server, _variables(environments, name), home) as server:
            server.shake_hands()
            costs[name] = [_block_cost(server, tool, arguments) for _ in range(rounds + 1)][1:]
    return costs


def _block_cost(server: StdioServer, tool: str, arguments: Mapping[str, Any]) -> float:
    before = server.usage().cpu_s
    for _ in range(BLOCK):
        server.call(tool, arguments)
    return (server.usage().cpu_s - before) / BLOCK


def _environment(environments: Environments, name: str) -> Environment:
    environment: Environment = getattr(environments, name)
    return environment


def _variables(environments: Environments, name: str) -> dict[str, str]:
    more = {"PYTHONPATH": str(environments.probe)} if name == "ours" else {}
    return clean_environment(environments.home(name), **more)
