"""Shell completion: names from the index, no plugin and no server imported."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from command_fork import run_vr
from plugin_zoo import Zoo, vr_command
from zoo_animals import GOOD

HEAVY = {"fastmcp", "mcp", "mcp_types", "zoo_plugin_zoo"}
LIST_MODULES = """
import atexit, pathlib, sys
atexit.register(lambda: pathlib.Path("modules.txt").write_text("\\n".join(sys.modules)))
"""


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    """The good plugin, already indexed."""
    zoo = Zoo(tmp_path_factory.mktemp("zoo")).add(GOOD)
    run_vr(zoo.environment(), zoo.work, "plugin", "list")
    return zoo


def asking(*words: str) -> dict[str, str]:
    """The variables by which bash asks for the last of these words."""
    return {
        "_VR_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["vr", *words]),
        "COMP_CWORD": str(len(words)),
    }


def complete(zoo: Zoo, *words: str, loads: bool = False, **variables: str) -> list[str]:
    """The words that bash would offer for the last one; only `loads` lets plugins be imported."""
    zoo.forget()
    done = run_vr(zoo.environment(**asking(*words), **variables), zoo.work)
    assert done.stderr == ""
    assert loads or zoo.imported() == set()
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize("words", [("",), ("zoo", "ec"), ("clean", "--")], ids=" ".join)
def test_nothing_heavy_is_imported(words: tuple[str, ...], zoo: Zoo) -> None:
    (zoo.packages / "sitecustomize.py").write_text(LIST_MODULES, "utf-8")
    environment = zoo.environment(**asking(*words))
    done = subprocess.run(
        vr_command(), env=environment, cwd=zoo.work, capture_output=True, check=False
    )
    assert done.stdout
    modules = (zoo.work / "modules.txt").read_text("utf-8").split()
    assert not HEAVY & {module.partition(".")[0] for module in modules}


def test_first_words(zoo: Zoo) -> None:
    offered = complete(zoo, "")
    assert {"call", "clean", "completion", "config", "doctor", "plugin", "serve"} <= set(offered)
    assert {"zoo", "picnic", "job"} <= set(offered)
    assert complete(zoo, "do") == ["doctor"]
    assert complete(zoo, "zo") == ["zoo"]
    assert complete(zoo, "nothing") == []
    assert "--set" in complete(zoo, "--")


def test_second_words(zoo: Zoo) -> None:
    assert {"echo", "feed", "climb"} <= set(complete(zoo, "zoo", ""))
    assert complete(zoo, "zoo", "ec") == ["echo"]
    assert complete(zoo, "config", "tr") == ["trust"]


def test_options(zoo: Zoo) -> None:
    assert {"--dry-run", "--yes", "--json"} <= set(complete(zoo, "clean", "--"))
    assert complete(zoo, "zoo", "echo", "--js", loads=True) == ["--json"]
    assert complete(zoo, "zoo", "echo", "hi", "--json", "", loads=True) == []
    assert "--set" not in complete(zoo, "zoo", "echo", "--", loads=True)
    assert complete(zoo, "completion", "") == ["bash", "zsh", "fish"]
    assert complete(zoo, "--set", "kernel.strict=1", "zoo", "ec") == ["echo"]


def test_without_an_index_own_commands_are_offered(zoo: Zoo, tmp_path: Path) -> None:
    elsewhere = str(tmp_path / "none")
    assert "doctor" in complete(zoo, "", VR_CACHE_DIR=elsewhere)
    assert not Path(elsewhere).exists()
    assert "echo" in complete(zoo, "zoo", "", VR_CACHE_DIR=elsewhere, loads=True)


def test_of_nothing_known_nothing_is_offered_and_nothing_said(zoo: Zoo) -> None:
    assert complete(zoo, "none", "", loads=True) == []
    assert complete(zoo, "zoo", "none", "", loads=True) == []
    assert complete(zoo, "zoo", "echo", "--", VR_TOOLSETS="[", VR_LOG_LEVEL="odd", loads=True) == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_with_the_script(zoo: Zoo, tmp_path: Path) -> None:
    program = tmp_path / "vr"
    program.write_text(f'#!/bin/sh\nexec {" ".join(vr_command())} "$@"\n', "utf-8")
    program.chmod(0o755)
    asks = (
        'source <("$1" completion bash); COMP_WORDS=(vr zoo ec); COMP_CWORD=2;'
        ' _vr_completion "$1"; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", asks, "bash", str(program)],
        env=zoo.environment(),
        cwd=zoo.work,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout.strip(), done.stderr) == ("echo", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_that_the_shell_reads(shell: str, zoo: Zoo, tmp_path: Path) -> None:
    done = run_vr(zoo.environment(), zoo.work, "completion", shell)
    assert done.code == 0
    assert f"_VR_COMPLETE={shell}_complete" in done.stdout
    program = shutil.which(shell)
    if program is None:
        return
    script = tmp_path / f"completion.{shell}"
    script.write_text(done.stdout, "utf-8")
    subprocess.run([program, "-n", str(script)], check=True, capture_output=True)


def test_another_shell_is_refused(zoo: Zoo) -> None:
    done = run_vr(zoo.environment(), zoo.work, "completion", "tcsh")
    assert done.code == 2
    assert "bash" in done.stderr
