"""`vr serve --http`: who may ask, what is refused, whose jobs are whose, and how it ends."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from command_fork import run_vr
from mcp import MCPError
from paid_work import paid_zoo, paying
from plugin_zoo import vr_command
from server_process import HttpServerProcess
from starlette.authentication import UnauthenticatedUser
from starlette.responses import Response
from task_client import follow
from virtual_time import run_virtually
from vr_kernel import ERROR_META, Kernel, VrError, load_config
from vr_server import build_http_app
from vr_server.http.body_limit import BODY_S, HALF_SENT, REFUSED_S, BodyLimit
from vr_server.http.http_app import is_loopback
from vr_testing import FakeGemini
from waiting import until

OWNER, BOB = "owner-token-0123456789", "bobs-token-0123456789"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@dataclass
class Serving:
    """A server process, and the service that it pays."""

    process: HttpServerProcess
    gemini: FakeGemini

    @property
    def url(self) -> str:
        """Address of the server."""
        return self.process.url

    def headers(self, token: str = OWNER, **more: str) -> dict[str, str]:
        """Headers of a request."""
        return {**ACCEPT, "Authorization": f"Bearer {token}", **more}


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server that drains and ends well when a signal comes, whatever it was asked before."""
    folder = tmp_path_factory.mktemp("http")
    zoo = paid_zoo(folder)
    with FakeGemini() as gemini:
        more = {"VR_HTTP_TOKENS": f"{OWNER}, bob:{BOB}", "VR_KERNEL__HANDLE_AFTER_S": "0.3"}
        environ = zoo.environment(**paying(gemini), **more)
        with HttpServerProcess(environ, folder) as process:
            yield Serving(process, gemini)
            assert process.terminate() == 0


@pytest.fixture
async def http() -> AsyncIterator[Any]:
    import httpx2

    async with httpx2.AsyncClient() as client:
        yield client


async def test_health_asks_for_no_token(serving: Serving, http: Any) -> None:
    answer = await http.get(serving.url.replace("/mcp", "/health"))
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_every_era_is_served(serving: Serving, mode: Any) -> None:
    from fastmcp import Client
    from fastmcp.client.auth import BearerAuth

    async with Client(serving.url, auth=BearerAuth(OWNER), mode=mode) as client:
        names = [tool.name for tool in await client.list_tools()]
        result = await client.call_tool("infra_plugins", {})
    assert "paid_ask" in names
    assert result.structured_content["plugins"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer nobodys-token-012345"}, 401),
        ({"Authorization": f"Bearer {OWNER[:-1]}"}, 401),
        ({"Authorization": f"Basic {OWNER}"}, 401),
        ({"Authorization": f"Bearer {OWNER}", "Host": "evil.example"}, 421),
        ({"Authorization": f"Bearer {OWNER}", "Origin": "https://evil.example"}, 403),
    ],
)
async def test_who_may_not_ask_is_refused(
    serving: Serving, http: Any, headers: dict[str, str], status: int
) -> None:
    answer = await http.post(serving.url, json=LIST, headers=ACCEPT | headers)
    assert answer.status_code == status
    assert "paid_ask" not in answer.text
    assert OWNER not in answer.text


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"x" * 5_000_000, 413),
        (b"[" * 100_000 + b"]" * 100_000, 400),
        (b"[" + b"[]," * 1_000_000 + b"[]]", 413),
        (b"{" + b",".join(b'"%d" : 1' % n for n in range(150_000)) + b"}", 413),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (json.dumps({"jsonrpc": "2.0", "id": 1, "method": 7}).encode(), 400),
    ],
    ids=["large", "deep", "many", "names", "cut", "bytes", "wrong"],
)
async def test_what_cannot_be_read_is_refused(
    serving: Serving, http: Any, body: bytes, status: int
) -> None:
    headers = serving.headers() | {"Content-Type": "application/json"}
    answer = await http.post(serving.url, content=body, headers=headers)
    assert answer.status_code == status


async def test_a_body_that_says_no_length_is_counted(serving: Serving, http: Any) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b"x" * 100_000

    answer = await http.post(serving.url, content=endless(), headers=serving.headers())
    assert answer.status_code == 413


