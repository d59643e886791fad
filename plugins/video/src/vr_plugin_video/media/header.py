"""The header of a media file, read within bounds of time, size and entries.

FFmpeg keeps names and values of a file in lists that it searches from the start for each new one: a
file of half a megabyte that holds nothing else takes ten seconds, one of five an hour, and nothing
can interrupt it. So the entries are counted while they are read, and the processor time is bounded.
"""

from __future__ import annotations

import io
import re
import time
from typing import BinaryIO

from vr_kernel import Code, VrError

OPENING_S = 2.0
"""Processor seconds for reading a header; that of a large, honest file takes a tenth."""
PIECE = 1 << 15
"""Bytes between two checks of the time."""
MOST_ENTRIES = 5000
"""Most tag entries of a file; a few more take as long as the largest honest file."""
MOST_CHAPTERS = 50_000
MOST_BYTES = 1 << 26
"""Bytes of a header, with its pictures and fonts; FFmpeg holds it in memory."""
_NOTE = re.compile(rb"\0\0[^=\0]{1,256}=")
_COUNTED: tuple[tuple[bytes, re.Pattern[bytes], int], ...] = (
    (b"\x1aE\xdf\xa3", re.compile(rb"\x67\xc8"), MOST_ENTRIES),
    (b"\x1aE\xdf\xa3", re.compile(rb"\x73\xc4"), MOST_CHAPTERS),
    (b"fLaC", _NOTE, MOST_ENTRIES),
    (b"OggS", _NOTE, MOST_ENTRIES),
    (b"ID3", re.compile(rb"[A-Z][A-Z0-9]{2,3}\0"), MOST_ENTRIES),
)
"""Formats that are read whole before the list is made: beginning of a file -> of an entry."""
_OVERLAP = 300
"""Last bytes of the previous piece, in which an entry may begin."""


class BoundedFile:
    """A file whose header is read within bounds; it has no name, so only its bytes count.

    Until `trust` is called, reading ends with an error once it takes too long, or lists too much.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.tell = file.tell
        self._file = file
        self._end = time.thread_time() + OPENING_S
        self._left = MOST_BYTES
        self._counts: dict[re.Pattern[bytes], int] | None = None
        self._before = b""
        self._watching = True
        self._refused = False

    def trust(self) -> None:
        """End the bounds, as the file is open."""
        self._watching = False

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move, and return the new position; -1, as FFmpeg expects, for one that does not exist."""
        try:
            return self._file.seek(offset, whence)
        except (OSError, ValueError):
            return -1

    def read(self, size: int) -> bytes:
        """Read at most `size` bytes.

        Raises:
            VrError: TOO_LARGE, once; afterwards the file is at its end.
        """
        if not self._watching:
            return self._file.read(size)
        if self._refused:
            return b""
        piece = self._file.read(min(size, PIECE))
        self._left -= len(piece)
        slow = time.thread_time() > self._end
        if slow or self._left < 0 or self._lists_too_much(piece):
            self._refused = True
            raise oversized("has a larger header than any recording needs")
        return piece

    def _lists_too_much(self, piece: bytes) -> bool:
        if self._counts is None:
            self._counts = {p: most for head, p, most in _COUNTED if piece.startswith(head)}
        whole = self._before + piece
        for pattern in self._counts:
            found = pattern.finditer(whole)
            self._counts[pattern] -= sum(each.end() > len(self._before) for each in found)
        self._before = piece[-_OVERLAP:] if self._counts else b""
        return any(left < 0 for left in self._counts.values())


def oversized(what: str) -> VrError:
    """The error for a file whose header is too large."""
    return VrError(
        f"The file {what}.",
        Code.TOO_LARGE,
        category="FILE_TOO_LARGE",
        hint="Convert it without its tags and chapters: ffmpeg -i FILE -map_metadata -1"
        " -map_chapters -1 -c copy NEW.",
    )
