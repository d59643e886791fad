"""Folders and files of the program are their user's alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from vr_kernel.storage.database import Database
from vr_testing import open_kernel

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(top: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in (top, *top.rglob("*"))}


async def test_database_and_all_folders_above_it_are_private(tmp_path: Path) -> None:
    database = Database(tmp_path / "a" / "b" / "kept.db", "CREATE TABLE IF NOT EXISTS t (x)")
    await database.run(lambda connection: connection.execute("INSERT INTO t VALUES (1)"))
    made = modes(tmp_path / "a")
    database.close()
    assert made.keys() >= {"a", "b", "kept.db", "kept.db-wal", "kept.db-shm"}
    assert set(made.values()) == {0o700, 0o600}


async def test_open_database_of_an_older_version_is_mended(tmp_path: Path) -> None:
    path = tmp_path / "kept.db"
    first, second = (Database(path, "CREATE TABLE IF NOT EXISTS t (x)") for _ in range(2))
    await first.run(lambda connection: connection.execute("INSERT INTO t VALUES (1)"))
    for name in modes(path.parent).keys() - {path.parent.name}:
        (path.parent / name).chmod(0o644)
    await second.run(lambda connection: connection.execute("INSERT INTO t VALUES (2)"))
    assert set(modes(path.parent).values()) == {0o700, 0o600}
    first.close()
    second.close()


async def test_kernel_takes_what_stands_open_from_others(tmp_path: Path) -> None:
    state, cache, config = (tmp_path / name for name in ("state", "cache", "config"))
    deep = state / "models" / "tiny" / "model.bin"
    for file in (deep, cache / "results.db", config / "config.toml"):
        file.parent.mkdir(parents=True)
        file.touch()
    state.chmod(0o700)  # right above, open below
    outside = tmp_path / "film.mp4"
    outside.touch()
    (state / "models" / "link").symlink_to(outside)
    async with open_kernel({}, folder=tmp_path):
        pass
    found = {mode for top in (state / "models", cache, config) for mode in modes(top).values()}
    assert found == {0o700, 0o600, 0o644}  # the last: a link's target, which is not followed
    assert outside.stat().st_mode & 0o777 == 0o644
