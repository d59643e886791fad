"""Sees whether any code of any process opens a file or asks an address: FFmpeg's C code too."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_OPENED, _READ = 0x20, 0x1
_EVENT = struct.Struct("iIII")


@dataclass(slots=True)
class TouchWatch:
    """A file that is not to be opened and an address that is not to be asked."""

    file: Path
    url: str
    _events: int
    _listener: socket.socket

    def touched(self) -> list[str]:
        """Events since the last time it was asked."""
        found = []
        try:
            if os.read(self._events, 100 * _EVENT.size):
                found.append(f"{self.file.name} was opened")
        except BlockingIOError:
            pass
        try:
            self._listener.accept()[0].close()
            found.append(f"{self.url} was asked")
        except BlockingIOError:
            pass
        return found


@contextmanager
def watch_touches(file: Path) -> Iterator[TouchWatch]:
    """A watch over a file, and over an address of its own; Linux alone tells of opened files."""
    kernel = ctypes.CDLL(None, use_errno=True)
    events = kernel.inotify_init1(os.O_NONBLOCK)
    if events < 0 or kernel.inotify_add_watch(events, os.fsencode(file), _OPENED | _READ) < 0:
        raise OSError(ctypes.get_errno(), "inotify does not watch")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        try:
            yield TouchWatch(file, url, events, listener)
        finally:
            os.close(events)
