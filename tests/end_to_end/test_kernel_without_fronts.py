"""The example that opens a kernel needs no package of a server or a command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "call_a_tool.py"
FRONTS = ("click", "fastmcp", "mcp", "rich", "starlette", "uvicorn")
BLOCKER = f"""
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {FRONTS}:
            raise ModuleNotFoundError(f"{{name}} is blocked", name=name)

sys.meta_path.insert(0, Blocker())
"""


def run(code: list[str], blocked: Path) -> subprocess.CompletedProcess[str]:
    """Run Python where the packages of the fronts cannot be imported."""
    (blocked / "sitecustomize.py").write_text(BLOCKER, "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(blocked)}
    return subprocess.run(
        [sys.executable, *code], env=environment, capture_output=True, text=True, check=False
    )


def test_a_kernel_opens_and_calls_a_tool_without_the_fronts(tmp_path: Path) -> None:
    assert "is blocked" in run(["-c", "import click"], tmp_path).stderr
    done = run([str(EXAMPLE)], tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["words"] == 6
