"""Pictures for the contracts of embedders and rerankers."""

from __future__ import annotations

import struct
import zlib

from vr_kernel.items.acceptance import accepted_by
from vr_kernel.items.pictures import Picture

SIDE = 64


def patch(red: int, green: int, blue: int) -> Picture:
    """A square of one colour, as PNG."""
    line = b"\0" + bytes((red, green, blue)) * SIDE
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(line * SIDE)), (b"IEND", b"")
    return Picture(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*each) for each in chunks))


def sees(provider: object) -> bool:
    """Check if a provider says that it takes pictures."""
    return "image" in accepted_by(provider)


def _chunk(kind: bytes, data: bytes) -> bytes:
    crc = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)
