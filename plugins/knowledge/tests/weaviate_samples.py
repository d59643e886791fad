"""Samples for tests of the Weaviate store: stores at one server, and bad neighbours."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from knowledge_samples import CARDS, NOTES, Ledger, WordVectors, embed_words, quiet_log
from vr_kernel import Query, RecordKind
from vr_kernel.stores import Filter, SearchMode
from vr_plugin_knowledge.weaviate_store.delivery_lock import DeliveryLock
from vr_plugin_knowledge.weaviate_store.settings import WeaviateSettings
from vr_plugin_knowledge.weaviate_store.store import WeaviateStore
from vr_testing import open_kernel
from weaviate_server import WeaviateServer


def settings_of(server: WeaviateServer, prefix: str, **more: Any) -> WeaviateSettings:
    """Settings for a server, with collections under a prefix."""
    given = {
        "weaviate_url": server.url,
        "weaviate_grpc_port": server.grpc_port,
        "weaviate_prefix": prefix,
        "weaviate_api_key": server.key,
    }
    return WeaviateSettings(**{**given, **more})


@asynccontextmanager
async def opened(
    settings: WeaviateSettings,
    folder: Path,
    vectors: WordVectors | None = None,
    kinds: tuple[RecordKind, ...] = (NOTES, CARDS),
) -> AsyncIterator[WeaviateStore]:
    """A store of one folder, as one process would have it."""
    async with open_kernel({}, folder=folder) as kernel:
        lock = DeliveryLock(kernel.services)
        store = WeaviateStore(settings, lock, vectors or WordVectors(), quiet_log())
        try:
            await store.open(kinds)
            yield store
        finally:
            await store.aclose()


async def deliver(store: WeaviateStore, ledger: Ledger) -> None:
    """Carry a ledger's changes to a store, as the kernel does, and await their vectors."""
    while changes := ledger.after(await store.cursor())[:50]:
        await store.apply(changes)
    await settle(store)


async def settle(store: WeaviateStore) -> None:
    """Wait until everything is indexed in full."""
    async with asyncio.timeout(30):
        while await store.pending_vectors():  # noqa: ASYNC110 - a store tells nobody when it is done
            await asyncio.sleep(0.02)


async def found(
    store: WeaviateStore,
    text: str,
    mode: SearchMode = "keyword",
    *filters: Filter,
    **how: Any,
) -> list[str]:
    """The keys of the records that answer a question, best first."""
    vector = None if mode == "keyword" else embed_words(text)
    hits = await store.search(Query(text, vector, mode, filters=filters, **how))
    return [hit.record.key for hit in hits]


@asynccontextmanager
async def listener(answer: Callable[[], bytes] | None = None) -> AsyncIterator[int]:
    """A port that accepts, and says what `answer` gives, or nothing at all."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if answer is not None:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(answer())
                await writer.drain()
            else:
                await reader.read()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        server.close_clients() if hasattr(server, "close_clients") else None


def http_answer(value: Any, status: str = "200 OK") -> bytes:
    """A whole answer of an HTTP service, as JSON."""
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


class Road:
    """The way to a port of this machine: open, slow, or blocked for all that travels there."""

    def __init__(self, port: int) -> None:
        self.pause_s = 0.0
        self.open = asyncio.Event()
        self.open.set()
        self._port = port
        self._travelling: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def laid(self) -> AsyncIterator[int]:
        """The port at which it begins."""
        server = await asyncio.start_server(self._travel, "127.0.0.1", 0)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            for task in self._travelling:
                task.cancel()
            await asyncio.gather(*self._travelling, return_exceptions=True)

    async def _travel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._travelling.add(task)
        task.add_done_callback(self._travelling.discard)
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._port)
            await asyncio.gather(self._carry(reader, back), self._carry(there, writer))
        except OSError:
            writer.close()
        except asyncio.CancelledError:
            writer.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65_536):
                await self.open.wait()
                await asyncio.sleep(self.pause_s)
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()
