"""A parser that does what a hostile file could make a library do."""

from __future__ import annotations

import os
import signal
import sys
from typing import BinaryIO

from vr_plugin_content.formats.parsed import Asked, Parsed, Piece


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Do what the file says, and tell who did it."""
    said = file.read().decode()
    if said == "hang":
        while True:
            pass
    if said == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if said == "grow":
        held = [bytearray(50_000_000) for _ in range(1_000)]
        assert held
    if said == "print":
        os.write(1, b"noise on standard output")
        sys.stdout.write("and more of it")
    if said == "flood":
        return Parsed("text/plain", pieces=[Piece("x" * 40_000_000, {"first_line": 1})])
    names = ",".join(sorted(os.environ))
    return Parsed("text/plain", title=str(os.getpid()), pieces=[Piece(names, {"cell": 1})])


def exits(file: BinaryIO, asked: Asked) -> Parsed:
    """End the process as a library may."""
    sys.exit(file.read().decode())
