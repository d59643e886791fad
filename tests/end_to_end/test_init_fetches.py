"""`vr init` fetches what a plugin names as missing, and goes on where it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_init_goes_on_when_the_model_cannot_be_fetched(tmp_path: Path) -> None:
    pytest.importorskip("faster_whisper", reason="no speech recognition installed")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("VR_")},
        "HOME": str(tmp_path),
        "USERPROFILE": str(tmp_path),
        "HF_ENDPOINT": "http://127.0.0.1:9",
        "HF_HUB_CACHE": str(tmp_path / "hub"),
        "VR_VIDEO__SPEECH_MODEL": "base",
    }
    command = [sys.executable, "-m", "vr_cli", "init", "--client", "cursor", "--fetch", "--yes"]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 75, done.stderr
    assert "to run: vr video fetch-models base" in done.stdout
    assert "The model could not be downloaded" in done.stderr
    assert (tmp_path / ".cursor" / "mcp.json").is_file()
