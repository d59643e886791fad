"""`vr plugin check`: good plugins pass, and each bad one is named with its fault and a fix."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_host import CommandHost
from plugin_zoo import Animal, Zoo, vr_command
from vr_cli.scaffold import make_project
from zoo_animals import BAD, GOOD, NEVER_QUIET, NOISY, SETTINGS, UNDYING, Bad, with_hook, with_tool

RANGE = "vr-kernel>=0.1,<0.2"
OF_THE_USER = {"bad-settings", "odd-settings"}
"""Animals whose fault is in the user's settings, not in the plugin."""
QUICK = {"raises", "misspelt", "bare", "aaa-twin", "future"}
GONE = Animal("gone", "import os\nos._exit(7)", requires=(RANGE,))
HEAVY = Animal("heavy", "import sqlite3, numpy\n" + with_tool("heavy_go"), requires=(RANGE,))
FAULTS = [bad for bad in BAD if bad.animal.name not in OF_THE_USER]
each_fault = pytest.mark.parametrize(
    "bad",
    [
        pytest.param(
            bad,
            id=bad.animal.home,
            marks=() if bad.animal.name in QUICK else pytest.mark.slow,
        )
        for bad in FAULTS
    ],
)


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    """Everything installed at once; only the good plugin is chosen to be loaded."""
    zoo = Zoo(tmp_path_factory.mktemp("zoo"))
    zoo.add(GOOD, NOISY, NEVER_QUIET, UNDYING, GONE, HEAVY, *(bad.animal for bad in BAD))
    (zoo.packages / "numpy.py").touch()  # its name is what counts
    return zoo


@pytest.fixture(scope="module")
def vr(zoo: Zoo) -> Iterator[CommandHost]:
    environment = zoo.environment(VR_PLUGINS="zoo", VR_KERNEL__IMPORT_DEADLINE_S="3", **SETTINGS)
    host = CommandHost(environment, zoo.work)
    yield host
    host.close()


def checked(vr: CommandHost, what: object) -> dict[str, Any]:
    """The report on one plugin; the exit code agrees with it."""
    ended = vr.run("plugin", "check", str(what), "--json")
    (plugin,) = ended.data["plugins"]
    levels = [check["level"] for check in plugin["checks"]]
    assert (levels.count("error"), levels.count("warning")) == (
        plugin["errors"],
        plugin["warnings"],
    )
    assert ended.code == int(plugin["errors"] > 0)
    assert all(check["fix"] for check in plugin["checks"] if check["level"] != "ok")
    assert all("\n" not in check["message"] + check["fix"] for check in plugin["checks"])
    return plugin


def said(plugin: dict[str, Any], *levels: str) -> str:
    """Messages and fixes of these levels, in one text."""
    return "\n".join(f"{c['message']} {c['fix']}" for c in plugin["checks"] if c["level"] in levels)


def test_a_generated_project_passes_every_check(vr, tmp_path):
    plugin = checked(vr, make_project("air-quality", tmp_path))
    assert (plugin["name"], plugin["errors"]) == ("air-quality", 0)
    passed = {check["check"]: check["message"] for check in plugin["checks"]}
    assert passed["tools"] == "airquality_count"
    assert passed["hooks"] == "vr_settings, vr_tools, vr_views"
    assert passed.keys() == {
        "project", "kernel range", "name", "public names", "import", "start", "hooks",
        "settings", "tools", "kernel",
    }  # fmt: skip
    assert {c["check"] for c in plugin["checks"] if c["level"] != "ok"} <= {"start"}


def test_people_read_a_line_a_check(vr, tmp_path):
    ended = vr.run("plugin", "check", str(make_project("sky", tmp_path)))
    assert ended.code == 0
    lines = ended.stdout.splitlines()
    assert lines[0].split() == ["ok", "project", "vr-plugin-sky", "0.1.0,", "MIT"]
    assert lines[-1].startswith("sky: 0 errors, ")


@each_fault
def test_each_bad_plugin_is_named_with_its_fault(bad: Bad, vr: CommandHost) -> None:
    plugin = checked(vr, bad.animal.home)
    assert plugin["name"] == bad.animal.name
    text = said(plugin, "error")
    missing = [part for part in bad.reason if part not in text]
    assert not missing, f"{missing} not in {text}"


@pytest.mark.slow
def test_the_settings_of_a_user_are_no_fault_of_the_plugin(vr):
    for name in OF_THE_USER:
        assert "settings" not in said(checked(vr, name), "error")


@pytest.mark.slow
def test_a_good_plugin_is_warned_of_what_clients_pay(vr):
    plugin = checked(vr, "zoo")
    assert "zoo_echo costs a client about" in said(plugin, "warning")
    assert said(plugin, "error").startswith("It does not require vr-kernel.")
    assert plugin["errors"] == 1


