"""The public face of the server: few names, each documented, and none imported before its use."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import vr_server

README = Path(__file__).parents[1] / "README.md"
LIGHT = """
import sys, vr_server
from vr_server import StdoutGuard
heavy = {"fastmcp", "mcp", "pydantic", "starlette", "uvicorn"} & {*sys.modules}
assert not heavy, heavy
"""


@pytest.mark.parametrize("name", vr_server.__all__)
def test_a_public_name_is_there_and_documented(name: str) -> None:
    assert getattr(vr_server, name) is not None
    rows = [line for line in README.read_text("utf-8").splitlines() if line.startswith("| `")]
    assert any(re.search(rf"`{name}\b", row.split("|")[1]) for row in rows)


def test_there_is_no_other_name() -> None:
    with pytest.raises(AttributeError, match="Listener"):
        _ = vr_server.Listener


def test_its_streams_are_guarded_before_anything_heavy_is_imported() -> None:
    subprocess.run([sys.executable, "-c", LIGHT], check=True)
