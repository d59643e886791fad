"""Errors of any length, through every door: each text is cut, and says how long it was."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import MCPError
from pydantic import BaseModel
from vr_kernel import (
    ERROR_META,
    READ_ONLY,
    Call,
    Kernel,
    Services,
    VrError,
    load_config,
    prompt,
    resource,
    tool,
)
from vr_kernel.text import bounded
from vr_kernel.text.bounds import ERROR_BYTES
from vr_server import build_server

LONG = "ü€x" * 700_000
SECRET = "hunter2-hunter2-hunter2"
WHOLE = 32 * ERROR_BYTES
"""Most of an answer: its error is in it three times, each non-ASCII sign with up to six bytes."""


class Said(BaseModel):
    """A result."""


@tool(effects=READ_ONLY)
async def long_fail(call: Call) -> Said:
    """Fail at length."""
    raise VrError(LONG, category=LONG, hint=LONG)


@tool(effects=READ_ONLY)
async def long_secret(call: Call) -> Said:
    """Fail with a secret just where the message is cut."""
    raise VrError("x" * (ERROR_BYTES - 40) + SECRET + LONG)


@tool(effects=READ_ONLY)
async def long_remark(call: Call) -> Said:
    """Succeed, with much to say of it."""
    call.note(LONG)
    return Said()


@prompt
def long_prompt() -> str:
    """Fail at length."""
    raise VrError(LONG, hint=LONG)


@resource("vr://long/page")
async def long_page(services: Services) -> str:
    """Fail at length."""
    raise VrError(LONG, hint=LONG)


@pytest.fixture
async def client(start: Any, make_plugin: Any, environ: dict[str, str]) -> AsyncIterator[Any]:
    from fastmcp import Client

    environ["VR_LONG_TOKEN"] = SECRET
    plugin = make_plugin(
        tools=[long_fail, long_secret, long_remark], prompts=[long_prompt], resources=[long_page]
    )
    kernel: Kernel = await start({"long": plugin}, config=load_config(environ))
    async with Client(build_server(kernel)) as client:
        yield client


def _require_short(error: dict[str, Any]) -> None:
    assert "2,100,000 characters" in error["message"] + error["hint"]
    for text in (error["message"], error["hint"], error["category"]):
        assert len(text.encode()) <= ERROR_BYTES


async def test_a_tools_error_is_cut(client: Any) -> None:
    answer = await client.call_tool("long_fail", {}, raise_on_error=False)
    _require_short(answer.meta[ERROR_META])
    assert len(answer.meta[ERROR_META]["hint"]) > 1000
    assert sum(len(block.text) for block in answer.content) <= WHOLE


async def test_no_half_of_a_secret_is_left_by_the_cut(client: Any) -> None:
    answer = await client.call_tool("long_secret", {}, raise_on_error=False)
    assert "hunter2" not in json.dumps(answer.meta) + "".join(b.text for b in answer.content)


async def test_remarks_are_cut(client: Any) -> None:
    answer = await client.call_tool("long_remark", {})
    assert "2,100,000 characters" in answer.content[1].text
    assert len(answer.content[1].text.encode()) <= 2 * ERROR_BYTES


@pytest.mark.parametrize("ask", ["prompt", "resource"])
async def test_errors_of_prompts_and_resources_are_cut(ask: str, client: Any) -> None:
    asked = {
        "prompt": lambda: client.get_prompt("long_prompt"),
        "resource": lambda: client.read_resource("vr://long/page"),
    }
    with pytest.raises(MCPError) as caught:
        await asked[ask]()
    _require_short(caught.value.error.data)
    assert len(caught.value.error.message.encode()) <= 3 * ERROR_BYTES


@pytest.mark.parametrize("long", ["x" * 1_000_000, "ü" * 500_000], ids=["ascii", "wide"])
async def test_a_long_name_is_not_answered_at_length(long: str, client: Any) -> None:
    refused = await client.call_tool(long, {}, raise_on_error=False)
    assert len(refused.meta[ERROR_META]["message"].encode()) <= ERROR_BYTES
    given = await client.call_tool("long_fail", {long: 1}, raise_on_error=False)
    assert len(given.meta[ERROR_META]["message"].encode()) <= ERROR_BYTES
    for asked in (client.get_prompt(long), client.read_resource(f"vr://{long}")):
        with pytest.raises(MCPError) as caught:
            await asked
        assert len(json.dumps(caught.value.error.model_dump())) <= WHOLE


@given(st.text(st.characters()), st.integers(40, 400))
def test_a_text_is_cut_where_it_must_be_and_only_there(text: str, most: int) -> None:
    short = bounded(text, most)
    size = len(text.encode("utf-8", "replace"))
    assert short == text or (size > most and f"… ({len(text):,} characters)" in short)
    assert len(short.encode("utf-8", "replace")) <= most
    assert bounded(short, most) == short
