"""Full disks: for this process only, or a real small one, which only root can make."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

SMALL = 16 << 10
"""Bytes; each of our databases is larger, once something was written to it."""
DISK_BYTES = 4 << 20
"""Bytes of a disk that has room for all our databases, and is soon full."""


@contextmanager
def no_room(largest: int = SMALL) -> Iterator[None]:
    """Limit the size of every file that this process writes, for the `with` block."""
    resource = pytest.importorskip("resource", reason="this system does not limit files")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def small_disk(folder: Path, size: int = DISK_BYTES) -> Iterator[Path]:
    """Mount a file system of that many bytes on a new folder; skip when that is not allowed."""
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
