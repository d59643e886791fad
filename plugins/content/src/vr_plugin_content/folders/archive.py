"""Files of an archive of a repository: by the rules of folders, and without unpacking any to disk.

A parser's process reads them, so this module imports nothing of the kernel.
"""

from __future__ import annotations

import stat
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import BinaryIO, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from vr_plugin_content.folders.file_rules import (
    DEPTH_LIMIT,
    MEGABYTE,
    is_readable,
    most_bytes,
    reason_by_name,
)
from vr_plugin_content.folders.ignore_rules import FILE_BYTES, IGNORE_FILES, IgnoreRules
from vr_plugin_content.folders.listing import Reason
from vr_plugin_content.formats.kinds import HEAD_BYTES
from vr_plugin_content.formats.parsed import ParseError, damaged

MOST_RATIO = 200
"""An archive, or a file in it, that unpacks to more than this many times its size is a bomb."""
LARGE = 20 * MEGABYTE
"""Bytes below which the ratio does not matter."""
ENTRY_BYTES = 46
"""Least bytes of an entry in the directory of a zip file. Source: APPNOTE.TXT, 4.3.12."""
MOST_ENTRIES = 100_000
"""Entries of a directory that is read, at their least size; those of repositories have 120 bytes,
so about 40,000 of them fit in."""
_ENCRYPTED = 0x1
_FAULTS = (BadZipFile, OSError, RuntimeError, ValueError, EOFError, zlib.error)


@dataclass(frozen=True, slots=True)
class ArchiveBounds:
    """Bounds of what is read, with the names and the meaning of the plugin's settings."""

    max_files: int = 20_000
    max_file_mb: int = 100
    max_text_file_kb: int = 1_024


