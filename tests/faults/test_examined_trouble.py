"""Sound files that cannot be used now, on a full disk or held by others: what commands say."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from vr_testing.full_disk import fill_up, small_disk

HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""
WITHOUT_TEMPORARY_FILES = """
import runpy, tempfile
tempfile.tempdir = "/nowhere"
runpy.run_module("vr_kernel", run_name="__main__")
"""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own."""
    with small_disk(tmp_path / "disk") as folder:
        yield folder


@contextmanager
def suspended(*files: Path) -> Iterator[list[int]]:
    """Processes that stand still in the middle of a write, one for each file."""
    with ExitStack() as ended:
        holders = []
        for file in files:
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            holder = subprocess.Popen([sys.executable, "-c", HOLD, str(file)], **pipes)
            ended.callback(holder.communicate)
            ended.callback(holder.kill)
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            os.kill(holder.pid, signal.SIGSTOP)
            holders.append(holder.pid)
        yield holders


def examine(environment: dict[str, str], *program: str) -> dict[str, dict[str, Any]]:
    """Messages of each check."""
    command = [sys.executable, *(program or ("-m", "vr_cli")), "doctor", "--json"]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode in (0, 3), done.stderr
    return {check["name"]: check for check in json.loads(done.stdout)["checks"]}


@pytest.mark.slow
def test_on_a_full_disk_the_disk_alone_is_at_fault(
    folder: Path, disk: Path, fresh_environment: Callable[..., dict[str, str]]
) -> None:
    state, cache = disk / "state", disk / "cache"
    with ExitStack() as killed:
        for name in ("journal.db", "jobs.db"):
            connection = killed.enter_context(closing(sqlite3.connect(folder / "state" / name)))
            connection.execute("CREATE TABLE written (last)")  # so that there is a log
        shutil.copytree(folder / "state", state)
    (state / "jobs.db-shm").unlink()  # of the log, without which it cannot be read
    cache.mkdir()
    (cache / "digests.db").write_bytes(b"no database" * 1000)
    fill_up(disk / "hog")
    environment = fresh_environment(VR_STATE_DIR=str(state), VR_CACHE_DIR=str(cache))
    found = examine(environment, "-c", WITHOUT_TEMPORARY_FILES)
    wrong = {name: check for name, check in found.items() if check["level"] != "ok"}
    assert [name for name in wrong if wrong[name]["level"] == "fault"] == ["free space"]
    assert f"There is no room in {state}, {cache}" in wrong["free space"]["what"]
    assert "`vr clean`" in wrong["free space"]["fix"]
    named = [check["name"] for check in wrong.values() if check["group"] == "databases"]
    assert named == ["digest cache"], "what is damaged is called so, and nothing else"
    assert "Not tried" in wrong["server"]["what"], "as often the whole disk is one"
    assert found["journal"]["what"].endswith("sound.")
    assert "not examined: there is no room" in found["job ledger"]["what"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="nobody tells here who holds a file")
def test_a_file_that_a_suspended_process_holds_is_named_with_it(
    folder: Path, fresh_environment: Callable[..., dict[str, str]]
) -> None:
    environment = fresh_environment(
        VR_STATE_DIR=str(folder / "state"), VR_CACHE_DIR=str(folder / "cache")
    )
    held = ("journal.db", "knowledge.db")
    with suspended(*(folder / "state" / name for name in held)) as holders:
        wrong = examine(environment)
    faults = {name: check for name, check in wrong.items() if check["level"] == "fault"}
    assert set(faults) == {"journal", "store file"}
    for name, file, holder in zip(faults, held, holders, strict=True):
        assert f"Another process holds {file}." in faults[name]["what"]
        assert f"kill -CONT {holder}" in faults[name]["fix"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="nobody tells here who holds a file")
@pytest.mark.parametrize("command", ["import", "reindex"])
def test_a_command_waits_for_no_store_that_a_suspended_process_holds(
    command: str, folder: Path, tmp_path: Path, fresh_environment: Callable[..., dict[str, str]]
) -> None:
    """It waited ten minutes, although all that it does is recorded."""
    environment = fresh_environment(
        VR_STATE_DIR=str(folder / "state"), VR_CACHE_DIR=str(folder / "cache")
    )
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "lions.md").write_text("# Lions\n\nThey walk.\n")
    given = [str(tmp_path / "notes"), "--format", "markdown"] if command == "import" else []
    vr = [sys.executable, "-m", "vr_cli"]
    run: dict[str, Any] = {"env": environment, "capture_output": True, "text": True}
    with suspended(folder / "state" / "knowledge.db") as (holder,):
        line = [*vr, "knowledge", command, *given, "--json"]
        done = subprocess.run(line, **run, check=True, timeout=60)
    (note,) = json.loads(done.stdout)["notes"]
    assert "Not indexed yet: " in note
    assert f"kill -CONT {holder}" in note
    status = subprocess.run([*vr, "store", "status", "--json"], **run, check=True, timeout=60)
    assert json.loads(status.stdout)["pending"] == 0
