"""Keys that a client hands to the server it starts, and keys that lie in a shell."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from command_fork import run_vr
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from plugin_zoo import vr_command
from server_process import HttpServerProcess

KEY = "gsk_of-some-program"
Told = Callable[[Mapping[str, str], Path], Any]


async def by_a_client(environment: Mapping[str, str], folder: Path) -> Any:
    """The providers that a client is told which starts the server on its pipes."""
    command, *arguments = vr_command("serve")
    started = StdioTransport(command, arguments, env=dict(environment), cwd=str(folder))
    async with Client(started) as client:
        return (await client.call_tool("infra_models", {})).structured_content


async def over_http(environment: Mapping[str, str], folder: Path) -> Any:
    """The providers of a server that was started in a shell, and is asked over HTTP."""
    with HttpServerProcess(environment, folder) as server:
        async with Client(server.url) as client:
            return (await client.call_tool("infra_models", {})).structured_content


async def in_a_shell(environment: Mapping[str, str], folder: Path) -> Any:
    """The providers that the command line tells."""
    ended = run_vr(environment, folder, "infra", "models", "--json")
    assert ended.code == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("told", "used"), [(by_a_client, True), (over_http, False), (in_a_shell, False)]
)
async def test_only_a_client_agrees_by_the_environment(
    told: Told, used: bool, tmp_path: Path
) -> None:
    """And nobody is shown the key."""
    own = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "GROQ_API_KEY": KEY}
    report = await told(own, tmp_path)
    (groq,) = [each for each in report["providers"] if each["name"] == "groq"]
    assert (groq["ready"], groq["used"]) == (True, used)
    assert ("handed over by the client" in groq["reason"]) == used
    assert ("GROQ_API_KEY" in groq["reason"]) != used
    assert [name.partition("/")[0] for name in report["roles"]["default"]] == ["groq"] * 2 * used
    assert KEY not in json.dumps(report)
