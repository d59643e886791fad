"""The default view: all tools up to 40, beyond that the core ones with search."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from fastmcp import Client
from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, Kernel, load_config, tool
from vr_server import build_server, choose_view
from vr_server.view import MOST_CORE, MOST_CORE_TOKENS, MOST_TOOLS, estimate_tokens

MODE = ["tool_search", "tool_call"]
LONG_TEXT = "Say in many words what it is that is done here. " * 40
Open = Callable[..., Awaitable[Kernel]]


class Word(BaseModel):
    """A result."""

    text: str


def made(name: str, **declared: Any) -> Callable[..., Any]:
    """A tool of that name."""

    async def say(call: Call, text: str = "", times: int = 1) -> Word:
        """Say a word."""
        return Word(text=name)

    say.__name__ = name
    return tool(effects=READ_ONLY, **declared)(say)


def many(domain: str, count: int, **declared: Any) -> list[Callable[..., Any]]:
    """Some tools of a domain."""
    return [made(f"{domain}_say_{number:02}", **declared) for number in range(count)]


@pytest.fixture
def opened(start: Any, make_plugin: Any, environ: dict[str, str], tmp_path: Any) -> Open:
    """Opens a kernel with plugins of these tools, by name, and some settings."""

    async def start_with(plugins: Mapping[str, list[Any]], **settings: str) -> Kernel:
        config = load_config({**environ, **settings}, working_folder=tmp_path)
        made = {name: make_plugin(tools=tools) for name, tools in plugins.items()}
        kernel: Kernel = await start(made, config=config)
        return kernel

    return start_with


async def crowd(opened: Open, count: int, **settings: str) -> Kernel:
    """A kernel with that many tools in all, the last of them core, and with aliases."""
    own = len((await opened({})).tools)
    more = [*many("sky", count - own - 1), made("web_page", core=True, aliases=["old_page"])]
    kernel = await opened({"sky": more[:20], "web": more[20:]}, **settings)
    assert len(kernel.tools) == count
    return kernel


async def listed(kernel: Kernel) -> tuple[list[str], str]:
    """The tools that a client is shown, and the instructions it reads."""
    async with Client(build_server(kernel), mode="legacy") as client:
        assert client.initialize_result
        told = client.initialize_result.instructions
        names = [tool.name for tool in await client.list_tools()]
    async with Client(build_server(kernel)) as client:
        assert [tool.name for tool in await client.list_tools()] == names
    return names, str(told)


@pytest.mark.parametrize("count", [MOST_TOOLS - 1, MOST_TOOLS])
async def test_up_to_forty_all_are_shown(count: int, opened: Open) -> None:
    kernel = await crowd(opened, count)
    names, told = await listed(kernel)
    assert names == [*kernel.tools]
    assert "tool_search" not in told
    assert choose_view(kernel).words == f"Clients are shown {count} of {count} tools."


async def test_beyond_forty_the_core_is_shown_and_search_finds_the_others(opened: Open) -> None:
    kernel = await crowd(opened, MOST_TOOLS + 1)
    names, told = await listed(kernel)
    assert names == [*MODE, "web_page"]
    assert "There are 41 tools" in told
    assert "tool_search" in told
    assert "toolsets all" in told
    async with Client(build_server(kernel)) as client:
        found = await client.call_tool("tool_search", {"query": "sky say 07", "limit": 3})
        assert "sky_say_07" in [tool["name"] for tool in found.structured_content["tools"]]
        through = await client.call_tool("tool_call", {"name": "sky_say_07"})
        assert through.structured_content == {"text": "sky_say_07"}
    assert (await kernel.call("sky_say_07")).model_dump() == {"text": "sky_say_07"}


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({"VR_TOOLSETS": "all"}, None),
        ({"VR_TOOL_SEARCH": "false"}, None),
        ({"VR_TOOLSETS": "core"}, ["web_page"]),
        ({"VR_TOOL_SEARCH": "1"}, MODE),
        ({"VR_TOOL_SEARCH": "1", "VR_TOOLSETS": "core"}, [*MODE, "web_page"]),
        ({"VR_TOOL_SEARCH": "0", "VR_TOOLSETS": "core"}, ["web_page"]),
    ],
)
@pytest.mark.parametrize("count", [MOST_TOOLS, MOST_TOOLS + 1])
async def test_a_setting_wins(
    settings: dict[str, str], shown: list[str] | None, count: int, opened: Open
) -> None:
    kernel = await crowd(opened, count, **settings)
    names, told = await listed(kernel)
    assert names == (shown or [*kernel.tools])
    assert "There are" not in told


async def test_one_plugin_takes_no_room_from_others(opened: Open) -> None:
    plugins = {
        "loud": many("loud", 40, core=True),
        "calm": many("calm", 2, core=True),
        "zest": [made("zest_rest", core=True, long=True)],
    }
    view = choose_view(await opened(plugins))
    assert len(view.shown) == MOST_CORE
    assert {"calm_say_00", "calm_say_01", "zest_rest", "job_result"} <= set(view.shown)
    room = MOST_CORE - len(view.shown.keys() - {f"loud_say_{n:02}" for n in range(40)})
    assert view.without_room == tuple(f"loud_say_{n:02}" for n in range(room, 40))


async def test_core_tools_that_cost_much_leave_room_for_small_ones(opened: Open) -> None:
    costly = many("loud", 40, core=True)
    for each in costly:
        each.__doc__ = LONG_TEXT
    kernel = await opened({"loud": costly, "zest": [made("zest_rest", core=True)]})
    view = choose_view(kernel)
    assert "zest_rest" in view.shown
    assert set(view.without_room) | set(view.shown) == {*(f.__name__ for f in costly), "zest_rest"}
    assert sum(map(estimate_tokens, view.shown.values())) <= MOST_CORE_TOKENS
