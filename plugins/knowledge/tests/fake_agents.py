"""Weaviate's agents service on this machine: its wire over a real socket, answers of the test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

PATH = "/query/ask"


@dataclass
class FakeAgents:
    """Answers each question with `reply`; a number is a status with a text; None hangs."""

    port: int = 0
    reply: dict[str, Any] | tuple[int, str] | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    _held: set[asyncio.Task[Any]] = field(default_factory=set)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

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
        first, *lines = head.strip().split("\r\n")
        headers = {n.lower(): v for n, _, v in (line.partition(": ") for line in lines)}
        self.asked.append(json.loads(await reader.readexactly(int(headers["content-length"]))))
        self.headers.append(headers)
        if self.reply is None:
            await asyncio.get_running_loop().create_future()
        status, body = 200, json.dumps(self.reply)
        if isinstance(self.reply, tuple):
            status, body = self.reply
        if first.split()[:2] != ["POST", PATH]:
            status, body = 404, "no such path"
        data = body.encode()
        writer.write(
            f"HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\nConnection: close\r\n"
            f"Content-Length: {len(data)}\r\n\r\n".encode()
            + data
        )
        await writer.drain()

    def close(self) -> None:
        for task in self._held:
            task.cancel()


@asynccontextmanager
async def fake_agents() -> AsyncIterator[FakeAgents]:
    """The service, for the time of an `async with`."""
    fake = FakeAgents()
    server = await asyncio.start_server(fake.serve, "127.0.0.1", 0)
    fake.port = server.sockets[0].getsockname()[1]
    try:
        yield fake
    finally:
        server.close()
        fake.close()


def answer(text: str, sources: Sequence[tuple[str, str]], missing: Sequence[str] = ()) -> Any:
    """A reply as the service gives it: collection and UUID of each source."""
    return {
        "searches": [],
        "aggregations": [],
        "usage": {"model_units": 1, "usage_in_plan": True, "remaining_plan_requests": 9},
        "total_time": 1.5,
        "is_partial_answer": bool(missing),
        "missing_information": list(missing),
        "final_answer": text,
        "sources": [{"collection": name, "object_id": uuid} for name, uuid in sources],
    }