def half_a_request(url: str, *headers: str) -> socket.socket:
    """A connection on which a body of 3 MB has begun."""
    host, port = url.split("/")[2].split(":")
    connection = socket.create_connection((host, int(port)), timeout=30)
    head = ["POST /mcp HTTP/1.1", f"Host: {host}", "Content-Length: 3000000", *headers]
    connection.sendall("\r\n".join([*head, "", ""]).encode() + b"x" * 300_000)
    return connection


def test_who_may_not_ask_is_refused_before_the_body_is_there(serving: Serving) -> None:
    with half_a_request(serving.url) as connection:
        assert b"401" in connection.recv(100)
        connection.sendall(b"x" * 2_700_000)
        while connection.recv(10_000):
            pass  # and is hung up on then


@pytest.mark.parametrize(("user", "status"), [(None, 408), (UnauthenticatedUser(), 401)])
def test_a_body_that_never_comes_is_not_waited_for(user: Any, status: int) -> None:
    sent: list[Any] = []

    async def nothing() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    async def ask() -> float:
        limit = BodyLimit(Response(status_code=401), most=1000, owner="me")
        scope = {"type": "http", "headers": [(b"content-length", b"9")], "user": user}
        await limit(scope, nothing, send)
        return asyncio.get_running_loop().time()

    assert run_virtually(ask()) == pytest.approx(BODY_S if user is None else REFUSED_S)
    assert sent[0]["status"] == status
    assert (b"connection", b"close") in sent[0]["headers"]
    assert not sent[-1].get("more_body")


async def test_one_principal_cannot_fill_the_memory_with_half_bodies() -> None:
    at_once, most = HALF_SENT + 10, 1000
    refused: list[int] = []
    waiting = 0

    async def ask() -> None:
        parts = iter([b"x" * (most - 1)])

        async def half() -> Any:
            nonlocal waiting
            if (part := next(parts, None)) is not None:
                return {"type": "http.request", "body": part, "more_body": True}
            waiting += 1
            return await asyncio.Event().wait()

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                refused.append(message["status"])

        scope = {"type": "http", "headers": [(b"transfer-encoding", b"chunked")]}
        await limit(scope, half, send)

    limit = BodyLimit(Response(), most=most, owner="me")
    asked = [asyncio.create_task(ask()) for _ in range(at_once)]
    await until(lambda: waiting == at_once)
    assert 0 < len(refused) <= at_once - HALF_SENT
    assert set(refused) == {503}
    for task in asked:
        task.cancel()
    await asyncio.gather(*asked)


@pytest.mark.parametrize("token", ["nobodys-token-012345", BOB])
def test_a_body_of_tiny_chunks_is_not_taken_apart(serving: Serving, token: str) -> None:
    host, port = serving.url.split("/")[2].split(":")
    lines = ["POST /mcp HTTP/1.1", f"Host: {host}", "Transfer-Encoding: chunked"]
    head = "\r\n".join([*lines, f"Authorization: Bearer {token}", "", ""]).encode()
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(head)
        with pytest.raises(ConnectionError):
            connection.sendall(b"1\r\n \r\n" * 4_000_000)  # more than any buffer on the way holds


async def test_a_body_in_some_small_chunks_is_taken(serving: Serving, http: Any) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for sign in json.dumps(LIST):
            yield sign.encode()

    headers = serving.headers() | {"Content-Type": "application/json"}
    answer = await http.post(serving.url, content=pieces(), headers=headers)
    assert "Missing session ID" in answer.text, "it was read"


@pytest.mark.slow
def test_a_server_ends_well_amid_a_body(tmp_path: Path) -> None:
    environ = paid_zoo(tmp_path).environment(VR_KERNEL__SERVE__DRAIN_S="0")
    with HttpServerProcess(environ, tmp_path) as server:
        with half_a_request(server.url) as connection:
            server.process.terminate()
            assert b"503" in connection.recv(100)
        assert server.terminate() == 0
    assert "Traceback" not in "".join(server.lines)


