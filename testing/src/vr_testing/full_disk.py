"""Disks without room: for this process alone, or one of their own, which root may make."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

SMALL = 16 << 10
"""Bytes; every database of ours is larger, once something was written to it."""
DISK_BYTES = 4 << 20
"""Bytes of a disk on which all of our databases find room, and which is soon full."""


@contextmanager
def no_room(largest: int = SMALL) -> Iterator[None]:
    """Meanwhile nothing is written beyond that size of any file."""
    resource = pytest.importorskip("resource", reason="this system does not limit files")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def small_disk(folder: Path, size: int = DISK_BYTES) -> Iterator[Path]:
    """Meanwhile a new folder is a file system of that many bytes; skips where nobody may mount."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root makes a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill_up(hog: Path) -> None:
    """Make or lengthen a file until its disk has no room left."""
    with suppress(OSError), hog.open("ab", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
