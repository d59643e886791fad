"""Each plugin has threads of its own: one that blocks all of them holds up nobody else."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from plugin_zoo import Animal, Zoo
from server_process import ServerProcess
from vr_kernel.isolation.loop_watch import Owners
from vr_kernel.isolation.plugin_code import PluginCode
from vr_kernel.isolation.plugin_threads import LIMIT_S, MOST, PluginThreads
from vr_kernel.log import Log
from zoo_animals import START

GREEDY = Animal(
    "greedy",
    f"""{START}
import asyncio, threading
from vr_kernel import prompt

NEVER = threading.Event()

@tool(effects=READ_ONLY)
async def greedy_hold(call: Call) -> Done:
    await asyncio.gather(*(asyncio.to_thread(NEVER.wait) for _ in range(100)))

@prompt
def greedy_words() -> str:
    NEVER.wait()

@hookimpl
def vr_tools():
    return [greedy_hold]

@hookimpl
def vr_prompts():
    return [greedy_words]
""",
)
MODEST = Animal(
    "modest",
    f"""{START}
import asyncio
from vr_kernel import prompt

@tool(effects=READ_ONLY)
async def modest_ask(call: Call) -> Done:
    return await asyncio.to_thread(Done)

@prompt
def modest_words() -> str:
    return "Please."

@hookimpl
def vr_tools():
    return [modest_ask]

@hookimpl
def vr_prompts():
    return [modest_words]
""",
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    """A server all of whose threads for the greedy plugin are blocked."""
    zoo = Zoo(tmp_path).add(GREEDY).add(MODEST)
    with ServerProcess(zoo.environment(VR_KERNEL__SERVE__DRAIN_S="0"), zoo.work) as server:
        server.shake_hands("2025-11-25")
        server.start("tools/call", name="greedy_hold", arguments={})
        for _ in range(100):
            server.start("prompts/get", name="greedy_words")
        yield server


@pytest.mark.slow
def test_a_plugin_that_blocks_all_its_threads_holds_up_no_other(server: ServerProcess) -> None:
    assert not server.call("modest_ask").get("isError")
    words = server.ask("prompts/get", name="modest_words")["result"]
    assert words["messages"][0]["content"]["text"] == "Please."


@pytest.mark.slow
def test_a_server_ends_although_all_threads_of_a_plugin_are_blocked(server: ServerProcess) -> None:
    assert not server.call("modest_ask").get("isError")
    assert server.hang_up() == 0


@pytest.mark.parametrize(
    ("owners", "name"), [({__name__: "greedy"}, "vr-greedy"), ({"other": "it"}, "vr-threads")]
)
async def test_threads_are_those_of_the_plugin_whose_code_asks_for_them(
    owners: dict[str, str], name: str
) -> None:
    threads = PluginThreads(Owners(owners), Log("warning", "json"))
    asyncio.get_running_loop().set_default_executor(threads)

    async def ask() -> list[threading.Thread]:
        alone = await asyncio.to_thread(threading.current_thread)
        return [alone, *await asyncio.gather(asyncio.to_thread(threading.current_thread))]

    (hook, _), tool = await ask(), await PluginCode.apart(ask)
    assert [it.name[: len(name)] for it in (hook, *tool)] == [name] * 3


async def test_who_blocks_all_his_threads_is_named_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    release, now = threading.Event(), [0.0]
    log = Log("warning", "json")
    threads = PluginThreads(Owners({__name__: "greedy"}), log, lambda: now[0])
    asyncio.get_running_loop().set_default_executor(threads)

    async def hold(count: int) -> list[asyncio.Future[Any]]:
        held = [asyncio.ensure_future(asyncio.to_thread(release.wait)) for _ in range(count)]
        await asyncio.sleep(0)
        return held

    async def work() -> None:
        held = await hold(MOST)
        now[0] = LIMIT_S / 2
        held += await hold(1)
        assert not capsys.readouterr().err
        now[0] = LIMIT_S
        held += await hold(2)
        release.set()
        await asyncio.gather(*held)

    await PluginCode.apart(work)
    (line,) = map(json.loads, capsys.readouterr().err.splitlines())
    assert (line["plugin"], line["threads"]) == ("greedy", MOST)
