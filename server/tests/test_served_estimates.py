"""Estimates over MCP: a paid tool takes `estimate`, and answers with what it would cost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from fastmcp import Client
from paid_work import Found, paid_kernel
from vr_kernel import PAID, READ_ONLY, Call
from vr_kernel import tool as as_tool
from vr_server import build_server
from vr_testing import FakeGemini


@as_tool(effects=READ_ONLY | PAID, long=True)
async def task_ask(call: Call, text: str) -> Found:
    """Ask a model."""
    return Found(text=(await call.services.models.generate(text)).text)


@as_tool(effects=READ_ONLY | PAID)
async def task_own(call: Call, text: str, estimate_only: bool = False) -> Found:
    """Ask a model, or estimate in a way of its own."""
    if estimate_only:
        return Found(text="its own")
    return await task_ask(call, text)


@as_tool(effects=READ_ONLY)
async def task_free(call: Call, estimate: bool = False) -> Found:
    """Ask nobody."""
    return Found(text=f"{call.tool} {estimate}")


@pytest.fixture
async def client(
    environ: dict[str, str], gemini: FakeGemini, make_plugin: Any
) -> AsyncIterator[Client[Any]]:
    """A real client of a server with a tool that costs something, and one that does not."""
    plugin = make_plugin([task_ask, task_own, task_free])
    async with (
        paid_kernel(environ, gemini, plugin=plugin) as kernel,
        Client(build_server(kernel)) as connected,
    ):
        yield connected


@pytest.mark.parametrize("name", ["estimate", "estimate_only"])
async def test_a_paid_tool_tells_its_cost_and_asks_nobody(
    client: Client[Any], gemini: FakeGemini, name: str
) -> None:
    from jsonschema import validate

    tools = {tool.name: tool for tool in await client.list_tools()}
    assert "estimate" in tools["task_ask"].input_schema["properties"]
    for number in range(2):
        told = await client.call_tool("task_ask", {"text": "Why?", name: True})
        validate(told.structured_content, tools["task_ask"].output_schema)
        assert told.structured_content["tool"] == "task_ask"
        assert told.structured_content["basis"] == ("like calls" if number else "unknown")
        assert len(gemini.requests) == number
        made = await client.call_tool("task_ask", {"text": "Why?", "estimate": False})
        validate(made.structured_content, tools["task_ask"].output_schema)
        assert made.structured_content["text"]
        if number:
            assert told.structured_content["cost_usd"] == pytest.approx(
                gemini.bill.cost_usd / 2, rel=0.15
            )


@pytest.mark.parametrize(("said", "paid"), [("true", 0), ("false", 1), ("perhaps", 0)])
async def test_yes_and_no_are_understood_as_text_and_nothing_else(
    client: Client[Any], gemini: FakeGemini, said: str, paid: int
) -> None:
    arguments = {"text": "Why?", "estimate": said}
    told = await client.call_tool("task_ask", arguments, raise_on_error=False)
    assert told.is_error == (said == "perhaps")
    assert len(gemini.requests) == paid


async def test_a_found_tool_tells_its_cost_like_a_listed_one(
    environ: dict[str, str], gemini: FakeGemini, make_plugin: Any
) -> None:
    """In search mode, where a paid tool is called by another."""
    searched = {**environ, "VR_TOOL_SEARCH": "true"}
    plugin = make_plugin([task_ask, task_own])
    async with (
        paid_kernel(searched, gemini, plugin=plugin) as kernel,
        Client(build_server(kernel)) as client,
    ):
        assert "task_ask" not in {tool.name for tool in await client.list_tools()}
        asked = {"name": "task_ask", "arguments": {"text": "Why?", "estimate": True}}
        told = (await client.call_tool("tool_call", asked)).structured_content
        assert (told["tool"], told["basis"]) == ("task_ask", "unknown")
        assert gemini.requests == []


async def test_an_argument_of_a_tools_own_is_its_own(client: Client[Any]) -> None:
    tools = {tool.name: tool for tool in await client.list_tools()}
    assert "estimate" not in tools["infra_usage"].input_schema["properties"]
    told = await client.call_tool("task_free", {"estimate": True})
    assert told.structured_content["text"] == "task_free True"
    told = await client.call_tool("task_own", {"text": "Why?", "estimate_only": True})
    assert told.structured_content["text"] == "its own"
    told = await client.call_tool("task_own", {"text": "Why?", "estimate": True})
    assert told.structured_content["tool"] == "task_own"
