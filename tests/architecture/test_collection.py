"""The same tests are there in every run, in whatever order the files are read."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from workspace_tree import ROOT

FOLDERS = [
    path.relative_to(ROOT).as_posix()
    for pattern in ("*/tests", "plugins/*/tests", "examples/*/tests", "tests")
    for path in sorted(ROOT.glob(pattern))
]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_test_depends_on_order_or_hashes() -> None:
    found = collected(FOLDERS, hash_seed="1")
    assert collected(FOLDERS[::-1], hash_seed="2") == found
    assert len(set(found)) == len(found) > 1000


def collected(folders: list[str], *, hash_seed: str) -> list[str]:
    """The names of all tests, sorted."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *folders]
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    listed = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return sorted(line for line in listed.stdout.splitlines() if "::" in line)
