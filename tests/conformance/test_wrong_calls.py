"""Every tool, called wrongly through clients that others wrote, says what to do instead."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from installation import SERVE
from node_programs import NodePrograms
from vr_kernel import ERROR_META, Code
from vr_server import Era, connect

pytestmark = pytest.mark.slow
WRONG = {"no_such_argument": 1}
UNKNOWN = "no_such_tool"
SAMPLE = ("infra_plugins", "job_result", "video_analyze")
"""Tools that the Inspector is asked for: it starts a server for each, and itself knows no other."""
SCRIPT = Path(__file__).with_name("wrong_calls.mjs")
OLDER, NEWER = "@modelcontextprotocol/sdk", "@modelcontextprotocol/client"


@pytest.fixture(scope="module")
def environment(fresh_environment: Callable[..., dict[str, str]]) -> dict[str, str]:
    """A new user who shows a client every tool, by all its names."""
    return fresh_environment(VR_KERNEL__TOOLSETS='["all", "compat"]')


async def ask_python(era: Era, environment: dict[str, str], folder: Path) -> dict[str, Any]:
    """Answers of every tool to the SDK for Python."""
    log = folder / "server.log"
    async with connect(SERVE, env=environment, cwd=folder, era=era, log_file=log) as server:
        answers = {
            name: await server.client.call_tool_mcp(name, WRONG)
            for name in [*await server.tool_names(), UNKNOWN]
        }
    return {name: answer.model_dump(mode="json", by_alias=True) for name, answer in answers.items()}


def told(answer: dict[str, Any]) -> dict[str, Any]:
    """The error in an answer, which says it three times, but for the call's id."""
    assert answer.get("isError") is True, answer
    assert answer.get("structuredContent") is None
    words, body = (block["text"] for block in answer["content"])
    error: dict[str, Any] = json.loads(body)
    assert answer["_meta"][ERROR_META] == error
    assert error["message"].rstrip(".") in words
    assert error["hint"]
    assert words.endswith(error["hint"])
    assert error.pop("call_id")
    return error


@pytest.fixture(scope="module")
def expected(
    environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """The errors of all tools, as the SDK for Python reads them in the newest era."""
    folder = tmp_path_factory.mktemp("expected")
    errors = read(asyncio.run(ask_python("auto", environment, folder)))
    assert len(errors) > len(SAMPLE)
    assert errors[UNKNOWN]["code"] == Code.NOT_FOUND
    known = [error for name, error in errors.items() if name != UNKNOWN]
    assert {error["code"] for error in known} == {Code.INVALID_INPUT}
    assert all("no_such_argument" in error["message"] for error in known)
    return errors


def read(answers: dict[str, Any]) -> dict[str, Any]:
    """The errors in answers, by tool."""
    return {name: told(answer) for name, answer in answers.items()}


def test_python_with_a_handshake(
    environment: dict[str, str], expected: dict[str, Any], tmp_path: Path
) -> None:
    assert read(asyncio.run(ask_python("legacy", environment, tmp_path))) == expected


@pytest.mark.parametrize(("sdk", "era"), [(OLDER, "legacy"), (NEWER, "legacy"), (NEWER, "auto")])
def test_typescript(
    sdk: str,
    era: str,
    programs: NodePrograms,
    environment: dict[str, str],
    expected: dict[str, Any],
    tmp_path: Path,
) -> None:
    done = programs.run_script(SCRIPT, sdk, era, *SERVE, folder=tmp_path, environment=environment)
    assert done.returncode == 0, done.stderr
    assert read(json.loads(done.stdout)) == expected


@pytest.mark.parametrize("tool", SAMPLE)
def test_inspector_reads_errors(
    tool: str,
    programs: NodePrograms,
    environment: dict[str, str],
    expected: dict[str, Any],
    tmp_path: Path,
) -> None:
    call = ("--method", "tools/call", "--tool-name", tool, "--tool-arg", "no_such_argument=1")
    names = ("HOME", "VR_KERNEL__TOOLSETS")
    given = [part for name in names for part in ("-e", f"{name}={environment[name]}")]
    done = programs.run("inspector", "--cli", *SERVE, *given, *call, folder=tmp_path)
    assert told(json.loads(done.stdout)) == expected[tool], done.stderr
