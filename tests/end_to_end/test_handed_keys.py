"""Keys that a client hands to the server it starts, and keys that lie in a shell."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from command_fork import run_vr
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from plugin_zoo import vr_command
from server_process import HttpServerProcess
from vr_testing import FakeOpenAI

KEY = "gsk_of-some-program"
PROBE = {"probe": True}
Told = Callable[[Mapping[str, str], Path], Any]


async def by_a_client(environment: Mapping[str, str], folder: Path) -> Any:
    """The providers that a client is told which starts the server on its pipes."""
    command, *arguments = vr_command("serve")
    started = StdioTransport(command, arguments, env=dict(environment), cwd=str(folder))
    async with Client(started) as client:
        return (await client.call_tool("infra_models", PROBE)).structured_content


async def over_http(environment: Mapping[str, str], folder: Path) -> Any:
    """The providers of a server that was started in a shell, and is asked over HTTP."""
    with HttpServerProcess(environment, folder) as server:
        async with Client(server.url) as client:
            return (await client.call_tool("infra_models", PROBE)).structured_content


async def in_a_shell(environment: Mapping[str, str], folder: Path) -> Any:
    """The providers that the command line tells."""
    ended = run_vr(environment, folder, "infra", "models", "--probe", "--json")
    assert ended.code == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.fixture
def groq() -> Iterator[FakeOpenAI]:
    """The service that the key belongs to; it is also the proxy on the way there."""
    with FakeOpenAI() as service:
        service.keys, service.models = {KEY}, {"openai/gpt-oss-120b"}
        yield service


@pytest.mark.slow
@pytest.mark.parametrize(
    ("told", "declined", "reason"),
    [
        (by_a_client, "groq", "declined in [models]"),
        (by_a_client, "", "handed over by the client"),
        (over_http, "", "found in the environment: GROQ_API_KEY, GROQ_BASE_URL"),
        (in_a_shell, "", "found in the environment: GROQ_API_KEY, GROQ_BASE_URL"),
    ],
)
async def test_only_a_client_agrees_by_the_environment(
    told: Told, declined: str, reason: str, groq: FakeOpenAI, tmp_path: Path
) -> None:
    """The key reaches its service by a client alone, and nobody is shown it."""
    own = {
        "HOME": str(tmp_path),
        "PATH": os.environ["PATH"],
        "VR_MODELS__DECLINED": declined,
        "GROQ_API_KEY": KEY,
        "GROQ_BASE_URL": "http://groq.example/v1",
        "http_proxy": groq.url.removesuffix("/v1"),
    }
    used = reason.startswith("handed")
    report = await told(own, tmp_path)
    (found,) = [each for each in report["providers"] if each["name"] == "groq"]
    assert (found["ready"], found["used"], found["reason"]) == (True, used, reason)
    assert [name.partition("/")[0] for name in report["roles"]["default"]] == ["groq"] * 2 * used
    assert [it.action for it in groq.requests] == ["models.list"] * used
    assert found["probe"].partition(",")[0] == "answers; offers 1 model" * used
    assert KEY not in json.dumps(report)
