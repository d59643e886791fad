"""Sites on real sockets that write down what reaches them, and a name service of the test."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpcore2
from vr_kernel.config.settings import HttpSettings
from vr_kernel.http import Fetcher
from vr_kernel.log import Log

PUBLIC = "93.184.215.14"
PUBLIC_V6 = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"
Answer = Callable[[str, asyncio.StreamWriter], Awaitable[None]]


def reply(
    body: bytes = b"hello",
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    *,
    length: int | None = None,
) -> bytes:
    """A whole HTTP answer; `length` is what it claims its length is."""
    head = {
        "Content-Type": "text/html",
        "Content-Length": str(len(body) if length is None else length),
        **(headers or {}),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    return f"HTTP/1.1 {status} Said\r\n{lines}\r\n".encode("latin-1") + body


def leads_to(location: str, status: int = 302) -> bytes:
    return reply(b"", status, {"Location": location})


class Site:
    """A server on a loopback address: its pages by path, its connections and requests."""

    def __init__(self, pages: Mapping[str, bytes | Answer]) -> None:
        self.pages = dict(pages)
        self.connections = 0
        self.requests: list[str] = []
        self.port = 0
        self.asked = asyncio.Event()
        self.gone = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()

    @asynccontextmanager
    async def serving(
        self, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None, port: int = 0
    ) -> AsyncIterator[Site]:
        server = await asyncio.start_server(self._serve, host, port, ssl=tls)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while True:
                    head = (await reader.readuntil(b"\r\n\r\n")).decode()
                    self.requests.append(head)
                    self.asked.set()
                    await self._answer(head.split()[1], writer)
        finally:
            self.gone.set()
            writer.close()
            with suppress(ConnectionError, OSError):
                await writer.wait_closed()

    async def _answer(self, path: str, writer: asyncio.StreamWriter) -> None:
        page = self.pages.get(path) or self.pages.get(path.partition("?")[0], reply(b"", 404))
        if isinstance(page, bytes):
            writer.write(page)
            await writer.drain()
        else:
            await page(path, writer)

    def headers(self, number: int = -1) -> dict[str, str]:
        """The headers of one request, in lower case."""
        lines = self.requests[number].split("\r\n")[1:]
        pairs = (line.partition(":") for line in lines if line)
        return {name.lower(): value.strip() for name, _, value in pairs}


class Network(httpcore2.AsyncNetworkBackend):
    """Connects to addresses, and writes each down; a few lead to a site of the test.

    An address without a route is really connected to: what the fetcher lets through, leaves.
    """

    def __init__(self, routes: Mapping[str, Site] | None = None) -> None:
        self.routes = dict(routes or {})
        self.dialled: list[str] = []
        self._real = httpcore2.AnyIOBackend()

    async def connect_tcp(self, host: str, port: int, *rest: Any) -> httpcore2.AsyncNetworkStream:
        self.dialled.append(host)
        if host in self.routes:
            host, port = "127.0.0.1", self.routes[host].port
        return await self._real.connect_tcp(host, port, *rest)


class Names:
    """A name service: a name's answers one after the other, the last one for ever."""

    def __init__(self, answers: Mapping[str, Iterable[Sequence[str]]] | None = None) -> None:
        self.answers = {name: list(given) for name, given in (answers or {}).items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        answers = self.answers.get(host, [[PUBLIC]])
        return answers.pop(0) if len(answers) > 1 else answers[0]


def fetcher(names: Names | Any = None, network: Network | None = None, **settings: Any) -> Fetcher:
    return Fetcher(
        HttpSettings.model_validate(settings),
        log=Log("error", "console"),
        resolve=names or Names(),
        network=network,
    )


def at(site: Site, names: Names | None = None, **settings: Any) -> Fetcher:
    """A fetcher for which every public address is that site."""
    return fetcher(names, Network({PUBLIC: site, PUBLIC_V6: site}), **settings)
