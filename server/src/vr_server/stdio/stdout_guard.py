"""The protocol's streams: only the transport reads stdin and writes stdout."""

from __future__ import annotations

import asyncio
import os
import select
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from io import BufferedIOBase, BufferedReader, RawIOBase, TextIOWrapper
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from vr_server.stdio.open_requests import OpenRequests

POLL_S = 0.02
"""Seconds between two checks of the open requests, once the client has closed stdin."""


class StdoutGuard:
    """Reserves stdin and stdout for the protocol, from creation to the end of the process.

    Other output to stdout goes to stderr, and other readers of stdin find its end. This works on
    the file descriptors, so C libraries, child processes and threads of plugins are covered, and it
    is never undone, so that nothing can print in between.
    """

    def __init__(self) -> None:
        sys.stdout.flush()
        if sys.stderr is None:  # closed by the parent process; its number must not be reused
            os.open(os.devnull, os.O_WRONLY)
        # Never closed: a thread may still wait on them when the transport is done.
        self._stdin = os.fdopen(os.dup(0), "rb", closefd=False)
        self._stdout = os.fdopen(os.dup(1), "wb", closefd=False)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)

    def lend(self, answer_s: float, gone: Callable[[], None] = lambda: None) -> None:
        """Give the protocol's streams to the calling task, which starts the transport.

        The transport takes the buffers behind `sys.stdin` and `sys.stdout`. For all other
        tasks and threads these are the diverted ones. Lines that are no message never reach the
        transport: they are answered here.

        Args:
            answer_s: seconds that a client that closed stdin still gets answers.
            gone: called once, in a thread, when the client gets no more answers.
        """
        from vr_server.stdio.open_requests import OpenRequests

        owner, requests = asyncio.current_task(), OpenRequests()
        output = _Output(self._stdout, requests)
        lines = BufferedReader(_Lines(self._stdin, output, requests, answer_s, gone))
        sys.stdin = _LentStream(os.fdopen(0, "rb", closefd=False), lines, owner)
        # Unbuffered: a thread that prints at exit would hold a buffer's lock, and Python aborts.
        sys.stdout = _LentStream(os.fdopen(1, "wb", 0, closefd=False), output, owner)


class _Output(BufferedIOBase):
    """The stream to the client; each answer on it closes its request."""

    def __init__(self, stdout: BinaryIO, requests: OpenRequests) -> None:
        self._stdout = stdout
        self._requests = requests
        self.ended = False
        """The client has closed stdin, and is answered no more."""

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Write whole lines."""
        try:
            self._stdout.write(data)
            self._stdout.flush()
        except BrokenPipeError:
            if not self.ended:
                raise
        self._requests.written(bytes(data))
        return len(data)

    def is_read(self) -> bool:
        """Return True if the client may still be there, as far as the system can tell."""
        if not hasattr(select, "poll"):
            return True
        poll = select.poll()
        poll.register(self._stdout, 0)
        return not poll.poll(0)


class _Lines(RawIOBase):
    """The client's messages, line by line; their end is delayed until all answers are written."""

    def __init__(
        self,
        stdin: BinaryIO,
        output: _Output,
        requests: OpenRequests,
        answer_s: float,
        gone: Callable[[], None],
    ) -> None:
        self._stdin = stdin
        self._output = output
        self._requests = requests
        self._answer_s = answer_s
        self._gone = gone
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Wait for a line that is a message, and return as much of it as fits."""
        while not self._rest and (line := self._stdin.readline()):
            answer = self._requests.read(line)
            if answer is None:
                # Without a line end the transport would wait for more, and never answer.
                self._rest = memoryview(line if line.endswith(b"\n") else line + b"\n")
            else:
                with suppress(OSError):  # the client may not read any more
                    self._output.write(answer)
        if not self._rest and not self._output.ended:
            self._await_answers()
        given = min(len(buffer), len(self._rest))
        buffer[:given] = self._rest[:given]
        self._rest = self._rest[given:]
        return given

    def _await_answers(self) -> None:
        """Wait for the open requests: at the end of its input the transport drops them."""
        end = time.monotonic() + self._answer_s
        while self._requests and self._output.is_read() and time.monotonic() < end:
            time.sleep(POLL_S)
        self._output.ended = True
        self._gone()


class _LentStream(TextIOWrapper):
    """A diverted standard stream; only one task sees another buffer behind it."""

    def __init__(
        self, diverted: BinaryIO, lent: BufferedIOBase, owner: asyncio.Task[Any] | None
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
