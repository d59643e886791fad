"""Print the folder for what tests write: in memory, where nobody waits for a disk, if it fits.

Databases are written durably, and each kernel of a test has several of them.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

IN_MEMORY = Path("/dev/shm")  # noqa: S108 - each run makes a private folder below it
NEEDED = 4 * 2**30
"""Bytes that must be free."""


def fits(folder: Path) -> bool:
    """True when it has room, and programs may be run from it."""
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        return False
    runs_programs = not os.statvfs(folder).f_flag & os.ST_NOEXEC
    return runs_programs and shutil.disk_usage(folder).free >= NEEDED


if __name__ == "__main__":
    sys.stdout.write(str(IN_MEMORY if fits(IN_MEMORY) else tempfile.gettempdir()) + "\n")
