"""Names of other systems, for tools and prompts: offered in the toolset `compat` alone."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from fastmcp import Client
from mcp_types import PromptReference
from pydantic import BaseModel, Field
from vr_kernel import READ_ONLY, Call, Kernel, VrError, build_tool, load_config, prompt, tool
from vr_kernel.prompts import build_prompt
from vr_server import build_server


class Word(BaseModel):
    """A result."""

    text: str


@tool(effects=READ_ONLY, aliases=["analyze", "say", "serve", "analyze"])
async def say_word(call: Call, text: str = "hi") -> Word:
    """Say it."""
    return Word(text=text)


@prompt(aliases=["say", "full_saying_prompt"])
def say_well(tone: Annotated[Literal["loud", "low"], Field(description="How")]) -> str:
    """Say it well."""
    return f"Say it in a {tone} voice."


@prompt
def say_badly() -> str:
    """Say it badly."""
    return "Say it badly."


@pytest.fixture
def speech(start: Any, make_plugin: Any, environ: dict[str, str], tmp_path: Any) -> Any:
    """Opens a kernel whose clients are shown some toolsets."""

    async def speech(toolsets: str, **variables: str) -> Kernel:
        environment = {**environ, "VR_TOOLSETS": toolsets, **variables}
        config = load_config(environment, working_folder=tmp_path)
        plugin = make_plugin(tools=[say_word], prompts=[say_well, say_badly])
        return await start({"speech": plugin}, config=config)

    return speech


OWN_ALIASES = {"list_providers", "show_hierarchy", "show_settings"}
"""Those of the kernel's own tools."""


async def test_a_client_that_asks_for_them_gets_them(speech: Any) -> None:
    async with Client(build_server(await speech("speech,compat"))) as client:
        names = [t.name for t in await client.list_tools() if t.name not in OWN_ALIASES]
        assert names == ["analyze", "say", "say_word", "serve"]
        result = await client.call_tool("analyze", {"text": "hello"})
        assert result.structured_content == {"text": "hello", "_deprecated": True}
        shown = {each.name: each for each in await client.list_prompts()}
        assert sorted(shown) == ["full_saying_prompt", "say", "say_badly", "say_well"]
        assert shown["say"].description == "Deprecated: use say_well. Say it well."
        assert shown["say"].arguments == shown["say_well"].arguments
        told = await client.get_prompt("say", {"tone": "low"})
        assert told.messages == (await client.get_prompt("say_well", {"tone": "low"})).messages
        reference = PromptReference(type="ref/prompt", name="full_saying_prompt")
        choices = await client.complete(reference, {"name": "tone", "value": "lo"})
        assert choices.values == ["loud", "low"]


@pytest.mark.parametrize("toolsets", ["all", "speech"])
async def test_nobody_else_does(speech: Any, toolsets: str) -> None:
    kernel = await speech(toolsets)
    async with Client(build_server(kernel)) as client:
        assert not {"analyze", "say", "serve"} & {t.name for t in await client.list_tools()}
        assert [each.name for each in await client.list_prompts()] == ["say_badly", "say_well"]
        result = await client.call_tool("analyze", {}, raise_on_error=False)
        assert result.is_error
        with pytest.raises(Exception, match="No prompt 'say'"):
            await client.get_prompt("say", {"tone": "low"})
    with pytest.raises(VrError):
        await kernel.call("analyze")


async def test_an_alias_that_is_taken_is_a_conflict(start: Any, make_plugin: Any) -> None:
    @tool(effects=READ_ONLY, aliases=["analyze", "say_word", "tell", "later_go"])
    async def tell_word(call: Call) -> Word:
        """Tell it."""
        return Word(text="told")

    @tool(effects=READ_ONLY)
    async def later_go(call: Call) -> Word:
        """Go later."""
        return Word(text="gone")

    @prompt(aliases=["say", "tell"])
    def tell_well() -> str:
        """Tell it well."""
        return "Tell it."

    plugins = {
        "speech": make_plugin(tools=[say_word], prompts=[say_well]),
        "tales": make_plugin(tools=[tell_word], prompts=[tell_well]),
        "zoo": make_plugin(tools=[later_go]),
    }
    kernel: Kernel = await start(plugins)
    assert kernel.tools["say_word"].aliases == ("analyze", "say", "serve")
    assert kernel.tools["tell_word"].aliases == ("tell",)
    assert kernel.tools["later_go"].name == "later_go"
    assert kernel.prompts["tell_well"].aliases == ("tell",)
    states = {status.name: status for status in kernel.plugins()}
    assert states["tales"].state == "conflict"
    for taken in ("tool analyze", "tool say_word", "tool later_go", "prompt say"):
        assert f"{taken} already belongs to plugin" in states["tales"].reason
    assert states["speech"].state == states["zoo"].state == "loaded"


async def test_search_mode_keeps_its_names(
    start: Any, make_plugin: Any, environ: dict[str, str], tmp_path: Any
) -> None:
    @tool(effects=READ_ONLY, aliases=["tool_search", "look"])
    async def web_look(call: Call) -> Word:
        """Look."""
        return Word(text="looked")

    variables = {**environ, "VR_TOOLSETS": "compat", "VR_TOOL_SEARCH": "1"}
    config = load_config(variables, working_folder=tmp_path)
    kernel = await start({"web": make_plugin(tools=[web_look])}, config=config)
    async with Client(build_server(kernel)) as client:
        names = {t.name for t in await client.list_tools()} - OWN_ALIASES
        assert names == {"tool_search", "tool_call", "look"}
        found = await client.call_tool("tool_search", {"query": "look"})
        assert found.structured_content["tools"][0]["name"] == "web_look"


@pytest.mark.parametrize("alias", ["", "Analyze", "an-alyze", "_x", "x_", "a b", "ä", 3, None])
def test_what_no_client_could_ask_for_is_refused(alias: Any) -> None:
    async def say_it(call: Call) -> Word:
        """Say it."""
        return Word(text="")

    def say_that() -> str:
        """Say that."""
        return ""

    with pytest.raises(TypeError, match="alias"):
        build_tool(tool(effects=READ_ONLY, aliases=[alias])(say_it), "speech")
    with pytest.raises(TypeError, match="alias"):
        build_prompt(prompt(aliases=[alias])(say_that), "speech")
    with pytest.raises(TypeError, match="list of names"):
        prompt(aliases="say")(say_that)
