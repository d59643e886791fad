"""Commands that manifests give to clients are run as they are written, and a server answers."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from builds import Wheel, run
from installation import REPOSITORY
from vr_server import connect

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
Start = tuple[list[str], dict[str, str]]


def manifest(path: str) -> Any:
    return json.loads((REPOSITORY / path).read_text(encoding="utf-8"))


def from_registry(folder: Path) -> Start:
    """As a client puts together what a registry tells it."""
    del folder
    (package,) = manifest("server.json")["packages"]
    before = [
        part for item in package["runtimeArguments"] for part in (item["name"], item["value"])
    ]
    after = [item["value"] for item in package["packageArguments"]]
    pinned = f"{package['identifier']}@{package['version']}"
    return [package["runtimeHint"], *before, pinned, *after], {}


def from_claude_plugin(folder: Path) -> Start:
    del folder
    (plugin,) = manifest(".claude-plugin/marketplace.json")["plugins"]
    described = manifest(f"{plugin['source']}/.claude-plugin/plugin.json")
    return _started(described["mcpServers"]["video-research"])


def from_gemini_extension(folder: Path) -> Start:
    del folder
    return _started(manifest("gemini-extension.json")["mcpServers"]["video-research"])


def from_bundle(folder: Path) -> Start:
    """As a client does that unpacked a bundle and asked for a folder, but got no key."""
    unpacked = folder / "bundle"
    shutil.copytree(REPOSITORY / "packaging" / "mcpb", unpacked)
    bundle = manifest("packaging/mcpb/manifest.json")
    answers = {
        "folder": str(folder),
        "gemini_api_key": bundle["user_config"]["gemini_api_key"]["default"],
    }
    text = json.dumps(bundle["server"]["mcp_config"]).replace("${__dirname}", str(unpacked))
    for name, answer in answers.items():
        text = text.replace(f"${{user_config.{name}}}", answer)
    assert "${" not in text
    return _started(json.loads(text))


def without_arguments(folder: Path) -> Start:
    del folder
    return ["uvx", "video-research"], {}


STARTS = [from_registry, from_claude_plugin, from_gemini_extension, from_bundle, without_arguments]


@pytest.mark.parametrize("described", STARTS, ids=lambda start: start.__name__)
async def test_a_client_that_follows_it_is_served(
    described: Callable[[Path], Start], user: dict[str, str], wheels: list[Wheel], tmp_path: Path
) -> None:
    command, variables = described(tmp_path)
    async with connect(command, env={**user, **variables}, cwd=tmp_path) as client:
        assert {"video_analyze", "knowledge_search"} <= set(await client.tool_names())
        told = await client.call("infra_plugins")
    states = {plugin["name"]: plugin for plugin in told["plugins"]}
    assert states["video"]["state"] == "loaded"
    assert states["video"]["version"] == wheels[0].metadata()["Version"]
    has_local_engine = "ocr-rapidocr" in states
    assert has_local_engine is (described is not without_arguments)


def test_at_a_terminal_it_explains_itself(user: dict[str, str], tmp_path: Path) -> None:
    """Without arguments a person wants help, and only a program a server."""
    with _terminal() as keyboard:
        told = run(["uvx", "video-research"], tmp_path, user, stdin=keyboard, status=2)
    assert "Usage:" in told


def _started(entry: dict[str, Any]) -> Start:
    return [entry["command"], *entry["args"]], entry.get("env", {})


@contextmanager
def _terminal() -> Iterator[int]:
    outer, inner = os.openpty()
    try:
        yield inner
    finally:
        os.close(outer)
        os.close(inner)
