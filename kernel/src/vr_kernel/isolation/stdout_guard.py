"""Keeps the protocol's streams clean: only the transport reads stdin and writes stdout."""

from __future__ import annotations

import asyncio
import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedIOBase, BufferedReader, RawIOBase, TextIOWrapper
from typing import Any, BinaryIO, Protocol

POLL_S = 0.02
"""How often is looked whether everything is answered, once the client has said all."""


class Dialogue(Protocol):
    """Hears both sides of the protocol."""

    @property
    def over(self) -> bool:
        """Nothing is left to be answered."""
        ...

    def hear(self, line: bytes) -> bytes | None:
        """Take a line of the client; what is returned answers it at once, None lets it pass."""
        ...

    def say(self, data: bytes) -> None:
        """Take what was written to the client."""
        ...


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

    def lend(
        self, dialogue: Dialogue, answer_s: float, gone: Callable[[], None] = lambda: None
    ) -> None:
        """Let the calling task, which starts the transport, find the protocol's streams.

        The transport takes the buffers behind `sys.stdin` and `sys.stdout`. For all other
        tasks and threads these are the diverted ones.

        Args:
            dialogue: hears what is said; it may answer a line, which the transport is not given.
            answer_s: how long a client that has said all is still answered.
            gone: called once, in a thread, when the client is answered no more.
        """
        owner = asyncio.current_task()
        spoken = _Spoken(self._wire, dialogue)
        taken = BufferedReader(_Taken(self._source, spoken, dialogue, answer_s, gone))
        sys.stdin = _Lent(os.fdopen(0, "rb", closefd=False), taken, owner)
        # Unbuffered: a thread that prints at exit would hold the lock of a buffer, and abort.
        sys.stdout = _Lent(os.fdopen(1, "wb", 0, closefd=False), spoken, owner)


class _Spoken(BufferedIOBase):
    """What is written to the client, heard as soon as it is on its way."""

    def __init__(self, wire: BinaryIO, dialogue: Dialogue) -> None:
        self._wire = wire
        self._dialogue = dialogue
        self.last = False
        """The client has said all, and is answered no more."""

    def writable(self) -> bool:
        """It is there to be written."""
        return True

    def write(self, data: Any) -> int:
        """Write whole lines."""
        try:
            self._wire.write(data)
            self._wire.flush()
        except BrokenPipeError:
            if not self.last:
                raise
        self._dialogue.say(bytes(data))
        return len(data)

    def is_read(self) -> bool:
        """The client may still be there, as far as the system can tell."""
        if not hasattr(select, "poll"):
            return True
        poll = select.poll()
        poll.register(self._wire, 0)
        return not poll.poll(0)


class _Taken(RawIOBase):
    """The lines of a stream that are not answered at once; its end waits for all answers."""

    def __init__(
        self,
        source: BinaryIO,
        spoken: _Spoken,
        dialogue: Dialogue,
        answer_s: float,
        gone: Callable[[], None],
    ) -> None:
        self._source = source
        self._spoken = spoken
        self._dialogue = dialogue
        self._answer_s = answer_s
        self._gone = gone
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Wait for a line that is taken, and give as much of it as there is room for."""
        while not self._rest and (line := self._source.readline()):
            answer = self._dialogue.hear(line)
            if answer is None:
                # Without its end the transport would wait for more of it, and never answer.
                self._rest = memoryview(line if line.endswith(b"\n") else line + b"\n")
            else:
                with suppress(OSError):  # whoever does not read has no use for it
                    self._spoken.write(answer)
        if not self._rest and not self._spoken.last:
            self._await_answers()
        given = min(len(buffer), len(self._rest))
        buffer[:given] = self._rest[:given]
        self._rest = self._rest[given:]
        return given

    def _await_answers(self) -> None:
        """At the end of the transport's input it drops what it has not answered."""
        end = time.monotonic() + self._answer_s
        while not self._dialogue.over and self._spoken.is_read() and time.monotonic() < end:
            time.sleep(POLL_S)
        self._spoken.last = True
        self._gone()


class _Lent(TextIOWrapper):
    """A standard stream, diverted; one task alone finds another buffer behind it."""

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


@contextmanager
def diverted_stdout() -> Iterator[None]:
    """For a time, whatever is written to stdout goes to stderr: plugins' code runs here."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with own_streams():
            yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


@contextmanager
def own_streams() -> Iterator[None]:
    """Put the standard streams back afterwards: plugins' code may set others in their place."""
    before = {name: getattr(sys, name) for name in ("stdin", "stdout", "stderr")}
    try:
        yield
    finally:
        for name, own in before.items():
            now = getattr(sys, name)
            if now is not own and _is_open(own):
                setattr(sys, name, own)
                with suppress(AttributeError):
                    # A stream around the same buffer would close it when nobody holds it.
                    own.taken_over_by = now


def _is_open(stream: Any) -> bool:
    try:
        return stream is None or not stream.closed
    except ValueError:  # its buffer was detached: what took it is all there is
        return False
