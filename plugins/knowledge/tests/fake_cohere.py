"""Cohere's reranker on this machine: its wire over a real socket, its answers of the test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

KEY = "cohere-key-of-the-test"
PATH = "/v2/rerank"


@dataclass
class FakeCohere:
    """Scores a text by how many words of the question it has, unless `replies` say otherwise.

    A reply is a status and a body; None hangs until the client gives up. Each is used once.
    """

    port: int = 0
    asked: list[dict[str, Any]] = field(default_factory=list)
    replies: list[tuple[int, bytes] | None] = field(default_factory=list)
    broken: bool = False
    _held: set[asyncio.Task[Any]] = field(default_factory=set)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings with which a kernel reaches it."""
        return {
            "plugins.knowledge.cohere_base_url": f"http://127.0.0.1:{self.port}",
            "plugins.knowledge.cohere_api_key": KEY,
            "plugins.knowledge.refining_deadline_s": 60,
            "kernel.http.allowed_hosts": [f"127.0.0.1:{self.port}"],
        }

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._held.add(task)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self._answer(reader, writer)
        self._held.discard(task)
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = [line.partition(": ") for line in head.split("\r\n")[1:]]
        headers = {name.lower(): value for name, _, value in lines}
        body = json.loads(await reader.readexactly(int(headers["content-length"])))
        self.asked.append(body)
        if self.broken:
            writer.transport.abort()
            return
        reply = self.replies.pop(0) if self.replies else self._usual(head, headers, body)
        if reply is None:
            await asyncio.get_running_loop().create_future()
            return
        status, content = reply
        writer.write(
            f"HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(content)}\r\n\r\n".encode()
            + content
        )
        await writer.drain()

    def _usual(self, head: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[int, bytes]:
        if not head.startswith(f"POST {PATH} ") or headers.get("authorization") != f"Bearer {KEY}":
            return 401, b'{"message": "invalid api token"}'
        return 200, ranked(word_scores(body["query"], body["documents"]))

    async def close(self) -> None:
        for task in self._held:
            task.cancel()
        await asyncio.gather(*self._held, return_exceptions=True)


def word_scores(query: str, texts: Sequence[str]) -> list[float]:
    words = set(query.lower().split())
    return [len(words.intersection(text.lower().split())) / len(words) for text in texts]


def ranked(scores: Sequence[float]) -> bytes:
    """Scores as the service sends them: best first, each with the place of its text."""
    results = [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]
    results.sort(key=lambda result: -result["relevance_score"])
    meta = {"billed_units": {"search_units": 1}}
    return json.dumps({"id": "1", "results": results, "meta": meta}).encode()


@asynccontextmanager
async def serving_cohere() -> AsyncIterator[FakeCohere]:
    fake = FakeCohere()
    server = await asyncio.start_server(fake.serve, "127.0.0.1", 0)
    fake.port = server.sockets[0].getsockname()[1]
    try:
        yield fake
    finally:
        server.close()
        await fake.close()