@dataclass(slots=True)
class ArchiveFiles:
    """Files of an archive that are read, once, in order of their paths.

    Attributes:
        file: the archive, opened for reading.
        bounds: what is beyond is left out.
        skipped: how many were left out so far, by reason.
        complete: whether the bounds of number and size have cut nothing off so far.
    """

    file: BinaryIO
    bounds: ArchiveBounds = field(default_factory=ArchiveBounds)
    skipped: dict[Reason, int] = field(default_factory=dict)
    complete: bool = True

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        """Yield each path below the archive's one top folder, with what the file holds.

        Raises:
            ParseError: DOCUMENT_DAMAGED for what is no zip file; ARCHIVE_TOO_LARGE for a bomb.
        """
        try:
            archive = ZipFile(cast("BinaryIO", _Bounded(self.file, self._most_at_once())))
        except _FAULTS:
            raise damaged("an archive") from None
        with archive:
            members = self._members(archive)
            rules = _Rules(archive, members)
            wanted = [(path, members[path]) for path in sorted(members) if self._keeps(rules, path)]
            yield from self._contents(archive, wanted)

    def _most_at_once(self) -> int:
        """Return the most bytes of a directory, which a zip file's reader takes in as a whole."""
        return ENTRY_BYTES * max(MOST_ENTRIES, 5 * self.bounds.max_files)

    def skip(self, reason: Reason) -> None:
        """Count a file that is left out."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1

    def _members(self, archive: ZipFile) -> dict[str, ZipInfo]:
        """Return the plain files by their paths; the first of two with the same path."""
        members = [it for it in archive.infolist() if not it.filename.endswith("/")]
        _refuse_bomb(members, self.file.seek(0, 2))
        found: dict[str, ZipInfo] = {}
        for member in members:
            path = _path_of(member)
            reason = Reason.NAME if path is None or path in found else _reason(member)
            if reason is not None:
                self.skip(reason)
            elif path is not None:
                found[path] = member
        return found

    def _keeps(self, rules: _Rules, path: str) -> bool:
        """Tell if a file is read, by its path and its size as the directory tells it."""
        reason = reason_by_name(path) or rules.reason(path)
        member = rules.members[path]
        if reason is None and member.file_size > most_bytes(path, self.bounds):
            reason = Reason.TOO_LARGE
        if reason is not None:
            self.skip(reason)
        return reason is None and member.file_size > 0

    def _contents(
        self, archive: ZipFile, wanted: Iterable[tuple[str, ZipInfo]]
    ) -> Iterator[tuple[str, bytes]]:
        left, files = self.bounds.max_file_mb * MEGABYTE, 0
        for path, member in wanted:
            left -= member.file_size
            if left < 0 or files == self.bounds.max_files:
                self.complete = False
                return
            content = _content(archive, member)
            if content is None:
                self.skip(Reason.UNREADABLE)
            elif not is_readable(path, content[:HEAD_BYTES]):
                self.skip(Reason.BINARY)
            else:
                files += 1
                yield path, content


class _Rules:
    """The rules of ignore files in an archive, by folder."""

    def __init__(self, archive: ZipFile, members: dict[str, ZipInfo]) -> None:
        self.members = members
        self._archive = archive
        self._known: dict[str, IgnoreRules | Reason] = {}

    def reason(self, path: str) -> Reason | None:
        """Return why a file is left out by a rule, or by being too deep; None if it is not."""
        if path.count("/") > DEPTH_LIMIT:
            return Reason.TOO_DEEP
        rules = self._in_folder(path.rpartition("/")[0])
        return rules if isinstance(rules, Reason) else rules.reason(path)

    def _in_folder(self, folder: str) -> IgnoreRules | Reason:
        """Return the rules in a folder; the reason when it is left out as a whole."""
        found = self._known.get(folder)
        if found is None:
            found = self._known[folder] = self._found(folder)
        return found

    def _found(self, folder: str) -> IgnoreRules | Reason:
        if not folder:
            return IgnoreRules().below("", self._texts(""))
        above = self._in_folder(folder.rpartition("/")[0])
        if isinstance(above, Reason):
            return above
        return above.reason(folder, is_folder=True) or above.below(
            folder, self._texts(f"{folder}/")
        )

    def _texts(self, prefix: str) -> Iterator[str]:
        for name in IGNORE_FILES:
            member = self.members.get(prefix + name)
            if member is not None and member.file_size <= FILE_BYTES:
                yield (_content(self._archive, member) or b"").decode("utf-8", "replace")


class _Bounded:
    """A file of which no more than so many bytes are read at once."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self._file, self._most = file, most
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        if size > self._most:
            raise BadZipFile
        return self._file.read(size if size >= 0 else self._most)

    def close(self) -> None:
        """Leave the file to the one who opened it."""


def _refuse_bomb(members: Iterable[ZipInfo], size: int) -> None:
    packed = sum(it.compress_size for it in members)
    unpacked = sum(it.file_size for it in members)
    if packed > size or (unpacked > LARGE and unpacked > MOST_RATIO * size):
        raise ParseError(
            "ARCHIVE_TOO_LARGE",
            f"The archive unpacks to {unpacked / MEGABYTE:,.0f} MB, far more than it has itself.",
            "It is made to fill up memory. Do not open it.",
            "TOO_LARGE",
        )


def _path_of(member: ZipInfo) -> str | None:
    """Return the path below the top folder; None for a name that leads elsewhere."""
    name = member.filename
    parts = name.split("/")
    plain = not {"", ".", ".."} & set(parts) and "\\" not in name and ":" not in parts[0]
    return str(PurePosixPath(*parts[1:])) if plain and len(parts) > 1 else None


def _reason(member: ZipInfo) -> Reason | None:
    """Return why a member is left out by what it is."""
    mode = member.external_attr >> 16
    if stat.S_ISLNK(mode):
        return Reason.LINK
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return Reason.SPECIAL
    if member.flag_bits & _ENCRYPTED:
        return Reason.ENCRYPTED
    if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        return Reason.UNREADABLE
    swells = member.file_size > max(LARGE, MOST_RATIO * member.compress_size)
    return Reason.TOO_LARGE if swells else None


def _content(archive: ZipFile, member: ZipInfo) -> bytes | None:
    """Unpack a file, of which no more is read than the directory tells; None if it is damaged."""
    try:
        with archive.open(member) as opened:
            return opened.read(member.file_size)
    except _FAULTS:
        return None
