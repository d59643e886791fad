"""Mailboxes: the messages that one file holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

_FROM = b"From "
_NAMED = re.compile(rb"[!-9;-~]+:")
_QUOTED = re.compile(rb">+From ")


def messages_of(file: BinaryIO, most: int) -> Iterator[bytes]:
    """Cut a mailbox at lines with `From ` that a head follows; others are words of a message.

    Args:
        file: opened for reading.
        most: bytes of a message; what follows in it is left out.
    """
    message, held = bytearray(), b""
    for line in file:
        if held and _NAMED.match(line):
            if message:
                yield bytes(message)
            message.clear()
        elif len(message) < most:
            message += held
        held = line if line.startswith(_FROM) else b""
        if not held and len(message) < most:
            message += line[1:] if _QUOTED.match(line) else line
    if message:
        yield bytes(message)
