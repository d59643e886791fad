"""More tools than clients show: the server, `vr init` and `vr doctor` say how to see them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_fork import FreshVr
from plugin_zoo import OWN_TOOLS, Animal, Zoo, vr_command
from vr_server import Era, connect
from vr_server.view import MOST_TOOLS

SOURCE = """
from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, hookimpl, tool

class Word(BaseModel):
    text: str

def made(number):
    async def say(call: Call, text: str = "") -> Word:
        "Say a word."
        return Word(text=say.__name__)
    say.__name__ = f"crowd_say_{number:02}"
    return tool(effects=READ_ONLY, core=number < CORE)(say)

@hookimpl
def vr_tools():
    return [made(number) for number in range(COUNT)]
"""
MODE = ["tool_search", "tool_call"]
ROOM = MOST_TOOLS - len(OWN_TOOLS)


def crowded(folder: Path, count: int, core: int = 1) -> Zoo:
    """A zoo with one plugin of so many tools, some of them core."""
    return Zoo(folder).add(Animal("crowd", f"CORE, COUNT = {core}, {count}\n{SOURCE}"))


@pytest.fixture
def crowd(tmp_path: Path) -> Zoo:
    """A zoo with one tool too many."""
    return crowded(tmp_path / "zoo", ROOM + 1)


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_clients_of_each_era_are_shown_the_same_tools(era: Era, crowd: Zoo) -> None:
    serve = vr_command("serve")
    async with connect(serve, env=crowd.environment(), cwd=crowd.work, era=era) as client:
        assert await client.tool_names() == [*MODE, "crowd_say_00"]
        called = await client.call("tool_call", name=f"crowd_say_{ROOM}")
        hello = client.client.initialize_result
    assert called == {"text": f"crowd_say_{ROOM}"}
    if era == "legacy":
        assert hello
        assert f"There are {MOST_TOOLS + 1} tools" in str(hello.instructions)


@pytest.mark.parametrize("flags", [["serve", "--toolsets", "all"], ["serve"]])
async def test_all_are_shown_on_request_and_up_to_forty(flags: list[str], tmp_path: Path) -> None:
    zoo = crowded(tmp_path / "zoo", ROOM + len(flags) - 1)
    command = vr_command(*flags)
    async with connect(command, env=zoo.environment(), cwd=zoo.work) as client:
        names = await client.tool_names()
    assert len(names) == len(OWN_TOOLS) + ROOM + len(flags) - 1
    assert not {*MODE} & {*names}


def test_init_says_it_where_it_is_so(crowd: Zoo, tmp_path: Path) -> None:
    vr = FreshVr(crowd.environment(), crowd.work)
    wanted = ["init", "--client", "cursor", "--yes"]
    said = vr.run(*wanted)
    assert said.code == 0
    assert "There are 41 tools" in said.stderr
    assert 'toolsets = ["all"]' in said.stderr
    assert "There are 41 tools" in str(json.loads(vr.run(*wanted, "--json").stdout)["notes"])
    vr.environment["VR_TOOLSETS"] = "all"
    assert "There are" not in vr.run(*wanted).stderr
    few = crowded(tmp_path / "few", ROOM)
    assert "tools" not in FreshVr(few.environment(), few.work).run(*wanted).stderr


@pytest.mark.parametrize(("core", "level"), [(1, "ok"), (24, "ok"), (26, "warning")])
def test_doctor_says_it_and_names_core_tools_without_room(
    core: int, level: str, tmp_path: Path
) -> None:
    zoo = crowded(tmp_path / "zoo", ROOM + 1, core)
    checks = FreshVr(zoo.environment(), zoo.work).run("doctor", "--json").data["checks"]
    (found,) = [check for check in checks if check["name"] == "shown tools"]
    assert found["level"] == level
    assert f"{min(core, 24)} are listed" in found["what"]
    assert ("crowd_say_24, crowd_say_25" in found["what"]) is (level == "warning")
    assert ("toolsets" in found["fix"]) is (level == "warning")
