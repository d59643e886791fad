"""A server that lists, answers and calls never imports a store of session state."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugin_zoo import Animal, Zoo, vr_command
from vr_server import Era, connect

SOURCE = """
import sys
from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, hookimpl, prompt, tool

class Packages(BaseModel):
    names: list[str]

@tool(effects=READ_ONLY)
async def loaded_packages(call: Call) -> Packages:
    "List the packages that are imported."
    return Packages(names=sorted({name.partition(".")[0] for name in sys.modules}))

@prompt
def loaded_say() -> str:
    "Say it."
    return "hello"

@hookimpl
def vr_tools():
    return [loaded_packages]

@hookimpl
def vr_prompts():
    return [loaded_say]
"""
DEAR = {"beartype", "key_value"}
"""Packages of FastMCP's store; their import takes a fifth of a start's processor time."""


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_nobody_pays_for_a_store_that_is_not_used(era: Era, tmp_path: Path) -> None:
    zoo = Zoo(tmp_path / "zoo").add(Animal("loaded", SOURCE))
    command = vr_command("serve")
    async with connect(command, env=zoo.environment(), cwd=zoo.work, era=era) as guest:
        client = guest.client
        assert await client.list_tools()
        assert await client.list_prompts()
        await client.list_resources()
        await client.list_resource_templates()
        assert (await client.get_prompt("loaded_say", {})).messages
        assert (await client.call_tool("no_such_tool", {}, raise_on_error=False)).is_error
        loaded = (await guest.call("loaded_packages"))["names"]
    assert "fastmcp" in loaded
    assert not DEAR & {*loaded}
