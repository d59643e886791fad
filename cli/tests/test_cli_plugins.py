"""Good plugins serve whatever bad ones are installed beside them, and each bad one says why."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from command_fork import run_vr
from command_host import Ended
from plugin_zoo import OWN_TOOLS, Animal, Zoo, vr_command
from vr_server import connect
from zoo_animals import (
    AT_IMPORT,
    BAD,
    GOOD,
    NEVER_IMPORTED,
    NOISY,
    SETTINGS,
    ZOO_TOOLS,
    Bad,
    with_tool,
)

DEADLINE = {"VR_KERNEL__IMPORT_DEADLINE_S": "1"}
each_bad = pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.animal.home)


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    """Everything at once: one good plugin, a noisy one, and all bad ones."""
    return Zoo(tmp_path_factory.mktemp("zoo")).add(GOOD, NOISY, *(bad.animal for bad in BAD))


@pytest.fixture(scope="module")
def listed(zoo: Zoo) -> Ended:
    """`vr plugin list --json` with all of them installed."""
    return run(zoo, "plugin", "list", "--json", **DEADLINE, **SETTINGS)


@pytest.fixture(scope="module")
def served(zoo: Zoo) -> dict[str, Any]:
    """The view of a client of a real server with all of them."""
    return asyncio.run(visit(zoo))


@pytest.fixture
def small_zoo(tmp_path: Path) -> Zoo:
    """A zoo for one test."""
    return Zoo(tmp_path / "zoo")


def run(zoo: Zoo, *arguments: str, **variables: str) -> Ended:
    """Run `vr` as a process."""
    return run_vr(zoo.environment(**variables), zoo.work, *arguments)


async def visit(zoo: Zoo) -> dict[str, Any]:
    """Connect to a server of the whole zoo, look around, and call every good tool."""
    log = zoo.folder / "server.log"
    environment = zoo.environment(**DEADLINE, **SETTINGS)
    async with connect(vr_command("serve"), env=environment, cwd=zoo.work, log_file=log) as client:
        return {
            "tools": await client.tool_names(),
            "plugins": (await client.call("infra_plugins"))["plugins"],
            "echo": await client.call("zoo_echo", text="still here"),
            "noisy": await client.call("noisy_go"),
            "keeper": await client.call("keeper_go"),
            "log": log.read_text("utf-8"),
        }


def rows(result: Ended) -> Iterator[dict[str, Any]]:
    """The plugins that `vr plugin list --json` printed."""
    yield from json.loads(result.stdout)["plugins"]


def row_of(animal: Animal, result: Ended) -> dict[str, Any]:
    """The listed row of one animal."""
    (row,) = [row for row in rows(result) if row["distribution"] == animal.home]
    return row


def test_good_tools_are_served_and_answer(served: dict[str, Any]) -> None:
    assert served["tools"] == sorted(
        [*ZOO_TOOLS, *OWN_TOOLS, "commander_go", "keeper_go", "noisy_go"]
    )
    assert served["echo"]["text"] == "still here"
    assert served["noisy"] == served["keeper"] == {"done": True}


def test_the_list_fails_when_a_plugin_could_not_be_loaded(
    listed: Ended,
) -> None:
    assert listed.code == 1
    states = {row["distribution"]: row["state"] for row in rows(listed)}
    assert len(states) >= len(BAD) + 3
    assert {name for name, state in states.items() if state == "loaded"} == {
        "vr-kernel", GOOD.home, NOISY.home,
    }  # fmt: skip


def test_a_good_plugin_is_listed_with_version_and_tools(
    listed: Ended,
) -> None:
    assert row_of(GOOD, listed) == {
        "name": "zoo",
        "distribution": "vr-plugin-zoo",
        "version": "1.2.3",
        "state": "loaded",
        "reason": "",
        "tools": ZOO_TOOLS,
        "commands": ["picnic", "zoo feed", "zoo lost"],
        "prompts": [],
        "resources": [],
        "record_kinds": [],
        "providers": [],
    }


@each_bad
def test_a_bad_plugin_is_listed_with_its_reason(bad: Bad, listed: Ended) -> None:
    row = row_of(bad.animal, listed)
    assert row["state"] == bad.state, row
    assert row["tools"] == list(bad.tools)
    assert_tells(bad, row["reason"])
    assert "\n" not in row["reason"]


@each_bad
def test_a_bad_plugin_is_seen_by_a_client(bad: Bad, served: dict[str, Any]) -> None:
    found = [
        row
        for row in served["plugins"]
        if (row["name"], row["state"]) == (bad.animal.name, bad.state)
    ]
    assert len(found) == 1, served["plugins"]
    assert found[0]["tools"] == list(bad.tools)
    assert_tells(bad, found[0]["reason"])


@each_bad
def test_a_bad_plugin_is_logged(bad: Bad, served: dict[str, Any]) -> None:
    lines = [line for line in served["log"].splitlines() if f"plugin='{bad.animal.name}'" in line]
    assert len(lines) == 1, lines
    assert_tells(bad, lines[0].replace("\\'", "'"))


def test_the_list_alone_tells_of_bad_plugins(listed: Ended) -> None:
    assert "Traceback" not in listed.stderr
    assert "see `vr doctor`" not in listed.stderr


@pytest.mark.parametrize("bad", NEVER_IMPORTED, ids=lambda bad: bad.animal.home)
def test_what_metadata_rules_out_is_not_imported(
    bad: Bad, zoo: Zoo, listed: Ended, served: dict[str, Any]
) -> None:
    del listed, served
    assert module_mark(GOOD) in zoo.imported()
    assert module_mark(bad.animal) not in zoo.imported()


@pytest.mark.parametrize(
    "bad",
    [bad for bad in BAD if bad.animal.name not in ("hangs", "asks")],
    ids=lambda bad: bad.animal.home,
)
@pytest.mark.slow
def test_strict_fails_loudly_for_each(bad: Bad, small_zoo: Zoo) -> None:
    small_zoo.add(GOOD, bad.animal)
    result = run(small_zoo, "plugin", "list", VR_STRICT="1", **SETTINGS)
    assert result.code not in (0, 130), result
    assert result.stdout == ""
    assert bad.animal.name in result.stderr
    assert_tells(bad, result.stderr)


@pytest.mark.parametrize("bad", [AT_IMPORT[0], BAD[-1]], ids=lambda bad: bad.animal.home)
def test_strict_fails_loudly(bad: Bad, small_zoo: Zoo) -> None:
    test_strict_fails_loudly_for_each(bad, small_zoo)


def test_strict_is_content_with_good_plugins(small_zoo: Zoo) -> None:
    result = run(small_zoo.add(GOOD), "plugin", "list", VR_STRICT="1")
    assert result.code == 0, result.stderr


def test_strict_stops_a_server(small_zoo: Zoo) -> None:
    small_zoo.add(GOOD, AT_IMPORT[0].animal)
    result = run(small_zoo, "serve", VR_STRICT="1")
    assert result.code != 0
    assert result.stdout == ""
    assert "RAISES_KEY" in result.stderr


@pytest.mark.parametrize(
    "variables",
    [
        {"VR_PLUGINS": "zoo"},
        pytest.param({"VR_KERNEL__PLUGINS": '["zoo"]'}, marks=pytest.mark.slow),
        pytest.param(
            {"VR_PLUGINS": "*", "VR_KERNEL__DISABLED": "other, {rest}"}, marks=pytest.mark.slow
        ),
    ],
    ids=["names", "section", "disabled"],
)
def test_what_is_not_chosen_is_not_imported(variables: dict[str, str], small_zoo: Zoo) -> None:
    other = Animal("other", with_tool("other_go"))
    small_zoo.add(GOOD, other)
    elsewhere = {entry.name for entry in entry_points(group="vr.plugins")}
    chosen = {
        name: value.replace("{rest}", ",".join(elsewhere)) for name, value in variables.items()
    }
    result = run(small_zoo, "plugin", "list", "--json", **chosen)
    assert result.code == 0, result.stderr
    assert small_zoo.imported() == {"zoo"}
    row = row_of(other, result)
    assert (row["state"], row["tools"]) == ("blocked", [])
    assert "configuration" in row["reason"]
    assert "other" not in result.stderr


def test_names_choose_in_a_file_too(small_zoo: Zoo) -> None:
    small_zoo.add(GOOD, Animal("other", with_tool("other_go")))
    config = small_zoo.folder / "config"
    config.mkdir()
    config.joinpath("config.toml").write_text('[kernel]\ndisabled = ["other"]\n', "utf-8")
    result = run(small_zoo, "plugin", "list")
    assert result.code == 0
    assert small_zoo.imported() == {"zoo"}


def metadata(**fields: str) -> str:
    """A METADATA file of a distribution."""
    given = {"Metadata-Version": "2.1", "Name": "damaged", "Version": "1.0"}
    return "".join(f"{name.replace('_', '-')}: {text}\n" for name, text in (given | fields).items())


ENTRY = "[vr.plugins]\ndamaged = zoo_plugin_damaged\n"
DAMAGED: dict[str, dict[str, str | bytes]] = {
    "no metadata": {"entry_points.txt": ENTRY},
    "empty metadata": {"METADATA": "", "entry_points.txt": ENTRY},
    "no version": {
        "METADATA": "Metadata-Version: 2.1\nName: damaged\n",
        "entry_points.txt": ENTRY,
    },
    "no text": {"METADATA": b"Name: \xff\xfe\n", "entry_points.txt": ENTRY},
    "no requirement": {"METADATA": metadata(Requires_Dist=")(("), "entry_points.txt": ENTRY},
    "no module": {
        "METADATA": metadata(),
        "entry_points.txt": "[vr.plugins]\ndamaged = no module\n",
    },
    "no grammar": {"METADATA": metadata(), "entry_points.txt": "\0]]\n[vr.plugins\n"},
}


def assert_harmless(zoo: Zoo, *damages: dict[str, str | bytes]) -> None:
    """The good plugin is served beside these, and what is known of them is said."""
    zoo.add(GOOD, Animal("other", with_tool("other_go")))
    for number, files in enumerate(damages):
        zoo.add_damaged(f"damaged{number}", files)
    result = run(zoo, "plugin", "list", "--json", VR_PLUGINS="zoo,other,damaged")
    assert "Traceback" not in result.stderr
    states = {row["distribution"]: row["state"] for row in rows(result)}
    assert states[GOOD.home] == states["vr-plugin-other"] == "loaded", result.stderr
    damaged = [row for row in rows(result) if row["name"] == "damaged"]
    for row in damaged:
        assert row["state"] in ("broken", "conflict")
        assert row["reason"]
    assert result.code == int(bool(damaged))


def test_damaged_metadata_harms_no_other(small_zoo: Zoo) -> None:
    """As an interrupted installation leaves it."""
    assert_harmless(small_zoo, *DAMAGED.values())


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGED)
def test_each_damage_harms_no_other(damage: str, small_zoo: Zoo) -> None:
    assert_harmless(small_zoo, DAMAGED[damage])


def module_mark(animal: Animal) -> str:
    """The name by which `Zoo.imported` knows an animal."""
    return animal.module.removeprefix("zoo_plugin_")


def assert_tells(bad: Bad, text: str) -> None:
    """The text holds everything that has to be said."""
    missing = [part for part in bad.reason if part not in text]
    assert not missing, f"{missing} not in {text!r}"
