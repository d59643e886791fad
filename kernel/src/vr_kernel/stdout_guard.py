"""Keeps the protocol's streams clean: only the transport reads stdin and writes stdout."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader, RawIOBase, TextIOWrapper
from typing import Any, BinaryIO


class StdoutGuard:
    """Keeps stdin and stdout for the protocol, from creation to the end of the process.

    Whatever else writes to stdout writes to stderr, and whoever else reads stdin finds its
    end. It works on the file descriptors, so C libraries, child processes and threads of
    plugins are covered, and nothing is ever given back: there is no moment to print in.
    """

    def __init__(self) -> None:
        sys.stdout.flush()
        if sys.stderr is None:  # closed by who started us; its number must not be given anew
            os.open(os.devnull, os.O_WRONLY)
        # Never closed: a thread may still wait on them when the transport is done.
        self._source = os.fdopen(os.dup(0), "rb", closefd=False)
        self._wire = os.fdopen(os.dup(1), "wb", closefd=False)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)

    def lend(self, refusal_of: Callable[[bytes], bytes | None]) -> None:
        """Let the calling task, which starts the transport, find the protocol's streams.

        The transport takes the buffers behind `sys.stdin` and `sys.stdout`. For all other
        tasks and threads these are the diverted ones.

        Args:
            refusal_of: the answer to a line that the transport is not given; None for others.
        """
        owner = asyncio.current_task()
        taken = BufferedReader(_Taken(self._source, self._wire, refusal_of))
        sys.stdin = _Lent(os.fdopen(0, "rb", closefd=False), taken, owner)
        # Unbuffered: a thread that prints at exit would hold the lock of a buffer, and abort.
        sys.stdout = _Lent(os.fdopen(1, "wb", 0, closefd=False), self._wire, owner)


class _Taken(RawIOBase):
    """The lines of a stream that are not refused; to the others it writes the answer at once."""

    def __init__(
        self, source: BinaryIO, wire: BinaryIO, refusal_of: Callable[[bytes], bytes | None]
    ) -> None:
        self._source = source
        self._wire = wire
        self._refusal_of = refusal_of
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Wait for a line that is taken, and give as much of it as there is room for."""
        while not self._rest and (line := self._source.readline()):
            answer = self._refusal_of(line)
            if answer is None:
                self._rest = memoryview(line)
            else:
                with suppress(OSError):  # whoever does not read has no use for it
                    self._wire.write(answer)
                    self._wire.flush()
        given = min(len(buffer), len(self._rest))
        buffer[:given] = self._rest[:given]
        self._rest = self._rest[given:]
        return given


class _Lent(TextIOWrapper):
    """A standard stream, diverted; one task alone finds another buffer behind it."""

    def __init__(
        self, diverted: BinaryIO, lent: BinaryIO | BufferedReader, owner: asyncio.Task[Any] | None
    ) -> None:
        super().__init__(diverted, "utf-8", "backslashreplace", write_through=True)
        self._diverted = diverted
        self._lent = lent
        self._owner = owner

    @property
    def buffer(self) -> Any:
        """The transport's buffer for the task that starts it, the diverted one for others."""
        try:
            asking = asyncio.current_task()
        except RuntimeError:  # a thread without a loop
            asking = None
        mine = self._owner is not None and asking is self._owner
        return self._lent if mine else self._diverted


@contextmanager
def diverted_stdout() -> Iterator[None]:
    """For a time, whatever is written to stdout goes to stderr: plugins' code runs here."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
