"""Search mode over real stdio: tools are found, and answer as if they were called directly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
import zoo_good
from fastmcp import Client
from paid_work import PAID, paying
from plugin_zoo import Zoo, vr_command
from pydantic import BaseModel
from vr_kernel import ERROR_META, READ_ONLY, Call, Kernel, VrError, load_config, tool
from vr_server import USAGE_META, Era, ToolClient, build_server, connect
from vr_testing import FakeGemini
from waiting import until
from zoo_animals import GOOD

pytestmark = pytest.mark.asyncio(loop_scope="module")
MODE = ["tool_search", "tool_call"]
HANDLE_AFTER_S = 0.5
Heard = asyncio.Queue[tuple[float, float | None, str | None]]


@dataclass
class Visit:
    """A server in search mode, the progress it tells, and the service that it pays."""

    tools: ToolClient
    heard: Heard
    gemini: FakeGemini

    async def raw(self, name: str, /, **arguments: Any) -> Any:
        """A result as it is on the wire."""
        return await self.tools.client.call_tool(name, arguments, raise_on_error=False)

    async def through(self, name: str, /, **arguments: Any) -> Any:
        """The same, of a tool that is called through `tool_call`."""
        return await self.raw("tool_call", name=name, arguments=arguments)

    async def found(self, query: str, **more: Any) -> list[dict[str, Any]]:
        """Search for tools."""
        answer = await self.tools.call("tool_search", query=query, **more)
        tools: list[dict[str, Any]] = answer["tools"]
        return tools

    async def fail(self, tool: str, /, **arguments: Any) -> VrError:
        """The error that a call of a shown tool ends with."""
        with pytest.raises(VrError) as caught:
            await self.tools.call(tool, **arguments)
        return caught.value


@pytest.fixture(scope="module")
def gemini() -> Iterator[FakeGemini]:
    """The service that the servers pay."""
    with FakeGemini() as service:
        yield service


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    """The good plugin, and the paid one."""
    return Zoo(tmp_path_factory.mktemp("zoo")).add(GOOD, PAID)


async def visit(zoo: Zoo, gemini: FakeGemini, era: Era) -> AsyncIterator[Visit]:
    """Start a server and connect to it."""
    heard: Heard = asyncio.Queue()

    async def hear(done: float, total: float | None, message: str | None) -> None:
        await heard.put((done, total, message))

    environ = zoo.environment(**paying(gemini, VR_KERNEL__HANDLE_AFTER_S=str(HANDLE_AFTER_S)))
    async with connect(
        vr_command("serve", "--search"),
        env=environ,
        cwd=zoo.work,
        era=era,
        on_progress=hear,
        log_file=zoo.folder / f"{era}.log",
    ) as tools:
        yield Visit(tools, heard, gemini)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def auto(zoo: Zoo, gemini: FakeGemini) -> AsyncIterator[Visit]:
    """A client of the newest era."""
    async for guest in visit(zoo, gemini, "auto"):
        yield guest


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def legacy(zoo: Zoo, gemini: FakeGemini) -> AsyncIterator[Visit]:
    """A client of the eras with a handshake."""
    async for guest in visit(zoo, gemini, "legacy"):
        yield guest


@pytest.fixture(params=["auto", pytest.param("legacy", marks=pytest.mark.slow)])
def guest(request: pytest.FixtureRequest) -> Visit:
    """A client of the newest era, and in the slow tests of each, as if it were new."""
    found: Visit = request.getfixturevalue(request.param)
    while not found.heard.empty():
        found.heard.get_nowait()
    found.gemini.latency = 0.0
    return found


async def test_two_tools_are_shown(guest: Visit) -> None:
    assert await guest.tools.tool_names() == MODE
    hello = guest.tools.client.initialize_result
    assert hello is None or "tool_search" in str(hello.instructions)


async def test_a_found_tool_is_described_as_a_list_would(
    guest: Visit, environ: Any, tmp_path: Any
) -> None:
    found = await guest.found("add points up", limit=1)
    assert [tool["name"] for tool in found] == ["zoo_total"]
    config = load_config(environ=environ, working_folder=tmp_path)
    async with (
        Kernel.open(config, {"zoo": zoo_good}, roots=[]) as kernel,
        Client(build_server(kernel)) as plain,
    ):
        listed = {tool.name: tool for tool in await plain.list_tools()}["zoo_total"]
    assert found[0] == {
        "name": "zoo_total",
        "description": listed.description,
        "inputSchema": listed.input_schema,
    }


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("paint something", "zoo_paint"),
        ("failing on purpose", "zoo_fail"),
        ("zoo_climb", "zoo_climb"),
        ("cancel the job", "job_cancel"),
        ("how many tokens did the models use", "infra_usage"),
        ("echo", "zoo_echo"),
    ],
)
async def test_the_best_comes_first(query: str, first: str, guest: Visit) -> None:
    found = await guest.found(query)
    assert found[0]["name"] == first
    assert len(found) <= 5
    assert await guest.found(query) == found


CALLS: list[tuple[str, dict[str, Any]]] = [
    (
        "zoo_echo",
        {"text": "hello", "times": 2, "point": {"x": 1}, "extra": {"a": [1, {"b": None}]}},
    ),
    ("zoo_echo", {"text": "x", "times": "many"}),
    ("zoo_echo", {"txet": "x"}),
    ("zoo_echo", {}),
    ("zoo_fail", {"code": "QUOTA", "retryable": True, "retry_after": 3}),
    ("zoo_crash", {}),
    ("zoo_misfit", {}),
    ("zoo_exit", {}),
    ("zoo_paint", {"text": "green"}),
    ("zoo_mutter", {"what": "surrogate"}),
    ("zoo_mutter", {"what": "noise"}),
    ("paid_ask", {"question": "what is the capital of Peru?"}),
    ("job_list", {}),
    ("job_status", {"job_id": "none"}),
    ("infra_plugins", {}),
]


@pytest.mark.parametrize(("name", "arguments"), CALLS)
async def test_a_call_answers_as_the_tool_itself(
    name: str, arguments: dict[str, Any], guest: Visit
) -> None:
    direct = await guest.raw(name, **arguments)
    through = await guest.through(name, **arguments)
    assert without_call_id(through) == without_call_id(direct)
    assert through.is_error is direct.is_error
    assert (USAGE_META in (through.meta or {})) is (name == "paid_ask")


def without_call_id(result: Any) -> Any:
    """Content, structured content and remarks of a result, but for what each call has anew."""
    whole = {
        "content": [block.text for block in result.content],
        "structured": result.structured_content,
        "meta": {key: (result.meta or {}).get(key) for key in (USAGE_META, ERROR_META)},
    }
    call_id = (whole["meta"][ERROR_META] or {}).get("call_id")
    text = json.dumps(whole, sort_keys=True)
    return text.replace(call_id, "ID") if call_id else text


@pytest.mark.parametrize(
    ("name", "nearest"), [("zoo_ecko", "zoo_echo"), ("job_results", "job_result")]
)
async def test_an_unknown_name_is_told_the_nearest(name: str, nearest: str, guest: Visit) -> None:
    error = await guest.fail("tool_call", name=name)
    assert error.code == "NOT_FOUND"
    assert f"Did you mean {nearest!r}?" in error.hint


async def test_the_call_of_a_call_is_unknown(guest: Visit) -> None:
    inner = {"name": "zoo_crash", "arguments": {}}
    error = await guest.fail("tool_call", name="tool_call", arguments=inner)
    assert error.code == "NOT_FOUND"


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("tool_call", {}, ["name", "required"]),
        ("tool_call", {"name": 3}, ["name", "string"]),
        ("tool_call", {"name": "zoo_echo", "arguments": "text"}, ["arguments", "dictionary"]),
        ("tool_call", {"name": "zoo_echo", "argument": {}}, ["Did you mean 'arguments'?"]),
        ("tool_search", {}, ["query", "required"]),
        ("tool_search", {"query": ""}, ["query", "1"]),
        ("tool_search", {"query": "x" * 1001}, ["query", "1000"]),
        ("tool_search", {"query": "x", "limit": 0}, ["limit", "1"]),
        ("tool_search", {"query": "x", "limit": 21}, ["limit", "20"]),
    ],
)
async def test_arguments_that_do_not_fit(
    tool: str, arguments: dict[str, Any], says: list[str], guest: Visit
) -> None:
    error = await guest.fail(tool, **arguments)
    assert error.code == "INVALID_INPUT"
    for part in says:
        assert part in f"{error.message} {error.hint}"


async def test_progress_is_relayed(guest: Visit) -> None:
    await guest.through("zoo_climb", steps=[1, 2, 3], total=3)
    done, total, message = await guest.heard.get()
    assert (total, message) == (3, f"step {done:g}")


@pytest.mark.slow
async def test_a_long_call_is_handed_out_and_its_result_found(
    guest: Visit, request: pytest.FixtureRequest
) -> None:
    guest.gemini.latency = HANDLE_AFTER_S
    batch = {"name": request.node.callspec.id, "items": 2, "at_once": 1}
    result = await guest.through("paid_batch", **batch)
    assert not result.is_error
    assert set(result.structured_content) == {"job_id", "state", "progress"}
    assert "job_result" in result.content[1].text
    assert "job_result" in [tool["name"] for tool in await guest.found("get the job's result")]
    asked = {"job_id": result.structured_content["job_id"], "wait_s": 30}
    ended = (await guest.through("job_result", **asked)).structured_content
    assert ended["state"] == "done"
    assert len(ended["result"]["texts"]) == 2


async def test_a_cancelled_call_ends(guest: Visit, tmp_path: Any) -> None:
    waiting = asyncio.create_task(guest.through("zoo_wait", folder=str(tmp_path)))
    assert (await guest.heard.get())[2] == "waiting"
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await until((tmp_path / "cancelled").exists)


# Tools shown beside the two, in one process.


class Word(BaseModel):
    """A result."""

    text: str = ""


@tool(effects=READ_ONLY, core=True, aliases=["old_say"])
async def web_page(call: Call) -> Word:
    """Look into the web."""
    return Word(text="web")


@tool(effects=READ_ONLY)
async def web_paper(call: Call) -> Word:
    """Look for papers."""
    return Word(text="paper")


@pytest.mark.parametrize(
    ("toolsets", "shown"),
    [
        ("all", []),
        ("all,compat", []),
        ("core", ["web_page"]),
        ("web", ["web_page", "web_paper"]),
        ("compat", ["list_providers", "old_say", "show_hierarchy", "show_settings"]),
    ],
)
async def test_toolsets_are_shown_beside_it(
    toolsets: str, shown: list[str], environ: Any, make_plugin: Any, tmp_path: Any
) -> None:
    environ |= {"VR_TOOL_SEARCH": "1", "VR_TOOLSETS": toolsets}
    config = load_config(environ=environ, working_folder=tmp_path)
    plugins = {"web": make_plugin(tools=[web_page, web_paper])}
    async with (
        Kernel.open(config, plugins, roots=[]) as kernel,
        Client(build_server(kernel)) as client,
    ):
        assert [tool.name for tool in await client.list_tools()] == [*MODE, *shown]
        paper = await client.call_tool("tool_call", {"name": "web_paper"})
        assert paper.structured_content == {"text": "paper"}


async def test_no_plugin_takes_the_names(environ: Any, make_plugin: Any, tmp_path: Any) -> None:
    @tool(effects=READ_ONLY)
    async def tool_search(call: Call) -> Word:
        """Stand in the way."""
        return Word()

    config = load_config(environ=environ, working_folder=tmp_path)
    plugins = {"thief": make_plugin(tools=[tool_search])}
    async with Kernel.open(config, plugins, roots=[]) as kernel:
        (status,) = [status for status in kernel.plugins() if status.name == "thief"]
        assert "reserved" in status.reason
        assert "tool_search" not in kernel.tools
