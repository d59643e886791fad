"""Lifespans of plugins in a real program: bad ones are told of everywhere, and harm no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_fork import run_vr
from command_host import Ended
from plugin_zoo import Animal, Zoo, vr_command
from vr_kernel import VrError
from vr_server import connect
from zoo_animals import GOOD, with_tool

LIFESPAN = """
import asyncio, os
from contextlib import asynccontextmanager

@hookimpl
@asynccontextmanager
async def vr_lifespan(services):
    print("noise: lifespan", flush=True)
    {before}
    yield
    {after}
"""
NOTE = "open(os.environ['VR_STATE_DIR'] + '/{0}', 'w').close()"


def with_lifespan(name: str, before: str = "pass", after: str = "pass") -> Animal:
    return Animal(name, with_tool(f"{name}_go") + LIFESPAN.format(before=before, after=after))


WELL = with_lifespan("well", NOTE.format("begun"), NOTE.format("ended"))
BAD = {
    "raising": (with_lifespan("raising", "raise SystemExit(3)"), "SystemExit"),
    "hanging": (with_lifespan("hanging", "await asyncio.Event().wait()"), "did not begin within"),
}
LIMIT = {"VR_KERNEL__IMPORT_DEADLINE_S": "4"}
"""Where something hangs: for the import of the others, too, on a busy machine."""


@pytest.fixture
def zoo(tmp_path: Path) -> Zoo:
    made = Zoo(tmp_path / "zoo").add(GOOD, WELL)
    Path(made.environment()["VR_STATE_DIR"]).mkdir(parents=True, exist_ok=True)
    return made


def vr(zoo: Zoo, *arguments: str) -> Ended:
    return run_vr(environment_of(zoo), zoo.work, *arguments)


def environment_of(zoo: Zoo) -> dict[str, str]:
    """The variables of a process, with a limit where a plugin of the zoo hangs."""
    return zoo.environment(**(LIMIT if "hanging" in zoo.names else {}))


def marks(zoo: Zoo) -> set[str]:
    state = Path(zoo.environment()["VR_STATE_DIR"])
    return {name for name in ("begun", "ended") if (state / name).exists()}


def test_a_command_opens_and_closes_it(zoo: Zoo) -> None:
    assert vr(zoo, "--help").code == 0
    assert marks(zoo) == set()
    done = vr(zoo, "well", "go", "--json")
    assert (done.code, json.loads(done.stdout)) == (0, {"done": True})
    assert marks(zoo) == {"begun", "ended"}


def test_the_list_names_what_cannot_begin(zoo: Zoo) -> None:
    animal, reason = BAD["raising"]
    zoo.add(animal)
    listed = vr(zoo, "plugin", "list", "--json")
    rows = {row["name"]: row for row in json.loads(listed.stdout)["plugins"]}
    assert (listed.code, rows["raising"]["state"], rows["well"]["state"]) == (1, "broken", "loaded")
    assert reason in rows["raising"]["reason"]
    done = vr(zoo, "raising", "go")
    assert (done.code, "Plugin raising is broken" in done.stderr) == (1, True)


@pytest.mark.slow
def test_the_list_and_the_doctor_name_all(zoo: Zoo) -> None:
    zoo.add(*(animal for animal, _ in BAD.values()))
    listed = vr(zoo, "plugin", "list", "--json")
    rows = {row["name"]: row for row in json.loads(listed.stdout)["plugins"]}
    assert listed.code == 1
    assert rows["well"]["state"] == rows["zoo"]["state"] == "loaded"
    report = json.loads(vr(zoo, "doctor", "--json").stdout)
    told = json.dumps(report)
    for name, (_, reason) in BAD.items():
        assert rows[name]["state"] == "broken"
        assert reason in rows[name]["reason"]
        assert f"broken: its lifespan: {rows[name]['reason'].partition(': ')[2]}" in told


@pytest.mark.parametrize("name", ["raising", pytest.param("hanging", marks=pytest.mark.slow)])
def test_a_check_of_the_plugin_names_it(zoo: Zoo, name: str) -> None:
    animal, reason = BAD[name]
    zoo.add(animal)
    done = vr(zoo, "plugin", "check", name, "--json")
    assert done.code == 1
    assert reason in done.stdout


@pytest.mark.slow
def test_the_doctor_tells_of_all_that_hang(zoo: Zoo) -> None:
    forever = "await asyncio.Event().wait()"
    late = [f"late{each}" for each in range(7)]
    stuck = [f"stuck{each}" for each in range(4)]
    zoo.add(*(with_lifespan(name, forever) for name in late))
    zoo.add(*(with_lifespan(name, after=forever) for name in stuck))
    found = json.loads(vr(zoo, "doctor", "--json").stdout)["checks"]
    said = {row["name"]: row["what"] for row in found if row["group"] == "plugins"}
    assert [name for name in late if "did not begin within" not in said[name]] == []
    assert [name for name in stuck if "did not end within" not in said[name]] == []


@pytest.mark.parametrize("name", ["raising", pytest.param("hanging", marks=pytest.mark.slow)])
async def test_a_server_serves_the_others(zoo: Zoo, name: str) -> None:
    zoo.add(BAD[name][0])
    async with connect(vr_command("serve"), env=environment_of(zoo), cwd=zoo.work) as client:
        assert (await client.call("zoo_echo", text="hi"))["text"] == "hi"
        assert await client.call("well_go") == {"done": True}
        plugins: list[dict[str, Any]] = (await client.call("infra_plugins"))["plugins"]
        with pytest.raises(VrError) as caught:
            await client.call(f"{name}_go")
    states = {row["name"]: row["state"] for row in plugins}
    assert (states[name], states["well"]) == ("broken", "loaded")
    assert caught.value.category == "PLUGIN_BROKEN"
    assert marks(zoo) == {"begun", "ended"}
