"""Compound files, which hold old office documents: does a password protect them?

Sources: MS-XLS 2.4.117 (FilePass), MS-DOC 2.5.1 (FibBase), MS-OFFCRYPTO 2.3.4 (EncryptedPackage).
"""

from __future__ import annotations

import struct

RECORDS = 5
"""Records at the beginning of an old workbook, among which is the one of its password."""
FILE_PASS = 0x2F
SECTOR = 512
WORD = b"\xec\xa5"
"""Begins the text of an old Word document, at the beginning of a sector."""
FLAGS_AT, ENCRYPTED = 10, 0x0100
_RECORD = struct.Struct("<2H")
_WORKBOOK = (b"\x09\x08\x10\x00\x00\x06\x05\x00", b"\x09\x08\x08\x00\x00\x05\x05\x00")
_PACKAGE = "EncryptedPackage".encode("utf-16-le")


def has_password(content: bytes) -> bool:
    """True for an old workbook or document, or a package of a newer one, that is encrypted."""
    return _PACKAGE in content or _is_locked_workbook(content) or _is_locked_text(content)


def _is_locked_workbook(content: bytes) -> bool:
    at = max(content.find(begin) for begin in _WORKBOOK)
    for _ in range(RECORDS):
        if not 0 <= at <= len(content) - _RECORD.size:
            break
        kind, size = _RECORD.unpack_from(content, at)
        if kind == FILE_PASS:
            return True
        at += _RECORD.size + size
    return False


def _is_locked_text(content: bytes) -> bool:
    at = content.find(WORD, SECTOR)
    while at >= 0 and at % SECTOR:
        at = content.find(WORD, at + 1)
    flags = content[at + FLAGS_AT : at + FLAGS_AT + 2] if at > 0 else b""
    return bool(int.from_bytes(flags, "little") & ENCRYPTED)
