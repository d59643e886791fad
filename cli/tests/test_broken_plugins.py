"""A plugin that is slow or broken costs once, and is told in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_fork import run_vr
from command_host import Ended
from plugin_zoo import Animal, Zoo
from vr_kernel.loading.load_failures import LoadFailures
from zoo_animals import GOOD, with_tool

NOISE = "print('import of {0} says hello', flush=True)\nimport os\nos.write(1, b'{0} raw\\n')\n"
SLEEPY = Animal(
    "sleepy", NOISE.format("sleepy") + "import time\ntime.sleep(600)\n" + with_tool("sleepy_go")
)
EXITS = Animal("exits", NOISE.format("exits") + "raise SystemExit(0)\n")
INTERRUPTS = Animal("interrupts", "raise KeyboardInterrupt\n")
LOUD = Animal("loud", NOISE.format("loud") + with_tool("loud_go"))
SETTINGS = {"VR_KERNEL__IMPORT_DEADLINE_S": "0.6"}
ECHO = ("zoo", "echo", "hi", "--json")


@pytest.fixture
def zoo(tmp_path: Path) -> Zoo:
    """The good plugin alone, for one test."""
    return Zoo(tmp_path / "zoo").add(GOOD)


def vr(zoo: Zoo, *arguments: str, **variables: str) -> Ended:
    """Run `vr` as a process, and forget what was imported before."""
    zoo.forget()
    return run_vr(zoo.environment(**(SETTINGS | variables)), zoo.work, *arguments)


def test_a_plugin_that_sleeps_costs_once(zoo: Zoo) -> None:
    zoo.add(SLEEPY)
    for imported in ({"zoo", "sleepy"}, {"zoo"}, {"zoo"}):
        done = vr(zoo, *ECHO)
        assert (done.code, json.loads(done.stdout)["text"]) == (0, "hi")
        assert zoo.imported() == imported
        told = [line for line in done.stderr.splitlines() if line.startswith("Plugin ")]
        assert len(told) == 1
        assert told[0].startswith("Plugin sleepy is broken: it took longer than 0.6 s")
        assert told[0].endswith("; see `vr doctor`.")


def test_it_is_tried_again_when_it_changes(zoo: Zoo) -> None:
    zoo.add(SLEEPY)
    vr(zoo, *ECHO)
    source = zoo.packages / f"{SLEEPY.module}.py"
    source.write_text(source.read_text("utf-8").replace("time.sleep(600)", ""), "utf-8")
    done = vr(zoo, "sleepy", "go", "--json")
    assert (done.code, json.loads(done.stdout)) == (0, {"done": True})
    assert "broken" not in done.stderr
    assert not (zoo.folder / "cache" / "plugins.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    ["deadline", "installed", "doctor"],
)
def test_what_else_has_it_tried_again(change: str, zoo: Zoo) -> None:
    zoo.add(SLEEPY)
    vr(zoo, *ECHO)
    if change == "installed":
        (zoo.packages / "another-1.0.dist-info").mkdir()
    if change == "doctor":
        vr(zoo, "doctor")
    else:
        deadline = "0.7" if change == "deadline" else "0.6"
        vr(zoo, *ECHO, VR_KERNEL__IMPORT_DEADLINE_S=deadline)
    assert "sleepy" in zoo.imported()


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', '{"a": {"stamp": "", "x": ""}}'])
def test_a_damaged_memory_is_no_matter(text: str, tmp_path: Path) -> None:
    path = tmp_path / "plugins.json"
    path.write_text(text, "utf-8")
    failures = LoadFailures(path)
    assert failures.reason("a", str) == ""
    failures.keep("a", "as it was", "it failed")
    assert LoadFailures(path).reason("a", lambda: "as it was") == "it failed"
    assert LoadFailures(path).reason("a", lambda: "changed") == ""


def test_what_plugins_print_and_raise_at_import_stays_out_of_the_result(zoo: Zoo) -> None:
    zoo.add(LOUD, EXITS, INTERRUPTS)
    done = vr(zoo, *ECHO)
    assert (done.code, json.loads(done.stdout)["text"]) == (0, "hi")
    for name, raised in (("exits", "SystemExit(0)"), ("interrupts", "KeyboardInterrupt()")):
        sentence = f"Plugin {name} is broken: it raised {raised}, which would end the program"
        assert done.stderr.count(f"{sentence}; see `vr doctor`.") == 1
    assert vr(zoo, "loud", "go", "--json").stdout == '{\n  "done": true\n}\n'


@pytest.mark.parametrize(
    "stream",
    [
        "sys.stderr = io.StringIO()",
        "io.TextIOWrapper(sys.stdout.buffer, 'utf-8')",
        "io.TextIOWrapper(sys.stdout.detach(), 'utf-8')",
    ],
    ids=["another", "around", "detached"],
)
def test_a_plugin_that_sets_the_standard_streams_makes_no_command_silent(
    stream: str, zoo: Zoo
) -> None:
    source = f"import io, sys\nsys.stdout = {stream}\n"
    zoo.add(Animal("gag", source + with_tool("gag_go")))
    done = vr(zoo, *ECHO)
    assert (done.code, json.loads(done.stdout)["text"]) == (0, "hi"), done.stderr
    failed = vr(zoo, "zoo", "fail", "--json")
    assert failed.code != 0
    assert failed.stderr


@pytest.mark.parametrize(
    "animal", [SLEEPY, pytest.param(EXITS, marks=pytest.mark.slow)], ids=["sleepy", "exits"]
)
def test_its_own_commands_say_that_it_is_broken(animal: Animal, zoo: Zoo) -> None:
    zoo.add(animal)
    for _ in range(2):
        done = vr(zoo, animal.name, "go")
        assert (done.code, done.stdout) == (1, "")
        assert done.stderr.count(f"Plugin {animal.name} is broken: it ") == 1
        assert "Run `vr doctor`" in done.stderr
        assert "No such command" not in done.stderr


def test_commands_of_a_plugin_that_is_turned_off_say_so(zoo: Zoo) -> None:
    zoo.add(LOUD)
    done = vr(zoo, "loud", "go", VR_KERNEL__DISABLED="loud")
    assert done.code == 1
    assert "Plugin loud is blocked: turned off by configuration." in done.stderr


def test_the_list_shows_what_is_remembered(zoo: Zoo) -> None:
    zoo.add(SLEEPY)
    vr(zoo, *ECHO)
    done = vr(zoo, "plugin", "list", "--json")
    assert done.code == 1
    rows = {row["name"]: row for row in json.loads(done.stdout)["plugins"]}
    assert rows["sleepy"]["state"] == "broken"
    assert "not tried again until it changes" in rows["sleepy"]["reason"]
    assert "sleepy" not in zoo.imported()


def test_settings_that_do_not_fit_are_read_anew(zoo: Zoo) -> None:
    """The plugin has not changed when its settings are corrected."""
    slow = "import time\ntime.sleep(0.2)\nfrom vr_kernel import hookimpl\n"
    bad = with_tool("picky_go") + "\n@hookimpl\ndef vr_settings(): return Size\n"
    zoo.add(Animal("picky", slow + bad))
    assert "size" in vr(zoo, "picky", "go", VR_PICKY__SIZE="many").stderr
    assert vr(zoo, "picky", "go").code == 0


@pytest.mark.slow
def test_strict_tries_it_every_time(zoo: Zoo) -> None:
    zoo.add(SLEEPY)
    vr(zoo, *ECHO)
    assert vr(zoo, *ECHO, VR_STRICT="1").code == 1
    assert "sleepy" in zoo.imported()


def test_a_command_whose_code_ends_the_program(zoo: Zoo) -> None:
    offered = "\nfrom vr_kernel import Command, hookimpl\n@hookimpl\ndef vr_commands():\n"
    code = "zoo_plugin_exits:command"
    zoo.add(EXITS, Animal("asks", f"{offered}    return [Command(('asks',), 'Ask.', '{code}')]\n"))
    done = vr(zoo, "asks")
    assert (done.code, done.stdout) == (1, "")
    assert "The code of `vr asks` cannot be used: it raised SystemExit(0)" in done.stderr
