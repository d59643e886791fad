"""Commands that open no kernel take files and folders that stand open from others, too."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from vr_cli.root import run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")


def modes(top: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in (top, *top.rglob("*"))}


@pytest.mark.parametrize("command", [("cost",), ("clean", "--yes")], ids=["cost", "clean"])
def test_command_without_a_kernel_takes_what_stands_open(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("state", "cache", "config"):
        monkeypatch.setenv(f"VR_{name.upper()}_DIR", str(tmp_path / name))
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "deep" / "file").touch()
    assert run(command) == 0
    for name in ("state", "cache", "config"):
        assert set(modes(tmp_path / name).values()) <= {0o700, 0o600}
