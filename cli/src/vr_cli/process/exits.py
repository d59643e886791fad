"""Exit codes of the command line."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from enum import IntEnum
from threading import Event, Thread, Timer
from threading import enumerate as living

from vr_kernel import Code, VrError

LAST_S = 1.5
"""Longest time from the end of the work to the exit; MCP clients kill the process after 2 s."""

UNENDED = ("vr-unended", "vr-doctor")
"""Prefixes of names of threads that work for a plugin; they do not delay the process's end."""


class Exit(IntEnum):
    """Exit codes that scripts may rely on; 75 is EX_TEMPFAIL of sysexits.h, 130 is 128 + SIGINT."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    CONFIGURATION = 3
    AUTH = 4
    QUOTA = 5
    RETRYABLE = 75
    INTERRUPTED = 130


_BY_CODE = {
    Code.INVALID_INPUT: Exit.USAGE,
    Code.AUTH: Exit.AUTH,
    Code.QUOTA: Exit.QUOTA,
    Code.BUDGET: Exit.QUOTA,
    Code.CANCELLED: Exit.INTERRUPTED,
}


def exit_code(error: VrError) -> Exit:
    """The exit code of an error."""
    if error.category in ("CONFIG_INVALID", "SERVER_MISSING"):
        return Exit.CONFIGURATION
    if error.retryable and error.code not in _BY_CODE:
        return Exit.RETRYABLE
    return _BY_CODE.get(error.code, Exit.FAILURE)


def end_soon(code: int, last_words: str = "", *, within_s: float = LAST_S) -> None:
    """End the process within that time even when a thread of a plugin never ends."""

    def end() -> None:
        sys.stderr.write(last_words)
        sys.stderr.flush()
        os._exit(code)

    timer = Timer(within_s, end)
    timer.daemon = True
    timer.start()


def hold_to_the_end(*held: object) -> None:
    """Keep tasks that a plugin never ends: when freed they would run once more, maybe for ever."""
    forever = Event()
    Thread(target=lambda _: forever.wait(), args=(held,), name=UNENDED[0], daemon=True).start()


def end_if_held(code: int) -> None:
    """End the process here when a plugin's work does not end by itself."""
    if not any(thread.name.startswith(UNENDED) for thread in living()):
        return
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)
