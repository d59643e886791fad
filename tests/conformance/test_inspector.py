"""The MCP Inspector's command line, a client that others wrote, meets `vr serve`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from everything_server import Everything
from node_programs import NodePrograms
from plugin_zoo import vr_command

pytestmark = pytest.mark.slow
STDIO = "stdio"


class Inspector:
    """The Inspector in front of one server."""

    def __init__(self, programs: NodePrograms, target: list[str], folder: Path) -> None:
        self._programs = programs
        self._target = target
        self._folder = folder

    def ask(self, method: str, *options: str) -> dict[str, Any]:
        """The result of a method, as the Inspector prints it."""
        arguments = ["--cli", *self._target, "--method", method, *options]
        done = self._programs.run("inspector", *arguments, folder=self._folder)
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer


@pytest.fixture(params=[STDIO, "http"])
def inspector(
    request: pytest.FixtureRequest, programs: NodePrograms, everything: Everything, tmp_path: Path
) -> Inspector:
    if request.param == "http":
        target = [request.getfixturevalue("address")]
    else:
        given = [
            option
            for name, value in everything.variables().items()
            for option in ("-e", f"{name}={value}")
        ]
        target = [*vr_command("serve"), *given]
    return Inspector(programs, target, tmp_path)


def test_tools(inspector: Inspector) -> None:
    tools = {tool["name"]: tool for tool in inspector.ask("tools/list", "--strict")["tools"]}
    assert tools["test_mirrored_header"]["inputSchema"]["required"] == ["region"]
    assert tools["infra_plugins"]["annotations"]["readOnlyHint"] is True

    call = ("--tool-name", "test_mirrored_header", "--tool-arg", "region=north")
    result = inspector.ask("tools/call", *call)
    assert result["structuredContent"] == {"text": "north"}
    assert json.loads(result["content"][0]["text"]) == {"text": "north"}

    shown = inspector.ask("tools/call", "--tool-name", "test_multiple_content_types")
    assert [block["type"] for block in shown["content"]] == ["text", "image", "resource"]


def test_prompts(inspector: Inspector) -> None:
    prompts = {prompt["name"]: prompt for prompt in inspector.ask("prompts/list")["prompts"]}
    arguments = prompts["test_prompt_with_arguments"]["arguments"]
    assert [(each["name"], each["required"]) for each in arguments] == [
        ("arg1", True),
        ("arg2", True),
    ]

    given = ("--prompt-name", "test_prompt_with_arguments", "--prompt-args", "arg1=a", "arg2=b")
    written = inspector.ask("prompts/get", *given)
    text = {"type": "text", "text": "Prompt with arguments: arg1='a', arg2='b'"}
    assert written["messages"] == [{"role": "user", "content": text}]


def test_resources(inspector: Inspector) -> None:
    listed = {each["uri"] for each in inspector.ask("resources/list")["resources"]}
    assert {"test://static-text", "test://static-binary"} <= listed
    families = inspector.ask("resources/templates/list")["resourceTemplates"]
    assert "test://template/{id}/data" in {each["uriTemplate"] for each in families}

    (read,) = inspector.ask("resources/read", "--uri", "test://template/7/data")["contents"]
    assert json.loads(read["text"])["data"] == "Data for ID: 7"
    assert read["mimeType"] == "application/json"
