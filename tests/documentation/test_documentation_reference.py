"""The generated pages say what the code says."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest
from installation import REPOSITORY

SCRIPTS = sorted((REPOSITORY / "scripts").glob("*_reference.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_generated_page_is_up_to_date(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(script.parent)
    monkeypatch.setattr(sys, "argv", [str(script), "--check"])
    runpy.run_path(str(script), run_name="__main__")  # ends with a message where a page differs
