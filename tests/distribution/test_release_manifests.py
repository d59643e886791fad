"""Manifests that registries and clients read are valid, of one version, and tell the same."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from installation import REPOSITORY
from packaging.requirements import Requirement

SCHEMAS = Path(__file__).parent / "schemas"
PLUGIN = "packaging/claude-plugin/.claude-plugin/plugin.json"
VALID = {
    "server.json": "server-2025-12-11.json",
    "packaging/mcpb/manifest.json": "mcpb-manifest-v0.4.json",
    PLUGIN: "claude-plugin.json",
    ".claude-plugin/marketplace.json": "claude-marketplace.json",
    "gemini-extension.json": "gemini-extension.json",
}
VERSION = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "version"
]
VERSIONED = [*VALID, "Dockerfile", "packaging/mcpb/pyproject.toml"]
MENTION = re.compile(
    r"""(?:version"?\s*[:=]\s*"|video-research(?:\[\w+\])?==)(\d+\.\d+\.\d+)""", re.IGNORECASE
)


def manifest(path: str) -> Any:
    return json.loads((REPOSITORY / path).read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", VALID)
def test_it_is_valid(path: str) -> None:
    from jsonschema import FormatChecker
    from jsonschema.validators import validator_for

    schema = json.loads((SCHEMAS / VALID[path]).read_text(encoding="utf-8"))
    validator = validator_for(schema)(schema, format_checker=FormatChecker())
    assert not [
        f"{error.json_path}: {error.message}" for error in validator.iter_errors(manifest(path))
    ]


@pytest.mark.parametrize("path", VERSIONED)
def test_it_says_the_version(path: str) -> None:
    """`test_distributions.py` holds the distributions to the same one."""
    found = MENTION.findall((REPOSITORY / path).read_text(encoding="utf-8"))
    assert set(found) == {VERSION}


def test_the_server_is_published_under_its_name() -> None:
    """The registry wants `mcp-name:` and the name in the package's readme, and in the image."""
    name = manifest("server.json")["name"]
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^<!-- mcp-name: (\S+) -->$", readme, re.MULTILINE) == [name]
    dockerfile = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8")
    assert f'io.modelcontextprotocol.server.name="{name}"' in dockerfile


def test_every_client_starts_the_same() -> None:
    plugin, extension = (manifest(path)["mcpServers"] for path in (PLUGIN, "gemini-extension.json"))
    assert plugin == extension
    bundle = tomllib.loads(
        (REPOSITORY / "packaging/mcpb/pyproject.toml").read_text(encoding="utf-8")
    )["project"]
    (package,) = manifest("server.json")["packages"]
    wanted = Requirement(f"video-research[local]=={VERSION}")
    assert [Requirement(text) for text in bundle["dependencies"]] == [wanted]
    assert [Requirement(item["value"]) for item in package["runtimeArguments"]] == [wanted]
    assert Requirement(plugin["video-research"]["args"][1]) == wanted


def test_the_marketplace_offers_the_plugin_that_is_there() -> None:
    (entry,) = manifest(".claude-plugin/marketplace.json")["plugins"]
    folder = REPOSITORY / entry["source"]
    assert folder / ".claude-plugin" / "plugin.json" == REPOSITORY / PLUGIN
    assert manifest(PLUGIN)["name"] == entry["name"]


def test_the_bundle_uses_what_it_asks_for_and_has_what_it_starts() -> None:
    bundle = manifest("packaging/mcpb/manifest.json")
    text = json.dumps(bundle["server"])
    assert set(re.findall(r"\$\{user_config\.(\w+)\}", text)) == set(bundle["user_config"])
    assert (REPOSITORY / "packaging/mcpb" / bundle["server"]["entry_point"]).is_file()
    for name, asked in bundle["user_config"].items():
        assert asked["required"] or "default" in asked, f"${{{name}}} would stand there as it is"
        assert asked.get("sensitive", False) is ("key" in name)
