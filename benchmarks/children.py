"""Programs of another environment that print their figures as a line of JSON."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.engines.driving import RESULT
from benchmarks.environments import ROOT
from benchmarks.processes import clean_environment

LIMIT_S = 1800


def child(python: Path, program: str, home: Path, *arguments: object) -> Any:
    """Run a module of `engines` with a folder of its own as home and first argument.

    Returns what it found.

    Raises:
        RuntimeError: when it fails.
    """
    command, env = command_of(python, program, home, *arguments)
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith(RESULT)]
    if done.returncode or not lines:
        raise RuntimeError(f"{program} failed:\n{done.stderr[-4000:]}")
    return json.loads(lines[-1].removeprefix(RESULT))


def command_of(
    python: Path, program: str, home: Path, *arguments: object
) -> tuple[list[str], dict[str, str]]:
    """Command and variables of a module of `engines`."""
    more = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "LANCE_LOG": "error"}
    module = f"benchmarks.engines.{program}"
    command = [str(python), "-m", module, str(home), *map(str, arguments)]
    return command, clean_environment(home, **more)
