"""Cost of analyses by a model in calls, time and memory, against a fake Gemini over HTTP."""

from __future__ import annotations

import asyncio
import os
import struct
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile, rmtree
from typing import TYPE_CHECKING, Any

from benchmarks.environments import ROOT, Environment, Environments
from benchmarks.processes import clean_environment, peak_of
from benchmarks.rows import Row, bar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastmcp import Client
    from vr_testing import FakeGemini

TALK = ROOT / "src" / "video_research" / "talk.mp4"
NAMES = ("ours", "peer")
EQUAL = 50
GIB = 1 << 30
HITS = 15
PAUSE_S = 0.005
SEEN = {
    "title": "A talk",
    "summary": "About vectors.",
    "key_points": ["One"],
    "timestamps": [{"time": "0:05", "description": "Start", "quote": ""}],
    "topics": ["search"],
    "sentiment": "neutral",
}


@dataclass(slots=True)
class Figures:
    """Time and memory of one server."""

    calls: int = 0
    equal_calls: int = 0
    seconds: float = 0.0
    hit_ms: float = 0.0
    stall_ms: float = 0.0
    extra_mb: float = 0.0


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Analyse with ours and the peer; counting once is enough."""
    del rounds
    ours, peer = (asyncio.run(_figures(environments, name)) for name in NAMES)
    return [
        bar("model calls of one analysis", ours.calls, peer=peer.calls, sign="<=", limit=1),
        bar(
            f"model calls of {EQUAL} equal analyses at once",
            ours.equal_calls,
            peer=peer.equal_calls,
            sign="<=",
            limit=1,
        ),
        bar(
            "one analysis with a model of 1 s, s",
            ours.seconds,
            peer=peer.seconds,
            sign="<=",
            limit=1.3,
        ),
        bar("cache hit on 1 GiB, best, ms", ours.hit_ms, peer=peer.hit_ms, sign="<=", limit=15),
        bar(
            "longest wait of another call meanwhile, ms",
            ours.stall_ms,
            peer=peer.stall_ms,
            sign="<=",
            limit=50,
        ),
        bar(
            "memory of analysing 1 GiB beyond a small file, MB",
            ours.extra_mb,
            peer=peer.extra_mb,
            sign="<=",
            limit=40,
        ),
    ]


async def _figures(environments: Environments, name: str) -> Figures:
    from vr_testing import FakeGemini

    figures, environment = Figures(), getattr(environments, name)
    home = environments.home(f"paid-{name}")
    rmtree(home)
    home.mkdir()
    small = Path(copyfile(TALK, home / "talk.mp4"))
    with FakeGemini() as gemini, _large_file(home) as large:
        gemini.answer(SEEN, when=lambda request: "title" in str(request.schema))
        async with AsyncExitStack() as stack:
            client, pid = await stack.enter_async_context(connected(environment, home, gemini))
            await _analyse(client, small, "Warm up")
            before = len(asked(gemini))
            await _analyse(client, small, "Once")
            figures.calls = len(asked(gemini)) - before
            gemini.latency = 1.0
            await asyncio.gather(*(_analyse(client, small, "Equal") for _ in range(EQUAL)))
            figures.equal_calls = len(asked(gemini)) - before - figures.calls
            began = time.perf_counter()
            await _analyse(client, small, "Slow")
            figures.seconds = time.perf_counter() - began
            gemini.latency = 0.0
            peak = peak_of(pid)
            await _analyse(client, large, "Large")
            figures.extra_mb = peak_of(pid) - peak
            figures.hit_ms, figures.stall_ms = await _hits(client, large)
    return figures


async def _hits(client: Client[Any], large: Path) -> tuple[float, float]:
    """The fastest cache hit, and the longest wait of another tool meanwhile, in milliseconds."""
    waits: list[float] = []

    async def others() -> None:
        while True:
            began = time.perf_counter()
            await client.call_tool("infra_cache", {})
            waits.append(time.perf_counter() - began)
            await asyncio.sleep(PAUSE_S)

    beside = asyncio.create_task(others())
    await _analyse(client, large, "Large")
    await asyncio.sleep(0.1)
    beside.cancel()
    hits = []
    for _ in range(HITS):
        began = time.perf_counter()
        await _analyse(client, large, "Large")
        hits.append(time.perf_counter() - began)
    return min(hits) * 1000, max(waits) * 1000


async def _analyse(client: Client[Any], file: Path, instruction: str) -> None:
    await call(client, "video_analyze", file_path=str(file), instruction=instruction)


async def call(client: Client[Any], tool: str, **arguments: str) -> None:
    """Call a tool that must not fail."""
    result = await client.call_tool(tool, arguments)
    said = result.structured_content or {}
    if result.is_error or "error" in said:
        raise RuntimeError(f"{tool} failed: {said or result.content}")


def asked(gemini: FakeGemini) -> list[Any]:
    """Requests that a model got."""
    return gemini.requests_of("generateContent")


@asynccontextmanager
async def connected(
    environment: Environment,
    home: Path,
    gemini: FakeGemini,
    settings: Mapping[str, str] | None = None,
) -> AsyncIterator[tuple[Client[Any], int]]:
    """A server over stdio, and the id of its process."""
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    pid_file = home / "pid"
    # A shell that becomes the server tells which process it is.
    command = f'echo $$ > "{pid_file}"; exec "$@"'
    transport = StdioTransport(
        command="/bin/sh",
        args=["-c", command, "sh", *environment.server],
        env={**variables(home, gemini), **(settings or {})},
        cwd=str(home),
        keep_alive=False,
        log_file=home / "server.log",
    )
    async with Client(transport) as client:
        yield client, int(pid_file.read_text("utf-8"))


def variables(home: Path, gemini: FakeGemini) -> dict[str, str]:
    """The environment of a program that asks the fake, and keeps all below a folder."""
    return clean_environment(
        home,
        GEMINI_API_KEY="a-key",
        GOOGLE_GEMINI_BASE_URL=gemini.url,
        GEMINI_CACHE_DIR=str(home / "cache"),
        LOCAL_FILE_ACCESS_ROOT=str(home),
    )


@contextmanager
def _large_file(folder: Path) -> Iterator[Path]:
    """The talk with an empty `free` box behind it that makes it 1 GiB; sparse on disk."""
    path = Path(copyfile(TALK, folder / "large.mp4"))
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(struct.pack(">I4sQ", 1, b"free", GIB - size))
    os.truncate(path, GIB)
    try:
        yield path
    finally:
        path.unlink()
