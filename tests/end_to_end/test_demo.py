"""`vr demo`, as `make demo` runs it: once anew, once from cache and store."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def runs(
    fresh_environment: Callable[..., dict[str, str]],
) -> list[subprocess.CompletedProcess[str]]:
    environment = fresh_environment()
    command = [sys.executable, "-m", "vr_cli", "demo"]
    return [
        subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        for _ in range(2)
    ]


@pytest.mark.slow
def test_both_runs_succeed(runs: list[subprocess.CompletedProcess[str]]) -> None:
    assert [run.returncode for run in runs] == [0, 0], runs[0].stderr


@pytest.mark.slow
def test_three_questions_get_a_moment_each(
    runs: list[subprocess.CompletedProcess[str]], speech_model: object
) -> None:
    del speech_model
    answers = runs[0].stdout.split("Asking the knowledge base")[1]
    assert re.findall(r"^    (\d+):\d\d", answers, re.MULTILINE) == ["0", "0", "1"]
    pictures = re.findall(r"thumbnail: (.+)", answers)
    assert len(pictures) == 3
    assert all(Path(picture).is_file() for picture in pictures)


@pytest.mark.slow
def test_without_a_terminal_it_is_short_and_names_each_phase_once(
    runs: list[subprocess.CompletedProcess[str]],
) -> None:
    phases = re.findall(r"^ +(\d+) % (\D+)", runs[0].stderr, re.MULTILINE)
    assert len(phases) > 2
    assert len({phase for _, phase in phases}) == len(phases)
    shares = [int(share) for share, _ in phases]
    assert shares == sorted(shares)
    for run in runs:
        assert len((run.stdout + run.stderr).splitlines()) <= 60


@pytest.mark.slow
def test_the_second_run_says_that_nothing_was_done_again(
    runs: list[subprocess.CompletedProcess[str]],
) -> None:
    assert "Watched and recorded" in runs[0].stdout
    assert "Answered from the cache" in runs[1].stdout
    assert "Watched and recorded" not in runs[1].stdout
    counts = [re.findall(r"holds (\d+) records", run.stdout) for run in runs]
    assert counts[0] == counts[1]


@pytest.mark.slow
def test_it_ends_with_how_to_add_the_server(
    runs: list[subprocess.CompletedProcess[str]],
) -> None:
    assert "claude mcp add video-research" in runs[0].stdout
    assert '"mcpServers"' in runs[0].stdout


@pytest.mark.slow
def test_the_talk_can_be_had_as_a_file(
    fresh_environment: Callable[..., dict[str, str]], talk: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "vr_cli", "demo", "--copy", str(tmp_path)]

    def copied() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, env=fresh_environment(), capture_output=True, text=True, check=False
        )

    done = copied()
    assert (done.stdout, done.returncode) == (f"{tmp_path / 'talk.mp4'}\n", 0)
    assert (tmp_path / "talk.mp4").read_bytes() == talk.read_bytes()
    (tmp_path / "talk.mp4").write_bytes(b"mine")
    assert copied().returncode == 1
    assert (tmp_path / "talk.mp4").read_bytes() == b"mine"
