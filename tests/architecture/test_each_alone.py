"""Each distribution, built and installed with the kernel alone, passes its own tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from workspace_tree import EXAMPLES, KERNEL, PLUGINS, ROOT, Distribution


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("distribution", [KERNEL, *PLUGINS, *EXAMPLES], ids=str)
def test_its_tests_pass_with_the_kernel_alone(distribution: Distribution, tmp_path: Path) -> None:
    python = _environment(distribution, tmp_path / "alone")
    tests = distribution.folder / "tests"
    _run([python, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", str(tests)])


def _environment(distribution: Distribution, folder: Path) -> str:
    """A virtual environment with the kernel, the distribution with all extras, and pytest."""
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    assert uv, "uv is not installed"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    extras = ",".join(distribution.project.get("optional-dependencies", {}))
    wanted = f"{distribution.folder}[{extras}]" if extras else str(distribution.folder)
    _run([uv, "venv", "--quiet", "--python", sys.executable, str(folder)])
    packages = dict.fromkeys([str(KERNEL.folder), wanted])
    _run([uv, "pip", "install", "--quiet", "--python", str(python), "--group", "test", *packages])
    return str(python)


def _run(command: list[str]) -> None:
    kept = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    done = subprocess.run(command, cwd=ROOT, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]
