"""Every tool that takes a file, given files that were made to hurt it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import hostile_files as files
import media_bytes
import pytest
from tool_arguments import Kind, of_kind
from touch_watch import TouchWatch, watch_touches
from vr_kernel import Code

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pipes, devices and inotify")
REFUSED = {Code.INVALID_INPUT, Code.NOT_ALLOWED, Code.UNSUPPORTED, Code.TOO_LARGE, Code.AUTH}
"""AUTH: a tool that only a model serves says so before it looks."""
BATCHES = ("content_batch_analyze",)
"""Tools that tell of each file what is wrong with it."""
Rows = list[dict[str, Any]]
Run = Callable[..., Rows]


@pytest.fixture
def touches(tmp_path: Path) -> Iterator[TouchWatch]:
    """A video that other files lead to, which would be watched if it were opened."""
    other = tmp_path / "other.ts"
    other.write_bytes(media_bytes.encoded("mpegts", "mpeg4"))
    with watch_touches(other) as watch:
        yield watch


@pytest.fixture
def run(tmp_path: Path, touches: TouchWatch) -> Run:
    """Gives hostile files to all tools in a process of its own, and tells how each went."""
    folder = tmp_path.resolve() / "root"
    folder.mkdir()
    (folder / "good.mp4").write_bytes(media_bytes.encoded("mp4", "mpeg4"))
    elsewhere = files.Elsewhere(touches.file, touches.url)

    def give(chosen: Mapping[str, files.Maker], *, placed: bool = False) -> Rows:
        files.write(folder, elsewhere, chosen)
        names = [*chosen]
        if placed:
            files.place(folder, elsewhere)
            names += files.PLACED
        program = Path(__file__).with_name("hostile_run.py")
        done = subprocess.run(
            [sys.executable, str(program), str(folder), *names],
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(rows) == (len(names) + 1) * len(of_kind(Kind.PATH))
        return rows

    return give


def _problems(rows: Rows) -> list[str]:
    return [problem for row in rows for problem in row["problems"]]


def _answered(rows: Rows) -> list[str]:
    hostile = [row for row in rows if row["name"] != "good.mp4" and row["tool"] not in BATCHES]
    return [f"{row['tool']} {row['name']}" for row in hostile if row["code"] not in REFUSED]


@pytest.mark.slow
def test_what_is_no_media_is_refused_and_leads_nowhere(run: Run, touches: TouchWatch) -> None:
    rows = run({**files.IMPOSTORS, **files.LEADS}, placed=True)
    assert _problems(rows) == []
    # One is a whole video but for a reference to another file, which is left alone; one is a folder
    # with a film's name, which tools of documents read.
    fine = ("reference.mov", "content_analyze folder.mp4", "content_extract folder.mp4")
    assert [name for name in _answered(rows) if not name.endswith(fine)] == []
    assert touches.touched() == []


@pytest.mark.slow
def test_absurd_numbers_are_capped(run: Run) -> None:
    assert _problems(run(files.BOUNDLESS)) == []


@pytest.mark.slow
def test_damage_is_no_crash(run: Run) -> None:
    assert _problems(run(files.damaged())) == []


def test_the_watch_sees_what_is_touched(touches: TouchWatch) -> None:
    import av

    assert touches.touched() == []
    touches.file.read_bytes()
    assert touches.touched() == ["other.ts was opened"]
    with av.open(str(touches.file)):
        pass
    assert touches.touched() == ["other.ts was opened"]
    with pytest.raises(av.FFmpegError):
        av.open(touches.url, timeout=0.2)
    assert touches.touched() == [f"{touches.url} was asked"]
