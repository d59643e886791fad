"""Keeps the protocol's stream clean: only the transport may write to stdout."""

from __future__ import annotations

import os
import sys


class StdoutGuard:
    """From creation to `release`, whatever is written to stdout goes to stderr.

    It works on the file descriptor, so C libraries, child processes and plugins that print
    while they are imported are covered. After `release` the transport takes the stream, and
    diverts other writers in the same way while it serves.
    """

    def __init__(self) -> None:
        sys.stdout.flush()
        self._wire: int | None = os.dup(1)
        os.dup2(2, 1)

    def release(self) -> None:
        """Give stdout back; call it at the last moment before the transport starts."""
        if self._wire is None:
            return
        sys.stdout.flush()
        os.dup2(self._wire, 1)
        os.close(self._wire)
        self._wire = None
