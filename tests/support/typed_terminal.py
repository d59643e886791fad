"""A pseudo terminal at which a test types."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from command_host import Ended
from plugin_zoo import Zoo, vr_command


@contextmanager
def terminal() -> Iterator[tuple[int, int]]:
    """Our end of a pseudo terminal, and that of a program."""
    import pty

    ours, theirs = pty.openpty()
    try:
        yield ours, theirs
    finally:
        os.close(ours)


def at_terminal(zoo: Zoo, typed: str, *arguments: str) -> Ended:
    """Run `vr` at a terminal where somebody types; stderr of the result is what it showed."""
    with terminal() as (ours, theirs):
        process = subprocess.Popen(
            vr_command(*arguments),
            env=zoo.environment(TERM="dumb"),
            cwd=zoo.work,
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        os.write(ours, typed.encode())
        shown = b"".join(_pieces(ours))
        stdout, _ = process.communicate()
    return Ended(process.returncode, stdout.decode(), shown.decode())


def shown_at(
    zoo: Zoo, columns: int, *arguments: str, typed: str = "", awaits: str = "", **variables: str
) -> Ended:
    """Run `vr` with all its streams at a terminal of so many columns; stdout is all it showed.

    What is typed is typed once `awaits` is shown.
    """
    import fcntl
    import struct
    import termios

    with terminal() as (ours, theirs):
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        process = subprocess.Popen(
            vr_command(*arguments),
            env=zoo.environment(**{"TERM": "xterm-256color", **variables}),
            cwd=zoo.work,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        shown, pieces = b"", _pieces(ours)
        while awaits.encode() not in shown:
            shown += next(pieces)
        os.write(ours, typed.encode())
        shown += b"".join(pieces)
        process.wait()
    return Ended(process.returncode, shown.decode().replace("\r\n", "\n"), "")


def _pieces(ours: int) -> Iterator[bytes]:
    """All that is shown, until the program has closed its end."""
    try:
        while piece := os.read(ours, 65536):
            yield piece
    except OSError:  # how Linux says it
        pass
