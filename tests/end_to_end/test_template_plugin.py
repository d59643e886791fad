"""A stranger's first hour: make a plugin, test it, check it, install it, have it served."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from installation import REPOSITORY, Sandbox
from vr_server import connect

EXAMPLE = REPOSITORY / "examples" / "vr-plugin-weather"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_new_plugin_is_green_installed_and_served(
    sandbox: Sandbox, fresh_environment: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    environment = sandbox.environment(fresh_environment(VR_TOOLSETS="all"))

    def run(command: str, folder: Path = tmp_path) -> str:
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    told = run("vr plugin new air-quality")
    project = tmp_path / "vr-plugin-air-quality"
    change, *steps = [line.strip() for line in told.splitlines() if line.startswith("  ")]
    assert change == f"cd {project.name}"
    for step in steps:
        run(step, project)
    for checker in ("ruff check .", "ruff format --check .", "mypy"):
        run(f"{sys.executable} -m {checker}", project)
    counted = json.loads(run('vr airquality count "to be or not to be" --json'))
    assert counted["words"] == 6
    assert asyncio.run(_served(sandbox, environment, tmp_path)) == counted
    assert _levels(run("vr plugin check air-quality --json")) <= {"ok", "warning"}


@pytest.mark.slow
def test_the_example_passes_every_check(
    fresh_environment: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "vr_cli", "plugin", "check", str(EXAMPLE), "--json"],
        cwd=tmp_path,
        env=fresh_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert _levels(done.stdout) <= {"ok", "warning"}


async def _served(sandbox: Sandbox, environment: dict[str, str], folder: Path) -> object:
    """Call the tool as a real client of a real server."""
    command = [str(sandbox.folder / "bin" / "vr"), "serve"]
    async with connect(command, env=environment, cwd=folder) as client:
        assert "airquality_count" in await client.tool_names()
        return await client.call("airquality_count", text="to be or not to be")


def _levels(output: str) -> set[str]:
    (plugin,) = json.loads(output)["plugins"]
    return {check["level"] for check in plugin["checks"]}