@pytest.mark.slow
def test_a_port_that_is_taken_is_an_error_in_words(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = subprocess.run(
            [*vr_command(), "serve", "--http", str(port)],
            env=paid_zoo(tmp_path).environment(),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert f"port {port}" in done.stderr
    assert "--http 0" in done.stderr
    assert "Traceback" not in done.stderr


async def test_a_job_is_its_principals_alone(serving: Serving) -> None:
    from fastmcp import Client
    from fastmcp.client.auth import BearerAuth

    serving.gemini.latency = 0.5
    async with Client(serving.url, auth=BearerAuth(BOB)) as bob:
        call = {"name": "x", "items": 2, "at_once": 1}
        handle = (await bob.call_tool("paid_batch", call)).structured_content
        serving.gemini.latency = 0.0
        job = {"job_id": handle["job_id"]}
        async with Client(serving.url, auth=BearerAuth(OWNER)) as owner:
            for tool in ("job_status", "job_result", "job_cancel"):
                refused = await owner.call_tool(tool, job, raise_on_error=False)
                assert refused.meta[ERROR_META]["category"] == "JOB_UNKNOWN"
            assert (await owner.call_tool("job_list", {})).structured_content == {"jobs": []}
        ended = (await bob.call_tool("job_result", job)).structured_content
    assert ended["state"] == "done"
    assert len(ended["result"]["texts"]) == 2


def damage_ledger(state: Path) -> None:
    """Have another file in the place of the jobs'."""
    state.mkdir()
    (state / "jobs.db").write_bytes(b"no database at all " * 500)


@pytest.mark.slow
async def test_where_a_damaged_file_is_is_the_owners_to_know(tmp_path: Path) -> None:
    from fastmcp.client.auth import BearerAuth

    environ = paid_zoo(tmp_path).environment(VR_HTTP_TOKENS=f"{OWNER}, bob:{BOB}")
    damage_ledger(Path(environ["VR_STATE_DIR"]))
    with HttpServerProcess(environ, tmp_path) as server:
        for token in (OWNER, BOB):
            async with follow(server.url, auth=BearerAuth(token)) as client:
                for method in ("tasks/get", "tasks/update", "tasks/cancel"):
                    with pytest.raises(MCPError) as caught:
                        await client.ask(method, taskId="0" * 32, inputResponses={})
                    error = caught.value
                    assert error.data["category"] == "STATE_DAMAGED"
                    told = f"{error.message} {error.data}"
                    assert (str(tmp_path) in told) is (token is OWNER)


async def test_only_the_owner_sees_and_changes_settings(serving: Serving) -> None:
    from fastmcp import Client
    from fastmcp.client.auth import BearerAuth

    change = {"preset": "budget"}
    async with Client(serving.url, auth=BearerAuth(BOB)) as bob:
        for given in (change, {}):
            refused = await bob.call_tool("infra_configure", given, raise_on_error=False)
            assert refused.meta[ERROR_META]["code"] == "NOT_ALLOWED"
    async with Client(serving.url, auth=BearerAuth(OWNER)) as owner:
        changed = (await owner.call_tool("infra_configure", change)).structured_content
    assert changed["active_preset"] == "budget"


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.org"])
def test_beyond_this_machine_a_token_is_needed(
    host: str, environ: dict[str, str], tmp_path: Path
) -> None:
    assert not is_loopback(host)
    kernel = Kernel(load_config(environ, working_folder=tmp_path), {})
    with pytest.raises(VrError) as caught:
        build_http_app(kernel, host)
    assert caught.value.category == "CONFIG_INVALID"
    assert "VR_HTTP_TOKEN" in caught.value.hint


@pytest.mark.parametrize("tokens", ["short", "a:short", f"{OWNER},bob:{OWNER}", ":"])
def test_tokens_that_cannot_be_used_are_refused(
    tokens: str, environ: dict[str, str], tmp_path: Path
) -> None:
    kernel = Kernel(load_config({**environ, "VR_HTTP_TOKENS": tokens}, working_folder=tmp_path), {})
    with pytest.raises(VrError) as caught:
        build_http_app(kernel, "127.0.0.1")
    assert caught.value.category == "CONFIG_INVALID"
    assert OWNER not in caught.value.message


@pytest.mark.parametrize("address", ["x", "1:2:y", "99999", "", "-1"])
def test_an_address_that_is_none_is_refused(address: str, tmp_path: Path) -> None:
    done = run_vr(paid_zoo(tmp_path).environment(), tmp_path, "serve", "--http", address)
    assert done.code == 2
    assert "PORT" in done.stderr
