"""Disk space that is kept for what is paid for."""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

from vr_kernel.config.paths import private_folder
from vr_kernel.database_faults import no_room

BASE_BYTES = 1 << 20
"""Space for the rows around a call: its records, its result, its job."""
EACH_BYTES = 1 << 19
"""Space for one request under way: its row, and its reply as a step, as records, as a result."""
PIECE = b"\0" * (1 << 16)
RoomOf = Callable[[Path], "Room"]
"""Gives the room of the file system that a folder is on."""


class Rooms:
    """The room on each file system that this process keeps something on."""

    def __init__(self) -> None:
        self._rooms: dict[int, Room] = {}

    def of(self, folder: Path) -> Room:
        """The room on the file system of a folder, which is made when missing.

        Raises:
            VrError: UNAVAILABLE, category STATE_UNAVAILABLE, when it cannot be made.
        """
        try:
            known = folder if folder.is_dir() else private_folder(folder)
            device = known.stat().st_dev
        except OSError as error:
            raise no_room(folder, error) from error
        return self._rooms.setdefault(device, Room(folder))

    def close(self) -> None:
        """Give all of it back."""
        for room in self._rooms.values():
            room.give_up()


class Room:
    """Space on one file system that nobody else can take until it is given up.

    It is that of a file without a name, which goes with the process. Nothing but taking it tells
    for sure that it is there: what a file system calls free leaves out quotas and the share of
    the system's own user.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        self._size = 0

    async def require(self, in_flight: int) -> None:
        """Make sure of space for so many requests under way; the event loop does not wait.

        Raises:
            VrError: UNAVAILABLE, category STATE_UNAVAILABLE, when there is not so much.
        """
        size = BASE_BYTES + EACH_BYTES * in_flight
        if self._size < size:
            await asyncio.to_thread(self._take, size)

    def give_up(self) -> None:
        """Let the space be used: by whoever is first."""
        with self._lock:
            file, self._file, self._size = self._file, None, 0
            if file is not None:
                file.close()

    def _take(self, size: int) -> None:
        with self._lock:
            if self._size >= size:
                return
            try:
                if self._file is None:
                    self._file = tempfile.TemporaryFile(dir=self.folder, prefix=".vr-room-")  # noqa: SIM115 - kept open
                _allocate(self._file, self._size, size)
            except OSError as error:
                if self._file is not None:
                    os.ftruncate(self._file.fileno(), self._size)
                raise no_room(self.folder, error) from error
            self._size = size


def _allocate(file: IO[bytes], begin: int, end: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), begin, end - begin)
        return
    file.seek(begin)
    for _ in range(begin, end, len(PIECE)):
        file.write(PIECE)
    file.flush()
    os.fsync(file.fileno())  # some file systems look for space no sooner
