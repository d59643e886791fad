"""Former files on a disk that is full or read-only: said, and taken over whole once it is not."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from former_state import WORKED, in_rows, kept_by, unpacked
from vr_kernel import Code, Kernel, VrError, load_config
from vr_testing.full_disk import fill_up, small_disk

pytestmark = pytest.mark.slow

BYTES = 24 << 20
LEFT = (0, 4_096, 40_960, 163_840)
"""Bytes that are free when the former files are to be taken over."""
FORMER = ("gemini.db", "notes.db", "refused.db", "sessions.db")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", BYTES) as folder:
        yield folder


@pytest.fixture
async def expected(tmp_path: Path) -> dict[str, Any]:
    """All that the former files hold, as a folder without trouble has it."""
    folder = tmp_path / "sound"
    folder.mkdir()
    return await taken_over(environment(folder), folder)


def environment(folder: Path) -> dict[str, str]:
    found = unpacked(WORKED, folder)
    (folder / "config").mkdir(exist_ok=True)
    return {**found, "VR_KNOWLEDGE__NOTES_FOLDER": str(folder / "notes")}


async def taken_over(environ: Mapping[str, str], folder: Path) -> dict[str, Any]:
    async with Kernel.open(load_config(environ)) as kernel:
        found = await kept_by(kernel)
    for name in FORMER:
        assert [path.name for path in (folder / "state").glob(f"{name}*")] == [f"{name}.adopted"]
    exported = found.pop("exported")  # they name the folder
    assert all(text.count("glacier") >= 2 for text in exported)
    return {**found, "rows": Counter(row[1:4] for row in in_rows(folder / "state"))}


async def ask(kernel: Kernel) -> list[VrError]:
    """Ask for what the former files hold; return the errors."""
    errors = []
    for asked in (
        kernel.services.gemini.context_caches,
        kernel.services.store.dead_letters,
        lambda: kernel.call("video_list_sessions"),
        lambda: kernel.call("knowledge_search", query="owls hunt"),
    ):
        try:
            await asked()
        except VrError as error:
            errors.append(error)
    return errors


@pytest.mark.parametrize("left", LEFT)
async def test_full_disk(left: int, disk: Path, expected: dict[str, Any]) -> None:
    environ, hog = environment(disk), disk / "hog"
    fill_up(hog)
    with hog.open("r+b", buffering=0) as file:
        file.truncate(hog.stat().st_size - left)
    async with Kernel.open(load_config(environ)) as kernel:
        for error in await ask(kernel):
            assert error.code is Code.UNAVAILABLE, error
            assert str(disk / "state") in f"{error.message} {error.hint}"
        hog.unlink()
        assert await ask(kernel) == []
    assert await taken_over(environ, disk) == expected


async def test_read_only_folder(disk: Path, expected: dict[str, Any]) -> None:
    environ = environment(disk)
    before = contents(disk / "state")
    remount(disk, "ro")
    async with Kernel.open(load_config(environ)) as kernel:
        for error in await ask(kernel):
            assert error.code is Code.UNAVAILABLE, error
            assert str(disk / "state") in f"{error.message} {error.hint}"
    assert contents(disk / "state") == before
    remount(disk, "rw")
    assert await taken_over(environ, disk) == expected


def remount(disk: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
