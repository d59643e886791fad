"""Exit codes of the command line."""

from __future__ import annotations

import os
import sys
from enum import IntEnum
from threading import Timer

from vr_kernel.errors import Code, VrError

LAST_S = 1.5
"""Longest time from the end of the work to that of the process; MCP clients kill after 2 s."""


class Exit(IntEnum):
    """What a script may rely on; 75 is EX_TEMPFAIL of sysexits.h, 130 is 128 + SIGINT."""

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
    if error.category == "CONFIG_INVALID":
        return Exit.CONFIGURATION
    if error.retryable and error.code not in _BY_CODE:
        return Exit.RETRYABLE
    return _BY_CODE.get(error.code, Exit.FAILURE)


def end_soon(code: int, last_words: str = "") -> None:
    """End the process in `LAST_S` even when a thread of a plugin never does."""

    def end() -> None:
        sys.stderr.write(last_words)
        sys.stderr.flush()
        os._exit(code)

    timer = Timer(LAST_S, end)
    timer.daemon = True
    timer.start()
