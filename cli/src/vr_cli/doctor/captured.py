"""Keeps what is written to a standard stream."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO


@contextmanager
def captured(descriptor: int) -> Iterator[Callable[[], str]]:
    """Capture all that is written to file descriptor 1 or 2; the yielded function returns it."""
    with _scratch() as file:
        sys.stdout.flush()
        sys.stderr.flush()
        kept = os.dup(descriptor)
        os.dup2(file.fileno(), descriptor)
        text: list[str] = []
        try:
            yield lambda: "".join(text)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os.dup2(kept, descriptor)
            os.close(kept)
            file.seek(0)
            text.append(file.read().decode("utf-8", "replace"))


def _scratch() -> IO[bytes]:
    try:
        return TemporaryFile()
    except OSError:  # no room on the disk: what is written meanwhile is lost
        return Path(os.devnull).open("r+b")
