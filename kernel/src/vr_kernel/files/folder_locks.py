"""One writer at a time in a folder, among all processes that write through the kernel."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vr_kernel.errors import Code, VrError
from vr_kernel.files.open_folder import OpenFolder
from vr_kernel.text.visible_text import spelled_out

PATIENCE_S = 10.0
"""Seconds to wait for another writer; it may be suspended."""
PAUSE_S = 0.01
"""Seconds between two tries."""


@contextmanager
def locked(folder: OpenFolder) -> Iterator[None]:
    """Own a folder for writing for the length of a `with` block; blocks.

    On a file system without locks, several processes may write at once.

    Raises:
        VrError: CONFLICT, category FILE_BUSY, when another writer is not done in time.
    """
    with _lockable(folder) as descriptor:
        until = time.monotonic() + PATIENCE_S
        while not _locks(descriptor):
            if time.monotonic() > until:
                raise VrError(
                    f"Another program writes into {spelled_out(folder.path)}.",
                    Code.CONFLICT,
                    category="FILE_BUSY",
                    hint="Try again when it is done.",
                    retryable=True,
                )
            time.sleep(PAUSE_S)
        yield


@contextmanager
def _lockable(folder: OpenFolder) -> Iterator[int]:
    """A descriptor whose closing releases the lock: the folder's own, else a file's that means it.

    The folder's own is closed by its owner.
    """
    if folder.handle is not None:
        yield folder.handle
        return
    digest = hashlib.sha256(os.fsencode(os.path.normcase(folder.path))).hexdigest()
    with Path(tempfile.gettempdir(), f"vr-{digest}.lock").open("ab") as file:
        yield file.fileno()


if sys.platform == "win32":

    def _locks(descriptor: int) -> bool:
        import msvcrt

        try:
            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:

    def _locks(descriptor: int) -> bool:
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True  # nothing can be locked here
        return True
