"""Zip files, looked at before anything unpacks them."""

from __future__ import annotations

import struct
from pathlib import PurePosixPath
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile, ZipInfo

from vr_kernel import Code, VrError

MOST_ENTRIES = 20_000
BYTES_AN_ENTRY = 256
"""Bytes of the directory for each file, as far as there may be so many."""
MOST_RATIO = 200
"""A file that unpacks to more than this many times its size is a bomb, once it is large."""
LARGE = 20_000_000
"""Bytes below which the ratio does not matter."""
_END = struct.Struct("<4s4H2LH")
_END_MARK = b"PK\x05\x06"
_ENTRY_MARK = b"PK\x01\x02"
_COMMENT = 65_535
_LINK = 0o120000
_TYPE = 0o170000


def check_archive(file: BinaryIO, most_bytes: int) -> None:
    """Refuse a zip file that no parser should see; costs little for any file.

    Args:
        file: opened for reading.
        most_bytes: it may unpack to.

    Raises:
        VrError: TOO_LARGE, category ARCHIVE_TOO_LARGE; UNSUPPORTED, category ARCHIVE_UNSAFE for
            names that lead out of it, or DOCUMENT_DAMAGED.
    """
    size = file.seek(0, 2)
    if _entries(file, size) > MOST_ENTRIES:
        raise _bomb(f"more than {MOST_ENTRIES:,} files")
    try:
        with ZipFile(file) as archive:
            members = archive.infolist()
    except (BadZipFile, OSError, ValueError, RuntimeError, struct.error):
        raise _damaged() from None
    if sum(each.compress_size for each in members) > size:
        raise _bomb("files that overlap")
    unpacked = sum(each.file_size for each in members)
    if unpacked > most_bytes or (unpacked > LARGE and unpacked > MOST_RATIO * size):
        raise _bomb(f"{unpacked / 1_000_000:,.0f} MB")
    for member in members:
        if _leads_out(member):
            raise _unsafe()


def _entries(file: BinaryIO, size: int) -> int:
    """Return how many entries the directory has, and the end tells, before any of them is read.

    Raises:
        VrError: as `check_archive`.
    """
    begins = max(0, size - _END.size - _COMMENT)
    file.seek(begins)
    tail = file.read()
    at = tail.rfind(_END_MARK)
    if at < 0 or at + _END.size > len(tail):
        raise _damaged()
    told, directory = _END.unpack_from(tail, at)[4:6]
    if directory > MOST_ENTRIES * BYTES_AN_ENTRY:
        return MOST_ENTRIES + 1
    file.seek(max(0, begins + at - directory))
    counted = file.read(directory).count(_ENTRY_MARK)
    return max(counted, int(told))


def _leads_out(member: ZipInfo) -> bool:
    name = member.filename
    path = PurePosixPath(name.replace("\\", "/"))
    linked = (member.external_attr >> 16) & _TYPE == _LINK
    return linked or path.is_absolute() or ".." in path.parts or ":" in name.partition("/")[0]


def _bomb(what: str) -> VrError:
    return VrError(
        f"The file unpacks to {what}.",
        Code.TOO_LARGE,
        category="ARCHIVE_TOO_LARGE",
        hint="Split it, or raise max_file_mb in [plugins.content] if you trust it.",
    )


def _unsafe() -> VrError:
    return VrError(
        "The file holds names that lead out of it.",
        Code.UNSUPPORTED,
        category="ARCHIVE_UNSAFE",
        hint="It was not made by an office program. Do not open it unless you know it.",
    )


def _damaged() -> VrError:
    return VrError(
        "This cannot be read as a document: it is damaged or incomplete.",
        Code.UNSUPPORTED,
        category="DOCUMENT_DAMAGED",
        hint="Open it in its own program to see if it is whole, and save it again.",
    )
