"""Whatever a plugin raises, wherever it does, is its failure: it is named, others are served."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import unruly_plugin
from fastmcp import Client
from plugin_zoo import Animal, Zoo
from server_process import ServerProcess
from test_serve_http import address_of, started
from unruly_plugin import RAISED
from vr_kernel import Kernel
from vr_kernel.errors import ERROR_META
from vr_kernel.server import build_server

MCPError = pytest.importorskip("mcp.shared.exceptions").MCPError

TOOLS = [
    *("unruly_raise", "unruly_job", "unruly_once", "unruly_thread", "unruly_result"),
    *("unruly_argument", "unruly_record"),
]
ADDRESSES = ["vr://unruly/{}", "vr://unruly-model/{}"]
PROMPTS = ["unruly_words", "unruly_messages"]
KINDS = [kind for kind in RAISED if kind != "endless"]


@pytest.fixture
async def client(start: Any) -> AsyncIterator[Client[Any]]:
    kernel: Kernel = await start({"unruly": unruly_plugin})
    async with Client(build_server(kernel)) as client:
        yield client
        # Whatever happened, others are served.
        fine = await client.call_tool("unruly_fine", {})
        assert fine.structured_content == {"done": "yes"}


def require_named(error: dict[str, Any]) -> None:
    """The error says whose failure it is, and by which id the log has it."""
    assert error["code"] == "INTERNAL", error
    assert "of plugin unruly failed unexpectedly" in error["message"]
    assert len(error["call_id"]) == 32


@pytest.mark.parametrize("name", TOOLS)
async def test_tools(name: str, client: Client[Any]) -> None:
    twice = [*KINDS, *(f"{kind}!" for kind in KINDS)] if name == "unruly_raise" else KINDS
    for kind in twice:
        answer = await client.call_tool(name, {"kind": kind}, raise_on_error=False)
        require_named(answer.meta[ERROR_META])


@pytest.mark.parametrize("address", ADDRESSES)
async def test_resources(address: str, client: Client[Any]) -> None:
    for kind in KINDS:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(address.format(kind))
        require_named(caught.value.error.data)


@pytest.mark.parametrize("name", PROMPTS)
async def test_prompts(name: str, client: Client[Any]) -> None:
    for kind in KINDS:
        with pytest.raises(MCPError) as caught:
            await client.get_prompt(name, {"kind": kind})
        require_named(caught.value.error.data)


async def test_listeners(client: Client[Any]) -> None:
    for kind in [*KINDS, *(f"{kind}!" for kind in KINDS)]:
        answer = await client.call_tool("unruly_heard", {"kind": kind})
        assert answer.structured_content == {"done": "yes"}


# Real servers, for what would end a process.

UNRULY = Animal("unruly", Path(unruly_plugin.__file__).read_text("utf-8"))
FINE = {"done": "yes"}
Called = Callable[[str, str], Awaitable[dict[str, Any]]]
"""Calls a tool with a kind of failure; its result as the protocol has it."""


async def require_served(call: Called) -> None:
    """One after another everything is raised at a server, which goes on answering."""
    require_named((await call("unruly_raise", "endless"))["_meta"][ERROR_META])
    for kind in KINDS:
        for name in ("unruly_raise", "unruly_job"):
            require_named((await call(name, kind))["_meta"][ERROR_META])
        for told in (kind, f"{kind}!"):
            assert (await call("unruly_heard", told))["structuredContent"] == FINE, told
    for kind in ("exit", "interrupt", "own"):
        assert (await call("unruly_task", kind))["structuredContent"] == FINE, kind


@pytest.mark.slow
async def test_over_stdio(tmp_path: Path) -> None:
    zoo = Zoo(tmp_path).add(UNRULY)
    with ServerProcess(zoo.environment(), zoo.work) as server:
        server.shake_hands("2025-11-25")

        async def call(name: str, kind: str) -> dict[str, Any]:
            return await asyncio.to_thread(server.call, name, kind=kind)

        await require_served(call)
        server.process.send_signal(signal.SIGINT)
        assert server.wait()[0] == 128 + signal.SIGINT, "a real Ctrl-C still ends it"
        assert server.stray_lines() == []


@pytest.mark.slow
async def test_over_http(tmp_path: Path) -> None:
    zoo = Zoo(tmp_path).add(UNRULY)
    with started(zoo.environment(), zoo.work) as process:
        address = address_of(process)
        async with Client(address, mode="legacy") as client:

            async def call(name: str, kind: str) -> dict[str, Any]:
                said = await client.call_tool(name, {"kind": kind}, raise_on_error=False)
                return {"_meta": said.meta, "structuredContent": said.structured_content}

            reading = threading.Thread(target=process.stderr.read)
            reading.start()  # a pipe that nobody reads would stop the server
            await require_served(call)
        async with Client(address) as other:
            assert (await other.call_tool("unruly_fine", {})).structured_content == FINE
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        reading.join()
