"""Opening of files beneath a folder, without leaving it, whatever is swapped meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

NEW_FILE = 0o600
"""Permissions of a file that is made: the user's alone."""


def open_beneath(root: Path, real: Path, flags: int) -> int:
    """Open without following a link below the root, and without waiting for a pipe's other end.

    It descends folder by folder: a folder that is swapped for a link meanwhile is refused.

    Raises:
        OSError: as `os.open`; a link is refused with ELOOP, or as no folder.
    """
    itself = getattr(os, "O_NOFOLLOW", 0)
    at_once = itself | getattr(os, "O_NONBLOCK", 0)
    if os.open not in os.supports_dir_fd:
        return os.open(real, flags | at_once, NEW_FILE)
    top = real.parent if real == root else root
    *folders, name = real.relative_to(top).parts or (".",)
    descend = itself | os.O_DIRECTORY | getattr(os, "O_PATH", os.O_RDONLY)
    descriptor = os.open(top, descend)
    try:
        for folder in folders:
            inner = os.open(folder, descend, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        return os.open(name, flags | at_once, NEW_FILE, dir_fd=descriptor)
    finally:
        os.close(descriptor)
