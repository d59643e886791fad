"""JSON to a service and back: what is sent, and that it goes nowhere else."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from vr_kernel.errors import Code, VrError
from web_service import Names, Network, Site, at, fetcher, leads_to, reply

JSON = {"Content-Type": "application/json"}
URL = "http://api.example/v2/rerank"


async def _refused(site: Site, **options: Any) -> VrError:
    with pytest.raises(VrError) as caught:
        await at(site).post(URL, {"q": 1}, **options)
    return caught.value


async def test_what_is_sent_and_what_comes_back() -> None:
    arrived = asyncio.get_running_loop().create_future()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        size = next(int(x.split(":")[1]) for x in head.split("\r\n") if x.startswith("Content-L"))
        arrived.set_result((head, await reader.readexactly(size)))
        writer.write(reply(b'{"results": []}', headers=JSON))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    web = fetcher(allowed_hosts=[f"127.0.0.1:{port}"])
    async with server:
        page = await web.post(
            f"http://127.0.0.1:{port}/v2/rerank", {"q": "é"}, headers={"Authorization": "Bearer k"}
        )
    head, body = await arrived
    assert head.startswith("POST /v2/rerank HTTP/1.1\r\n")
    assert "Authorization: Bearer k\r\n" in head
    assert "Content-Type: application/json\r\n" in head
    assert json.loads(body) == {"q": "é"}
    assert json.loads(page.content) == {"results": []}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_nothing_is_led_on(status: int) -> None:
    elsewhere = leads_to("http://other.example/", status)
    async with Site({"/v2/rerank": elsewhere}).serving() as site:
        error = await _refused(site, headers={"Authorization": "Bearer secret"})
        assert (error.category, site.connections) == ("HTTP_STATUS", 1)
    assert "secret" not in f"{error.message} {error.hint}"


@pytest.mark.parametrize(
    ("answer", "category"),
    [
        (reply(b"no", 401, JSON), "HTTP_FORBIDDEN"),
        (reply(b"no", 429, JSON), "HTTP_TOO_MANY_REQUESTS"),
        (reply(b"no", 500, JSON), "HTTP_SERVER_ERROR"),
        (reply(b"<p>"), "CONTENT_TYPE"),
        (reply(b"x" * 2000, headers=JSON), "FILE_TOO_LARGE"),
    ],
)
async def test_an_answer_that_is_none(answer: bytes, category: str) -> None:
    async with Site({"/v2/rerank": answer}).serving() as site:
        assert (await _refused(site, max_bytes=1000)).category == category


async def test_a_service_that_hangs() -> None:
    async def hang(_path: str, _writer: asyncio.StreamWriter) -> None:
        await asyncio.get_running_loop().create_future()

    async with Site({"/v2/rerank": hang}).serving() as site:
        error = await _refused(site, deadline_s=0.05)
    assert (error.category, error.retryable) == ("NETWORK_ERROR", True)


async def test_a_local_address_is_not_posted_to() -> None:
    network = Network()
    web = fetcher(Names({"api.example": [["127.0.0.1"]]}), network)
    with pytest.raises(VrError) as caught:
        await web.post(URL, {})
    assert caught.value.code is Code.NOT_ALLOWED
    assert network.dialled == []
