"""The checkers find nothing. `make lint` runs the same ones, with more to read."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from workspace_tree import DISTRIBUTIONS, ROOT


def test_ruff_finds_nothing() -> None:
    _passes("ruff", "check", "--output-format=concise", ".")


def test_every_file_is_formatted() -> None:
    _passes("ruff", "format", "--check", ".")


def test_import_contracts_are_kept() -> None:
    run = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    _passes("-c", run, module=False)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_types_are_right() -> None:
    sources = [distribution.folder / "src" for distribution in DISTRIBUTIONS]
    programs = [ROOT / "benchmarks", *ROOT.glob("scripts"), *ROOT.glob("plugins/*/scripts")]
    _passes("mypy", *(path.relative_to(ROOT).as_posix() for path in [*sources, *programs]))


def _passes(*arguments: str, module: bool = True) -> None:
    done = subprocess.run(
        [sys.executable, *(["-m"] if module else []), *arguments],
        cwd=ROOT,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
