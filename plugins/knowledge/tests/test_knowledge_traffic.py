"""Two processes on one installation, ten thousand operations: nothing lost, each sees all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("knowledge_traffic.py")


@pytest.mark.parametrize(
    "count", [60, pytest.param(5000, marks=[pytest.mark.slow, pytest.mark.timeout(900)])]
)
def test_two_processes_work_on_one_installation(tmp_path: Path, count: int) -> None:
    workers = [
        subprocess.Popen(
            [sys.executable, PROGRAM, name, tmp_path, str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("left", "right")
    ]
    left, right = workers
    try:
        told = [worker.stdout.readline() for worker in workers if worker.stdout]
        assert all(told), [worker.communicate()[1][-2000:] for worker in workers]
        ends = [left.communicate(told[1] + "\n", 300), right.communicate(told[0] + "\n", 300)]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    assert [(out, worker.returncode) for (out, _), worker in zip(ends, workers, strict=True)] == [
        ("0\n", 0),
        ("0\n", 0),
    ], [err[-2000:] for _, err in ends]
