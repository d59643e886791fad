"""Toolsets: a client is shown the tools it asks for, and reaches them under every name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, Kernel, Tool, VrError, build_tool, load_config, tool
from vr_server import build_server
from vr_server.toolsets import choose

OWN_ALIASES = ("list_providers", "show_hierarchy", "show_settings")
"""Those of the kernel's own tools."""


class Word(BaseModel):
    """A result."""

    text: str


@tool(effects=READ_ONLY, core=True, aliases=["old_say"])
async def say_word(call: Call, text: str = "hi") -> Word:
    """Say it."""
    return Word(text=text)


@tool(effects=READ_ONLY, long=True)
async def work_hard(call: Call) -> Word:
    """Work."""
    return Word(text="done")


@tool(effects=READ_ONLY)
async def job_result(call: Call) -> Word:
    """Stands for the kernel's own."""
    return Word(text="")


TOOLS: Mapping[str, Tool] = {
    "job_result": build_tool(job_result, "infra"),
    "say_word": build_tool(say_word, "speech"),
    "work_hard": build_tool(work_hard, "labour"),
}


@pytest.mark.parametrize(
    ("toolsets", "shown"),
    [
        (["all"], ["job_result", "say_word", "work_hard"]),
        (["core"], ["say_word"]),
        (["speech"], ["say_word"]),
        (["say"], ["say_word"]),
        (["labour"], ["job_result", "work_hard"]),
        (["infra", "core"], ["job_result", "say_word"]),
        (["compat"], ["old_say"]),
        (["core", "compat"], ["old_say", "say_word"]),
    ],
)
def test_a_toolset_shows(toolsets: list[str], shown: list[str]) -> None:
    assert list(choose(TOOLS, toolsets)) == shown


@pytest.mark.parametrize("wrong", ["cor", "", "videos", "All"])
def test_an_unknown_toolset_names_the_nearest(wrong: str) -> None:
    with pytest.raises(VrError) as caught:
        choose(TOOLS, ["speech", wrong])
    assert caught.value.category == "CONFIG_INVALID"
    assert "core" in caught.value.hint


@given(st.sets(st.sampled_from(["core", "speech", "labour", "infra", "compat", "say"])))
def test_whoever_sees_a_long_tool_sees_the_tools_of_jobs(toolsets: set[str]) -> None:
    shown = choose(TOOLS, sorted(toolsets))
    assert not any(t.long for t in shown.values()) or "job_result" in shown
    assert list(shown) == sorted(shown)
    assert set(shown) <= {*TOOLS, "old_say"}


async def test_an_alias_is_served_like_its_tool(
    start: Any, make_plugin: Any, environ: dict[str, str], tmp_path: Any
) -> None:
    from fastmcp import Client

    config = load_config({**environ, "VR_TOOLSETS": "compat"}, working_folder=tmp_path)
    kernel: Kernel = await start({"speech": make_plugin(tools=[say_word])}, config=config)
    async with Client(build_server(kernel)) as client:
        served = {t.name: t for t in await client.list_tools()}
        assert served.keys() - {*OWN_ALIASES} == {"old_say"}
        shown = served["old_say"]
        result = await client.call_tool("old_say", {"text": "hello"})
    assert result.structured_content == {"text": "hello", "_deprecated": True}
    assert shown.description == "Deprecated: use say_word. Say it."


async def test_a_tool_that_is_not_shown_cannot_be_called_over_mcp(
    start: Any, make_plugin: Any, environ: dict[str, str], tmp_path: Any
) -> None:
    from fastmcp import Client

    config = load_config({**environ, "VR_TOOLSETS": "core"}, working_folder=tmp_path)
    plugins = {"speech": make_plugin(tools=[say_word, work_hard])}
    kernel: Kernel = await start(plugins, config=config)
    async with Client(build_server(kernel)) as client:
        result = await client.call_tool("work_hard", {}, raise_on_error=False)
    assert result.is_error
    assert (await kernel.call("work_hard")).model_dump() == {"text": "done"}
