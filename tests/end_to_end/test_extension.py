"""A third party's plugin: installed with pip, there without another step."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from installation import REPOSITORY, Sandbox
from vr_server import connect


@pytest.mark.slow
def test_an_installed_plugin_is_served(
    sandbox: Sandbox, fresh_environment: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    environment = sandbox.environment(fresh_environment(VR_TOOLSETS="all"))
    before = _tools(sandbox, environment, tmp_path)
    if "weather_now" in before:
        pytest.skip("vr-plugin-weather is installed already; `make clean` removes it")
    subprocess.run(
        ["pip", "install", "-q", str(REPOSITORY / "examples" / "vr-plugin-weather")],
        env=environment,
        check=True,
        capture_output=True,
    )
    after = _tools(sandbox, environment, tmp_path)
    assert set(after) - set(before) == {"weather_now"}
    answer = subprocess.run(
        ["vr", "weather", "now", "Lisbon", "--json"],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    assert json.loads(answer.stdout)["city"] == "Lisbon"


def _tools(sandbox: Sandbox, environment: dict[str, str], folder: Path) -> list[str]:
    async def ask() -> list[str]:
        command = [str(sandbox.folder / "bin" / "vr"), "serve"]
        async with connect(command, env=environment, cwd=folder) as client:
            return await client.tool_names()

    return asyncio.run(ask())
