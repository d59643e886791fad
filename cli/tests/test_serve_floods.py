"""The HTTP server amid clients that are slow, endless, too many or speak something else."""

from __future__ import annotations

import asyncio
import json
import re
import select
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from vr_kernel import load_config
from vr_server import HttpServer
from vr_server.http.connections import ConnectionLimits
from waiting import until

OWNER, BOB = "owner-token-0123456789", "bobs-token-0123456789"
MANY = 16
"""Most connections of a server here."""
ENDLESS_CHUNKS = 2_000
HALF = b"GET /mcp HTTP/1.1\r\nX-"
HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a", "version": "1"},
    },
}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def head(method: str, *headers: str, token: str = OWNER, session: str = "") -> bytes:
    """The head of a request."""
    lines = [
        f"{method} /mcp HTTP/1.1",
        "Host: localhost",
        "Accept: application/json, text/event-stream",
        "Content-Type: application/json",
        *([f"Authorization: Bearer {token}"] if token else []),
        *([f"Mcp-Session-Id: {session}"] if session else []),
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode()


@dataclass
class Client:
    """One connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        """Send these bytes."""
        self.writer.write(data)
        await self.writer.drain()

    async def send_for_ever(self, data: bytes) -> None:
        """Send these bytes again and again; after many times the server takes too many."""
        for _ in range(ENDLESS_CHUNKS):
            await self.send(data)

    async def post(self, message: Any, **given: str) -> bytes:
        """The head of the answer to a message."""
        body = json.dumps(message).encode()
        await self.send(head("POST", f"Content-Length: {len(body)}", **given) + body)
        return await self.answer()

    async def answer(self) -> bytes:
        """The next head of an answer."""
        return await self.reader.readuntil(b"\r\n\r\n")

    async def rest(self) -> bytes:
        """All until the server hangs up."""
        with suppress(ConnectionError):
            return await self.reader.read()
        return b""


@dataclass
class Server:
    """A server in this process, and its clients."""

    port: int
    clients: list[Client] = field(default_factory=list)

    async def connect(self, first: bytes = b"", *, address: str = "127.0.0.1") -> Client:
        """A connection from an address, on which this was sent."""
        client = Client(
            *await asyncio.open_connection("127.0.0.1", self.port, local_addr=(address, 0))
        )
        self.clients.append(client)
        await client.send(first)
        return client

    async def status(self) -> bytes:
        """The answer to who asks for the health, on a connection of its own."""
        return await (await self.connect(HEALTH)).answer()

    async def session(self, token: str = OWNER) -> str:
        """The id of a new session."""
        answer = await (await self.connect()).post(INITIALIZE, token=token)
        found = re.search(rb"mcp-session-id: (\w+)", answer)
        assert found, answer
        return found[1].decode()

    async def stream(self, session: str, token: str = OWNER) -> tuple[Client, bytes]:
        """An open stream of a session, and how it began."""
        client = await self.connect(head("GET", token=token, session=session))
        return client, await client.answer()


Serve = Callable[..., Awaitable[Server]]


@pytest.fixture
async def serve(start: Any, environ: dict[str, str]) -> AsyncIterator[Serve]:
    """Starts servers of few connections; settings are given by name."""
    async with AsyncExitStack() as stack:

        async def begin(head_s: float = 20.0, unread_s: float = 300.0, **settings: str) -> Server:
            given = {f"VR_KERNEL__SERVE__{name}": text for name, text in settings.items()}
            given |= {"VR_HTTP_TOKENS": f"{OWNER},bob:{BOB}", "VR_KERNEL__SERVE__DRAIN_S": "0"}
            kernel = await start(config=load_config({**environ, **given}))
            limits = ConnectionLimits(MANY, head_s, unread_s)
            listening = HttpServer(kernel, "127.0.0.1", 0, limits)
            serving = asyncio.create_task(listening.serve())
            await until(lambda: listening.started)
            server = Server(listening.servers[0].sockets[0].getsockname()[1])

            async def end() -> None:
                for client in server.clients:
                    client.writer.close()
                listening.should_exit = True
                await serving

            stack.push_async_callback(end)
            return server

        yield begin


# Slow ones.


@pytest.mark.parametrize("later", [False, True])
async def test_a_head_that_does_not_come_whole_is_not_waited_for(
    serve: Serve, *, later: bool
) -> None:
    server = await serve(head_s=0.2)
    client = await server.connect()
    if later:
        await client.send(HEALTH)
        assert b" 200 " in await client.answer()
    await client.send(HALF)
    assert b"HTTP/1.1 408 " in await client.rest()


async def test_who_says_nothing_is_hung_up_on_without_a_word(serve: Serve) -> None:
    server = await serve(head_s=0.2)
    assert await (await server.connect()).rest() == b""


async def test_a_body_without_end_is_hung_up_on(serve: Serve) -> None:
    server = await serve()
    for token, refused in ((OWNER, b" 413 "), ("", b" 401 ")):
        for length in ("Content-Length: 99999999999", "Transfer-Encoding: chunked"):
            client = await server.connect(head("POST", length, token=token))
            answer = asyncio.create_task(client.answer())
            with pytest.raises(ConnectionError):
                await client.send_for_ever(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
            assert refused in await answer


async def test_the_rest_of_what_is_answered_already_is_not_waited_for(serve: Serve) -> None:
    server = await serve(head_s=0.2)
    for line in ("POST /nowhere HTTP/1.1", "POST /mcp HTTP/1.1\r\nHost: evil.example"):
        client = await server.connect(f"{line}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        assert b"HTTP/1.1 4" in await client.answer()
        await client.send(b"1\r\nx\r\n")
        await client.rest()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="the system cannot tell")
async def test_answers_that_nobody_reads_are_dropped(serve: Serve) -> None:
    server = await serve(unread_s=1.0)
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", server.port))
        deaf.setblocking(False)
        session = await server.session()
        body = json.dumps(LIST).encode()
        asked = head("POST", f"Content-Length: {len(body)}", session=session) + body
        hung_up = select.poll()
        hung_up.register(deaf, select.POLLERR | select.POLLHUP)

        def gone() -> bool:
            with suppress(OSError):  # there is no more room for requests
                deaf.send(asked * 10)
            return bool(hung_up.poll(0))

        await until(gone, within=100)
    assert b" 200 " in await server.status()


# Too many.


async def test_half_a_head_gives_way_to_who_comes(serve: Serve) -> None:
    server = await serve()
    halves = [await server.connect(HALF) for _ in range(3 * MANY)]
    assert b" 200 " in await server.status()
    session = await server.session()
    client = await server.connect()
    assert b" 200 " in await client.post(LIST, session=session)
    assert await halves[0].rest() == b""
    assert not halves[-1].reader.at_eof()


async def test_an_unwhole_body_gives_way_too(serve: Serve) -> None:
    server = await serve()
    for token in (OWNER, ""):
        for _ in range(2 * MANY):
            await server.connect(head("POST", "Content-Length: 1000", token=token) + b"x")
    assert b" 200 " in await server.status()


async def test_what_is_under_way_gives_way_to_nobody(serve: Serve) -> None:
    server = await serve()
    stream, answer = await server.stream(await server.session())
    assert b" 200 " in answer
    for _ in range(3 * MANY):
        await server.connect(HALF)
    assert b" 200 " in await server.status()
    assert not stream.reader.at_eof()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a second address of this machine")
async def test_one_address_displaces_nobody_at_another(serve: Serve) -> None:
    server = await serve()
    begun = await server.connect(HEALTH[:30])
    for _ in range(3 * MANY):
        await server.connect(HALF, address="127.0.0.2")
    await begun.send(HEALTH[30:])
    assert b" 200 " in await begun.answer()


async def test_places_are_kept_for_the_owner_and_for_health(serve: Serve) -> None:
    server = await serve()
    streams = [await server.stream(await server.session(BOB), BOB) for _ in range(MANY // 2)]
    begun = [answer.split()[1] for _, answer in streams]
    assert set(begun) == {b"200", b"503"}
    assert not streams[0][0].reader.at_eof()
    owners = [await server.stream(await server.session()) for _ in range(MANY // 2 - 1)]
    assert all(b" 200 " in answer for _, answer in owners)
    assert b" 200 " in await server.status()


# Sessions.


async def _has(server: Server, session: str) -> bool:
    client = await server.connect()
    status = (await client.post(LIST, session=session)).split()[1]
    assert status in (b"200", b"404")
    return status == b"200"


async def test_the_idlest_session_ends_for_a_new_one(serve: Serve) -> None:
    server = await serve(MAX_SESSIONS="3")
    streamed = await server.session()
    stream, _ = await server.stream(streamed)
    sessions = [await server.session() for _ in range(2)]
    bobs = await server.session(BOB)
    assert await _has(server, sessions[0])  # so the other is the idlest
    sessions.append(await server.session())
    assert [await _has(server, each) for each in sessions] == [True, False, True]
    assert await _has(server, streamed)
    assert not stream.reader.at_eof()
    client = await server.connect()
    assert b" 200 " in await client.post(LIST, token=BOB, session=bobs)


async def test_a_session_that_nobody_uses_ends(serve: Serve) -> None:
    server = await serve(SESSION_IDLE_S="0.2")
    session = await server.session()
    await until(lambda: not any("run_server" in task.get_name() for task in asyncio.all_tasks()))
    assert not await _has(server, session)
    assert await server.session()


# Other tongues.


FOREIGN = {
    "h2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "tls": bytes.fromhex("16030100c8010000c40303") + bytes(range(190)),
    "zeros": b"\x00" * 70_000,
    "fields": b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000,
    "field": b"GET /mcp HTTP/1.1\r\nX: " + b"y" * 200_000,
    "chunk": head("POST", "Transfer-Encoding: chunked", token="") + b"zz\r\n",
    "owner's chunk": head("POST", "Transfer-Encoding: chunked") + b"zz\r\n",
    "length": head("POST", "Content-Length: -1"),
    "websocket": head("GET", "Connection: Upgrade, close", "Upgrade: websocket", token=""),
    "empty lines": b"\r\n" * 50_000,
}


async def test_what_is_not_understood_is_hung_up_on(
    serve: Serve, capfd: pytest.CaptureFixture[str]
) -> None:
    server = await serve(head_s=0.5)
    clients = {name: await server.connect() for name in FOREIGN}
    for name, client in clients.items():
        with suppress(ConnectionError):
            await client.send(FOREIGN[name])
    for name, client in clients.items():
        assert b" 200 " not in await client.rest(), name
    assert b" 200 " in await server.status()
    assert "Traceback" not in capfd.readouterr().err


async def test_pipelined_requests_hold_up_nobody(serve: Serve) -> None:
    server = await serve()
    greedy = await server.connect(HEALTH * 5_000)
    assert b" 200 " in await server.status()
    assert not greedy.reader.at_eof()
