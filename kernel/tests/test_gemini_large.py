"""A large file on its way to the service needs little memory and never blocks the event loop."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import gemini_upload
import pytest
from vr_testing import FakeGemini

GIB = 1024**3
UPLOAD = Path(gemini_upload.__file__)


def upload(path: Path) -> dict[str, Any]:
    with FakeGemini() as fake:
        done = subprocess.run(
            [sys.executable, UPLOAD, fake.url, path], capture_output=True, text=True, check=True
        )
        assert sum(request.size for request in fake.requests_of("files.upload")) == GIB
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


@pytest.mark.slow
def test_upload_of_a_gibibyte_is_streamed(tmp_path: Path) -> None:
    path = tmp_path / "long.mp4"
    with path.open("wb") as made:
        made.truncate(GIB)
    runs: list[dict[str, Any]] = []
    # A busy machine stalls any process now and then; a fault of ours stalls it each time.
    while len(runs) < 3 and not (runs and runs[-1]["stall_ms"] <= 50):
        runs.append(upload(path))
        (tmp_path / "state" / "rows.db").unlink()
    assert all(run["grown_mib"] <= 40 for run in runs), runs
    assert runs[-1]["stall_ms"] <= 50, runs
