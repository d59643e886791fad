"""The generated pages say what the code says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from installation import REPOSITORY

SCRIPTS = sorted((REPOSITORY / "scripts").glob("*_reference.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_generated_page_is_up_to_date(script: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
