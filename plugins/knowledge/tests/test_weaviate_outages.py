"""A Weaviate server that is blocked, stopped, full, slow and killed under 1,000 writes."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from knowledge_samples import CARDS, all_plugins
from vr_kernel import Kernel, VrError
from vr_plugin_knowledge.weaviate_store.health import weaviate_checks
from vr_testing import open_kernel
from weaviate_samples import Road
from weaviate_server import WeaviateServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]
QUICK = {"weaviate_connect_s": 2.0, "weaviate_query_s": 2.0, "weaviate_insert_s": 3.0}
WRITES = 200
OUTAGES = 5
SLOW_S = 0.1
"""What each piece is held up."""
AT_ONCE = 25
BOUND_S = 15.0
AWAY = "UNAVAILABLE The Weaviate server at http://127.0.0.1:"


@pytest.fixture
def server(weaviate: WeaviateServer, tmp_path: Path) -> Iterator[WeaviateServer]:
    """A server that a test may stop and freeze."""
    own = WeaviateServer(tmp_path / "server")
    own.start()
    yield own
    own.stop()


class Client:
    """A user's actions, and the seconds of the longest of each."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.written = 0
        self.longest: dict[str, float] = {}

    async def call(self, tool: str, **arguments: Any) -> Any:
        started = time.monotonic()
        try:
            return await self.kernel.call(tool, **arguments)
        finally:
            took = time.monotonic() - started
            self.longest[tool] = max(took, self.longest.get(tool, 0.0))

    async def write(self, count: int = WRITES) -> None:
        for start in range(self.written, self.written + count, AT_ONCE):
            objects = [{"text": f"fox {n}", "category": "d"} for n in range(start, start + AT_ONCE)]
            await self.call("knowledge_ingest", collection=CARDS.name, properties=objects)
        self.written += count

    async def look(self) -> str:
        """Search: `pending` when the answer says that something is missing, else its error."""
        try:
            found = await self.call("knowledge_search", query="fox", search_type="keyword")
        except VrError as error:
            return f"{error.code} {error.message}"
        return "pending" if found.pending else ""

    async def complaints(self) -> str:
        """Findings of `vr doctor` about the server."""
        said = []
        for check in weaviate_checks(self.kernel._plugins.contexts["knowledge"].services):
            try:
                found = await check.examine()
                said += [found.what] if found.level != "ok" else []
            except VrError as error:
                said.append(error.message)
        return " ".join(said)

    async def delivered(self) -> None:
        """Wait until the store has everything, once each."""
        async with asyncio.timeout(60):
            while await self.behind():
                await self.kernel.services.store.catch_up(1.0)
        assert await self.kernel.services.store.count(CARDS.name, "default") == {"": self.written}
        assert (await self.kernel.services.store.status()).refused == 0

    async def behind(self) -> int:
        try:
            status = await self.kernel.services.store.status()
        except VrError:
            return -1
        return status.recorded - status.delivered


@contextmanager
def blocked(*roads: Road) -> Iterator[None]:
    """Nothing arrives any more."""
    for road in roads:
        road.open.clear()
    yield
    for road in roads:
        road.open.set()


@contextmanager
def frozen(server: WeaviateServer) -> Iterator[None]:
    """The server stands still."""
    assert server.process
    server.process.send_signal(signal.SIGSTOP)
    yield
    server.process.send_signal(signal.SIGCONT)


async def test_no_outage_loses_a_record_or_keeps_anybody_waiting(server, tmp_path):
    rest, grpc = Road(server.ports[0]), Road(server.grpc_port)
    async with rest.laid() as rest_port, grpc.laid() as grpc_port:
        given = {
            "weaviate_url": f"http://127.0.0.1:{rest_port}",
            "weaviate_grpc_port": grpc_port,
            **QUICK,
        }
        settings = {f"plugins.knowledge.{name}": value for name, value in given.items()}
        settings |= {"store.backend": "weaviate", "store.embedder": "words"}
        plugins = {name: plugin for name, plugin in all_plugins().items() if name != "words"}
        async with open_kernel(plugins, settings=settings, folder=tmp_path) as kernel:
            client = Client(kernel)
            await client.write(AT_ONCE)
            await client.delivered()

            with blocked(rest, grpc):
                await client.write()
                assert AWAY in await client.look()
                assert "says nothing" in await client.complaints()
            await client.delivered()

            with frozen(server):
                await client.write()
                assert AWAY in await client.look()
                assert "says nothing" in await client.complaints()
            await client.delivered()

            server.stop()
            await client.write()
            assert AWAY in await client.look()
            assert await client.complaints()
            await asyncio.to_thread(server.start)
            await client.delivered()

            server.close_shard(CARDS.name)  # as the server does when its disk is nearly full
            await client.write()
            assert "pending" in await client.look()
            assert "take no objects" in await client.complaints()
            server.stop()
            await asyncio.to_thread(server.start)
            await client.delivered()

            for road in (rest, grpc):
                road.pause_s = SLOW_S
            await client.write()
            assert await client.look() in ("", "pending")
            await client.delivered()
            assert await client.complaints() == ""
    assert client.written == OUTAGES * WRITES + AT_ONCE
    assert client.longest["knowledge_ingest"] < BOUND_S
    assert client.longest["knowledge_search"] < BOUND_S
