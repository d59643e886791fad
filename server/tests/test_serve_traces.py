"""The trace context of a client reaches the plugins that hear of its calls, in both eras."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from fastmcp import Client
from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, CallFinished, Kernel, hookimpl, tool
from vr_server import build_http_app, build_server

SENT = {
    "traceparent": f"00-{'a' * 32}-{'b' * 16}-01",
    "tracestate": "vendor=1",
    "baggage": "user=7,plan=free",
}
OTHER = {"traceparent": f"00-{'c' * 32}-{'d' * 16}-01"}
HOSTILE: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({"traceparent": 7, "tracestate": ["x"], "baggage": {"a": 1}}, {}),
    ({"traceparent": "x" * 1_000_000, "baggage": "y" * 1_000_000}, {}),
    ({"traceparent": "00-abc", "tracestate": "vendor=1"}, {}),
    ({"traceparent": f"00-{'0' * 32}-{'b' * 16}-01"}, {}),
    ({"traceparent": f"00-{'a' * 32}-{'0' * 16}-01"}, {}),
    ({"traceparent": f"ff-{'a' * 32}-{'b' * 16}-01"}, {}),
    ({"traceparent": SENT["traceparent"] + "-more"}, {}),
    ({"traceparent": SENT["traceparent"] + "\n", "baggage": "a=1\r\nX: y"}, {}),
    (
        {"traceparent": SENT["traceparent"], "tracestate": "\ud800"},
        {"traceparent": SENT["traceparent"]},
    ),
    ({"baggage": "user=7"}, {"baggage": "user=7"}),
]


class Done(BaseModel):
    ok: bool = True


@tool(effects=READ_ONLY)
async def zoo_look(call: Call) -> Done:
    """Look."""
    return Done()


@tool(effects=READ_ONLY, long=True)
async def zoo_wait(call: Call) -> Done:
    """Look for long."""
    return Done()


class Zoo:
    """A plugin that keeps the contexts of calls."""

    def __init__(self) -> None:
        self.contexts: list[dict[str, str]] = []

    @hookimpl
    def vr_tools(self) -> list[Any]:
        return [zoo_look, zoo_wait]

    @hookimpl
    def vr_call_finished(self, event: CallFinished) -> None:
        self.contexts.append(dict(event.trace.context))


@pytest.fixture
def zoo() -> Zoo:
    return Zoo()


@pytest.fixture
async def served(config: Any, zoo: Zoo) -> AsyncIterator[Kernel]:
    async with Kernel.open(config, {"zoo": zoo}, roots=[]) as kernel:
        yield kernel


@pytest.mark.parametrize("name", ["zoo_look", "zoo_wait"])
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_it_comes_in_the_meta_of_a_call(
    served: Kernel, zoo: Zoo, era: Any, name: str
) -> None:
    async with Client(build_server(served), mode=era) as client:
        await client.call_tool(name, {}, meta=SENT)
        await client.call_tool(name, {})
    assert zoo.contexts == [SENT, {}]


@pytest.mark.parametrize(("sent", "kept"), HOSTILE)
async def test_what_is_malformed_is_left_out(
    served: Kernel, zoo: Zoo, sent: dict[str, Any], kept: dict[str, str]
) -> None:
    given: Any = sent
    outcome = await served.run("zoo_look", {}, trace_context=given)
    assert outcome.error is None
    assert zoo.contexts == [kept]


@pytest.mark.parametrize("given", [7, "text", [], {}, None, SimpleNamespace()])
async def test_what_is_no_context_is_none(served: Kernel, zoo: Zoo, given: Any) -> None:
    await served.run("zoo_look", {}, trace_context=given)
    assert zoo.contexts == [{}]


@pytest.mark.parametrize("meta", [{}, OTHER])
@pytest.mark.parametrize("version", ["2026-07-28", "2025-06-18"])
async def test_headers_count_where_the_meta_says_nothing(
    served: Kernel, zoo: Zoo, meta: dict[str, str], version: str
) -> None:
    from httpx2 import ASGITransport, AsyncClient

    modern = version.startswith("2026")
    own = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": version,
        **({"Mcp-Method": "tools/call", "Mcp-Name": "zoo_look"} if modern else {}),
        **SENT,
    }
    app = build_http_app(served, "127.0.0.1")
    async with (
        app.router.lifespan_context(app),
        AsyncClient(transport=ASGITransport(app=app), base_url="http://127.0.0.1") as http,
    ):
        if not modern:
            hello = {
                "protocolVersion": version,
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }
            body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
            begun = await http.post("/mcp", json=body, headers=headers)
            headers["Mcp-Session-Id"] = begun.headers["mcp-session-id"]
            body = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await http.post("/mcp", json=body, headers=headers)
        call = {"name": "zoo_look", "arguments": {}, "_meta": {**(own if modern else {}), **meta}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        answer = await http.post("/mcp", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    assert zoo.contexts == [meta or SENT]
