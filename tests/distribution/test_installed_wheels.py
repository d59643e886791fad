"""The wheels, installed without the tree, are the whole program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builds import Wheel, constrain, install, program, run
from vr_server import connect

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
EXAMPLE = Path(__file__).parents[2] / "examples" / "vr-plugin-weather"


def test_both_scripts_are_the_program(
    installed: Path, user: dict[str, str], wheels: list[Wheel], tmp_path: Path
) -> None:
    version = wheels[0].metadata()["Version"]
    for script in ("vr", "video-research"):
        command = str(program(installed, script))
        assert run([command, "--version"], tmp_path, user).split()[-1] == version
        assert "serve" in run([command, "--help"], tmp_path, user)


def test_every_plugin_is_loaded(
    installed: Path, user: dict[str, str], wheels: list[Wheel], tmp_path: Path
) -> None:
    listed = run([str(program(installed, "vr")), "plugin", "list", "--json"], tmp_path, user)
    plugins = {plugin["name"]: plugin for plugin in json.loads(listed)["plugins"]}
    assert {plugin["state"] for plugin in plugins.values()} == {"loaded"}
    with_hooks = [w for w in wheels if w.name == "vr_kernel" or "vr.plugins" in w.entry_points()]
    wanted = {wheel.name.replace("_", "-") for wheel in with_hooks}
    assert {plugin["distribution"] for plugin in plugins.values()} == wanted


def test_nothing_of_the_tree_is_imported(
    installed: Path, user: dict[str, str], wheels: list[Wheel], tmp_path: Path
) -> None:
    names = [wheel.name for wheel in wheels]
    code = f"import sys, {', '.join(names)}; print(*[sys.modules[n].__file__ for n in {names}])"
    files = run([str(program(installed, "python")), "-c", code], tmp_path, user).split()
    assert all(Path(file).is_relative_to(installed) for file in files), files


async def test_a_client_is_offered_every_tool(
    installed: Path, user: dict[str, str], tmp_path: Path
) -> None:
    command = [str(program(installed, "vr")), "serve"]
    async with connect(command, env={**user, "VR_TOOLSETS": "all"}, cwd=tmp_path) as client:
        names = await client.tool_names()
        assert {"video_analyze", "knowledge_search", "infra_plugins", "job_status"} <= set(names)
        assert (await client.call("knowledge_stats")) is not None


def test_a_stranger_develops_a_plugin_against_the_wheels(
    user: dict[str, str], wheels: list[Wheel], tmp_path: Path
) -> None:
    """The template and the example, tested where the fronts are wheels and no plugin is there."""
    environment = tmp_path / "environment"
    ours = constrain(tmp_path / "wheels.txt", wheels)
    install(environment, "vr-cli[serve]", versions=ours)
    run([str(program(environment, "vr")), "plugin", "new", "sky"], tmp_path, user)
    project = tmp_path / "vr-plugin-sky"
    python = str(program(environment, "python"))
    tools = ["uv", "pip", "install", "--quiet", "--python", python, "-c", str(ours)]
    run([*tools, "--editable", f"{project}[dev]", str(EXAMPLE), "hypothesis"], tmp_path, user)
    run([python, "-m", "pytest", "-q"], project, user)
    run([str(program(environment, "vr")), "plugin", "check", "."], project, user)
    example_tests = tmp_path / "example" / "tests"
    example_tests.mkdir(parents=True)
    for test in (EXAMPLE / "tests").glob("*.py"):
        (example_tests / test.name).write_bytes(test.read_bytes())
    asynchronous = ["-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function"]
    run([python, "-m", "pytest", "-q", *asynchronous, "."], example_tests, user)
