"""A fresh server imports only what serving takes: plugins stay light until they are called."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from workspace_tree import CLI, KERNEL, META, PAGES, PLUGINS, RELEASED

HEAVY = {
    "PIL", "av", "cv2", "faster_whisper", "google.genai", "googleapiclient", "numpy",
    "onnxruntime", "openai", "rapidocr", "rich", "rustworkx", "tokenizers", "weaviate",
}  # fmt: skip
OURS = {distribution.package.name for distribution in RELEASED}
KERNEL_BUDGET, OTHER_BUDGET = 134, 55
"""Modules that a fresh server may import of the kernel, its 18 rooms among them, and of others."""
FOREIGN_BUDGET = 80
"""Modules of others that kernel and plugins may add to a bare one-tool server."""
HELP_BUDGET = 120
"""Modules that `vr --help` may add to an empty program; most are click's and Python's."""

REPORT = """
import json, sys
print(json.dumps(sorted(sys.modules)))
"""
ONE_TOOL = """
import asyncio
from fastmcp import FastMCP
app = FastMCP("one")
@app.tool
def add(a: int, b: int) -> int:
    return a + b
assert len(asyncio.run(app.list_tools())) == 1
"""
OUR_SERVER = """
import asyncio, json
from vr_kernel import Kernel, load_config
from vr_server import build_server
kernel = Kernel(load_config())
tools = asyncio.run(build_server(kernel).list_tools())
print(json.dumps({"plugins": [p.name for p in kernel.plugins()], "tools": len(tools)}))
"""
PLUGIN_LIST = """
from vr_cli.root import run
assert run(["plugin", "list"]) == 0
"""
TOOL_AS_JSON = """
from vr_cli.root import run
assert run(["infra", "cache", "--json"]) == 0
print()
"""
HELP = """
from vr_cli.root import run
assert run(["--help"]) == 0
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    own = {f"VR_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "STATE", "CACHE")}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("VR_")}
    return {**kept, **own, "VR_STRICT": "1"}


def test_a_fresh_server_imports_nothing_heavy(environment: dict[str, str]) -> None:
    floor, _ = _modules(ONE_TOOL, environment)
    ours, said = _modules(OUR_SERVER, environment)
    served = json.loads(said)
    entries = [d.project["entry-points"]["vr.plugins"] for d in (META, PAGES, *PLUGINS)]
    assert {name for entry in entries for name in entry} <= set(served["plugins"])
    assert served["tools"] > len(PLUGINS)
    added = ours - floor
    assert not {name for name in added if _is_of(name, HEAVY)}
    own = {name for name in added if _is_of(name, OURS)}
    for package in OURS:
        budget = KERNEL_BUDGET if package == KERNEL.package.name else OTHER_BUDGET
        mine = sorted(name for name in own if _is_of(name, {package}))
        assert len(mine) <= budget, "\n".join(mine)
    assert len(added - own) <= FOREIGN_BUDGET, "\n".join(sorted(added - own))


def test_help_imports_no_plugin_and_no_server(environment: dict[str, str]) -> None:
    empty, _ = _modules("", environment)
    unneeded = OURS - {KERNEL.package.name, CLI.package.name}
    _modules(PLUGIN_LIST, environment)
    modules, said = _modules(HELP, environment)
    assert "infra" in said
    assert not {name for name in modules if _is_of(name, HEAVY | unneeded | {"fastmcp", "mcp"})}
    assert len(modules - empty) <= HELP_BUDGET, "\n".join(sorted(modules - empty))


def test_a_result_as_json_needs_nothing_that_draws(environment: dict[str, str]) -> None:
    modules, _ = _modules(TOOL_AS_JSON, environment)
    assert "vr_cli.calling.calls" in modules
    assert not {name for name in modules if _is_of(name, {"rich", "vr_cli.showing.pen"})}
    modules, _ = _modules(TOOL_AS_JSON.replace(', "--json"', ""), environment)
    assert "rich.console" in modules


def _modules(program: str, environment: dict[str, str]) -> tuple[set[str], str]:
    done = _run([sys.executable, "-c", program + REPORT], environment)
    *said, modules = done.stdout.splitlines()
    return set(json.loads(modules)), "\n".join(said)


def _run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def _is_of(module: str, packages: set[str]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)