def test_what_would_hold_up_a_server_is_named(vr, tmp_path):
    body = """
    def later(): time.sleep(1)
    await asyncio.to_thread(time.sleep, 1)
    time.sleep(1)
    doze(1)
    return Done()
"""
    tool = with_tool("sleeper_go").replace("\n    return Done()\n", body)
    imports = "import asyncio, time\nfrom time import sleep as doze\n"
    warned = said(checked(vr, write_project(tmp_path, "sleeper", imports + tool)), "warning")
    assert warned.count("sleeper_go holds up a server") == 2
    assert "it calls time.sleep in line " in warned
    assert "Write: await asyncio.to_thread(doze, …)." in warned


@pytest.mark.slow
def test_noise_and_threads_are_heard(vr):
    plugin = checked(vr, "never-quiet")
    warnings = said(plugin, "warning")
    assert "prints while it is loaded: 'noise: " in warnings
    assert "starts the thread" in warnings


@pytest.mark.slow
def test_a_thread_that_never_ends_does_not_hold_the_check(vr):
    assert "starts the thread" in said(checked(vr, "undying"), "warning")


def test_a_plugin_that_ends_its_process_is_an_error(vr):
    assert "ended the process with code 7" in said(checked(vr, "gone"), "error")


@pytest.mark.slow
def test_heavy_libraries_are_named(vr):
    warnings = said(checked(vr, "heavy"), "warning")
    assert "It imports numpy before a tool is called." in warnings
    assert "sqlite3" not in warnings


def test_what_is_not_there_names_the_nearest(vr):
    ended = vr.run("plugin", "check", "zooo")
    assert ended.code == 1
    assert "Did you mean 'zoo'?" in ended.stderr


def test_a_folder_without_a_project_is_wrong_usage(vr, tmp_path):
    ended = vr.run("plugin", "check", str(tmp_path))
    assert ended.code == 2
    assert "no pyproject.toml" in ended.stderr


def test_a_project_beside_itself_installed_is_no_conflict(vr, tmp_path):
    """As after `pip install -e`: the zoo's own plugin, checked from a folder."""
    write_project(tmp_path, "keeper", with_hook("def vr_tools(): return []"))
    assert checked(vr, tmp_path)["errors"] == 0


def test_a_name_that_is_taken_is_refused_unimported(vr, tmp_path):
    project = write_project(tmp_path, "zoo", "raise SystemExit", distribution="other")
    errors = said(checked(vr, project), "error")
    assert "The name zoo belongs to vr-plugin-zoo." in errors
    assert "Not tried" in errors


def test_an_error_at_import_names_the_line(vr, tmp_path):
    project = write_project(tmp_path, "sky", "import os\n\nos.environ['SKY_KEY']\n")
    assert "KeyError: 'SKY_KEY' (vr_plugin_sky.py, line 3)" in said(checked(vr, project), "error")


ODD = """
import sys
from pydantic import Field
from vr_kernel import RecordKind, Section, hookimpl, tool

class Settings(Section):
    size: int = Field(default_factory=lambda: 1 / 0)

@hookimpl
def vr_settings(): return Settings

@hookimpl
def vr_record_kinds(): return [RecordKind("Clouds", "Seen.", fields=("a\\nb",), rerank="a")]

@hookimpl
def vr_tools(): return [3, None, "tool"]

sys.stdout.close()
sys.stdout = None
"""


def test_odd_objects_are_findings_too(vr, tmp_path):
    plugin = checked(vr, write_project(tmp_path, "sky", ODD))
    found = {check["check"] for check in plugin["checks"] if check["level"] == "error"}
    assert found >= {"settings", "record kinds", "tools"}
    assert "ZeroDivisionError" in said(plugin, "error")


@pytest.mark.slow
def test_nothing_of_the_project_or_the_user_is_touched(zoo, tmp_path):
    project = make_project("sky", tmp_path)
    before = sorted(project.rglob("*"))
    environment = zoo.environment(VR_PLUGINS="zoo", PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(
        vr_command("plugin", "check", str(project)), env=environment, cwd=zoo.work, check=False
    )
    assert done.returncode == 0
    assert sorted(project.rglob("*")) == before
    assert not (zoo.folder / "state").exists()


def write_project(folder: Path, name: str, source: str, *, distribution: str = "") -> Path:
    """A project of one module in its own folder."""
    module = f"vr_plugin_{name}"
    (folder / f"{module}.py").write_text(source, "utf-8")
    (folder / "pyproject.toml").write_text(
        f"""
        [project]
        name = "{distribution or f"vr-plugin-{name}"}"
        version = "0.1.0"
        requires-python = ">={sys.version_info[0]}.{sys.version_info[1]}"
        dependencies = ["{RANGE}"]
        [project.entry-points."vr.plugins"]
        {name} = "{module}"
        """,
        "utf-8",
    )
    return folder
