"""`vr serve` without its server, and `python -m vr_kernel serve`, which stands in old files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from plugin_zoo import Zoo

BLOCKED = """
import sys
from importlib.abc import MetaPathFinder
class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "{package}":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
import importlib.util
known = importlib.util.find_spec
importlib.util.find_spec = lambda name, *a: None if name == "{package}" else known(name, *a)
"""
NO_FRONTS = """
import importlib.metadata
known = importlib.metadata.entry_points
importlib.metadata.entry_points = (
    lambda **given: () if given.get("group") == "vr.fronts" else known(**given)
)
"""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "old", "version": "1"},
    },
}


@pytest.fixture
def zoo(tmp_path: Path) -> Zoo:
    """An installation without plugins."""
    return Zoo(tmp_path / "zoo")


def start(zoo: Zoo, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run a module as a program, with this text on stdin."""
    return subprocess.run(
        [sys.executable, "-P", "-m", *words],
        env=zoo.environment(),
        cwd=zoo.work,
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_the_server_the_package_is_named(zoo: Zoo) -> None:
    (zoo.packages / "sitecustomize.py").write_text(BLOCKED.format(package="vr_server"), "utf-8")
    for options in ((), ("--http", "127.0.0.1:0")):
        ended = start(zoo, "vr_cli", "serve", *options)
        assert (ended.returncode, ended.stdout) == (3, "")
        assert "pip install 'vr-cli[serve]'" in ended.stderr
        assert "Traceback" not in ended.stderr
    assert start(zoo, "vr_cli", "plugin", "list").returncode == 0
    examined = start(zoo, "vr_cli", "doctor")
    assert "vr-server is not installed" in examined.stdout
    assert "To serve: pip install 'vr-cli[serve]'" in examined.stdout


def test_the_old_form_starts_the_front_that_is_installed(zoo: Zoo) -> None:
    ended = start(zoo, "vr_kernel", "serve", given=json.dumps(INITIALIZE) + "\n")
    assert ended.returncode == 0
    assert json.loads(ended.stdout)["result"]["serverInfo"]["name"] == "video-research"


def test_a_kernel_alone_names_the_package(zoo: Zoo) -> None:
    (zoo.packages / "sitecustomize.py").write_text(NO_FRONTS, "utf-8")
    ended = start(zoo, "vr_kernel", "serve")
    assert (ended.returncode, ended.stdout) == (3, "")
    assert 'pip install "vr-cli[serve]"' in ended.stderr
