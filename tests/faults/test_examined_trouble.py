"""What `vr doctor` says of sound files that cannot be used now: on a full disk, held by others."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from vr_kernel.testing.full_disk import fill_up, small_disk

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


def examine(environment: dict[str, str], *program: str) -> dict[str, dict[str, Any]]:
    """What each check says."""
    command = [sys.executable, *(program or ("-m", "vr_kernel")), "doctor", "--json"]
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
    holders = [
        subprocess.Popen(
            [sys.executable, "-c", HOLD, str(folder / "state" / name)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for name in held
    ]
    try:
        for holder in holders:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            os.kill(holder.pid, signal.SIGSTOP)
        wrong = examine(environment)
    finally:
        for holder in holders:
            holder.kill()
            holder.communicate()
    faults = {name: check for name, check in wrong.items() if check["level"] == "fault"}
    assert set(faults) == {"journal", "store file"}
    for name, file, holder in zip(faults, held, holders, strict=True):
        assert f"Another process holds {file}." in faults[name]["what"]
        assert f"kill -CONT {holder.pid}" in faults[name]["fix"]
