"""Disk space reserved for paid results, and the results that wait in memory for such space."""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from vr_kernel.config.paths import private_folder
from vr_kernel.errors import Code, VrError
from vr_kernel.log import Log
from vr_kernel.storage.database_faults import CLEAN, UNAVAILABLE, is_full

BASE_BYTES = 1 << 20
"""Bytes for the rows of a call: its records, its result, its job."""
EACH_BYTES = 1 << 19
"""Bytes for one request under way: its row, and its reply as a step, as records, as a result."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 5.0
"""Seconds between two tries to write what is held."""
PIECE = b"\0" * (1 << 16)
RoomOf = Callable[[Path], "Room"]
"""Returns the room of the file system that a folder is on."""


class Rooms:
    """The room on each file system where this process keeps data."""

    def __init__(self, log: Log) -> None:
        self._log = log
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
        found = self._rooms.get(device)
        return found or self._rooms.setdefault(device, Room(folder, self._log))

    def close(self) -> None:
        """Free all reserved space for the last writes; blocks."""
        for room in self._rooms.values():
            room.close()


class Room:
    """Reserved space on one file system, which no one else can use until it is given up.

    The space is that of an unnamed file, which disappears with the process. Only taking space shows
    that it is there: the free space of a file system ignores quotas and the reserve for the root
    user. When it is given up, another program may take it first: writes that then fail wait here in
    memory, and are retried with growing pauses.

    Args:
        folder: somewhere on the file system.
        log: gets a line when something waits, is written, or is lost.
    """

    def __init__(self, folder: Path, log: Log) -> None:
        self.folder = folder
        self._log = log
        self._lock = threading.Lock()
        self._trying = threading.Lock()
        self._closed = threading.Event()
        self._waiting: dict[Callable[[], object], VrError] = {}
        self._retrying: threading.Thread | None = None
        self._file: IO[bytes] | None = None
        self._size = 0

    @property
    def awaited(self) -> bool:
        """True while something that was paid for waits in memory to be written."""
        return bool(self._waiting)

    def told(self) -> str:
        """Say why something that was paid for waits, and what to do; empty when nothing does."""
        for why in [*self._waiting.values()]:
            return (
                f"{why.message} What was paid for is held in memory until it can be written, and"
                f" lost if the program ends before. {why.hint}"
            )
        return ""

    async def require(self, in_flight: int) -> None:
        """Reserve space for so many requests under way, without blocking the event loop.

        Raises:
            VrError: UNAVAILABLE, category STATE_UNAVAILABLE, when there is not enough, or when
                something still waits to be written.
        """
        size = BASE_BYTES + EACH_BYTES * in_flight
        if self._size < size or self.awaited:
            await asyncio.to_thread(self._take, size)

    def give_up(self) -> bool:
        """Free the space, so that it can be used; False when there is none."""
        with self._lock:
            file, self._file, self._size = self._file, None, 0
            if file is not None:
                file.close()
            return file is not None

    def wait_for(self, write: Callable[[], object], why: VrError) -> None:
        """Call `write` in a thread until it raises no `VrError`; `why` is the first one."""
        with self._lock:
            self._waiting[write] = why
            if self._retrying is None and not self._closed.is_set():
                told = "what was paid for is held in memory until it can be written"
                self._log.warning(told, reason=why.message, hint=why.hint)
                self._retrying = threading.Thread(target=self._retry, name="vr-room", daemon=True)
                self._retrying.start()

    def lost(self, file: str, writes: int, reason: str) -> None:
        """Log that held results are lost, because the program ends."""
        told = "what was paid for is lost: it could not be written until the end"
        self._log.error(told, file=file, writes=writes, reason=reason)

    def close(self) -> None:
        """Stop retrying, and give the space up; blocks during a write."""
        self._closed.set()
        if self._retrying is not None:
            self._retrying.join()
        self.give_up()

    def _retry(self) -> None:
        pause = FIRST_PAUSE_S
        while not self._closed.wait(pause):
            with self._trying, suppress(VrError):
                self._write_waiting()
            with self._lock:
                if not self._waiting:
                    self._retrying = None
                    self._log.warning("what was held in memory is written", folder=str(self.folder))
                    return
            pause = min(2 * pause, LONGEST_PAUSE_S)

    def _write_waiting(self) -> None:
        for write, why in list(self._waiting.items()):
            self.give_up()
            try:
                write()
            except VrError as error:
                self._waiting[write] = error
                raise
            with self._lock:
                if self._waiting[write] is why:  # it may have been added again meanwhile
                    del self._waiting[write]

    def _take(self, size: int) -> None:
        with self._trying:
            self._write_waiting()
            with self._lock:
                if self._size < size:
                    self._grow(size)

    def _grow(self, size: int) -> None:
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
    os.fsync(file.fileno())  # some file systems only allocate space now


def no_room(folder: Path, error: OSError) -> VrError:
    """The typed error of a folder without room, before anything is paid for."""
    full = is_full(error)
    why = "has no room for what would be paid for" if full else "cannot be written"
    return VrError(
        f"{folder} {why}: {error.strerror}.",
        Code.UNAVAILABLE,
        category=UNAVAILABLE,
        hint=CLEAN if full else f"Check that {folder} is a folder that may be written.",
        retryable=full,
    )
