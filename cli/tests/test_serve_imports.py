"""A server that lists, answers and calls never imports a store of session state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plugin_zoo import Animal, Zoo, vr_command

from benchmarks.processes import StdioServer

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
LISTS = ("tools", "prompts", "resources", "resources/templates")
DEAR = {"beartype", "key_value"}
"""Packages of FastMCP's store; their import takes a fifth of a start's processor time."""


def test_nobody_pays_for_a_store_that_is_not_used(tmp_path: Path) -> None:
    zoo = Zoo(tmp_path / "zoo").add(Animal("loaded", SOURCE))
    with StdioServer(vr_command("serve"), zoo.environment(), zoo.work) as server:
        server.shake_hands()
        for listed in LISTS:
            assert server.request(f"{listed}/list", {}) is not None
        said: Any = server.request("prompts/get", {"name": "loaded_say", "arguments": {}})
        assert said["messages"][0]["content"]["text"] == "hello"
        assert server.call("no_such_tool", {})["isError"]
        loaded = server.call("loaded_packages", {})["structuredContent"]["names"]
    assert "fastmcp" in loaded
    assert not DEAR & {*loaded}
