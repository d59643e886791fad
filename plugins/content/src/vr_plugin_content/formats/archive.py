"""Zip archives of repositories: every file in them that is read, with its path, nothing unpacked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from io import BytesIO
from pathlib import PurePosixPath
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile, ZipInfo

from vr_plugin_content.formats.kinds import Kind, fits, kind_by_name
from vr_plugin_content.formats.parsed import (
    Asked,
    Bounds,
    OutlineEntry,
    Parsed,
    ParseError,
    Piece,
    damaged,
)

MIME = "application/zip"
MOST_FILES = 20_000
MOST_BYTES = 1_000_000
"""Largest file of an archive that is read."""
LEFT_OUT = frozenset({"node_modules", "__pycache__", "venv", "site-packages", "bower_components"})
FORMATS = "vr_plugin_content.formats"


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Read the files of an archive, in order of their paths without the top folder.

    Raises:
        ParseError: DOCUMENT_DAMAGED for what is no archive.
    """
    found = Parsed(MIME)
    left, skipped = asked.bounds.chars, 0
    try:
        with ZipFile(file) as archive:
            members = sorted(archive.infolist(), key=lambda it: it.filename)
            for path, member, kind in _wanted(members[: 2 * MOST_FILES]):
                if left <= 0 or len(found.outline) == MOST_FILES:
                    found.limits.append(f"Not all of it was read: the rest begins at {path}.")
                    break
                parsed = _member(archive, member, path, kind, replace(asked, bounds=Bounds(left)))
                if parsed is None:
                    skipped += 1
                    continue
                left -= sum(len(piece.text) for piece in parsed.pieces)
                found.pieces += [_within(path, piece) for piece in parsed.pieces]
                found.outline.append(OutlineEntry(path, 1, {"file": path}))
    except (BadZipFile, OSError, RuntimeError, ValueError, EOFError):
        raise damaged("an archive") from None
    if skipped:
        found.limits.append(f"Left out: {skipped:,} files that could not be read.")
    return found


def _wanted(members: list[ZipInfo]) -> Iterator[tuple[str, ZipInfo, Kind]]:
    """The files that are read, each with its path below the top folder."""
    for member in members:
        parts = PurePosixPath(member.filename.replace("\\", "/")).parts[1:]
        hidden = any(part.startswith(".") or part in LEFT_OUT for part in parts)
        if member.is_dir() or not parts or hidden or ".." in parts:
            continue
        kind = kind_by_name(parts[-1])
        if kind is not None and kind.format != "picture" and 0 < member.file_size <= MOST_BYTES:
            yield "/".join(parts), member, kind


def _member(
    archive: ZipFile, member: ZipInfo, path: str, kind: Kind, asked: Asked
) -> Parsed | None:
    """Parse a file of the archive; None for one that cannot be read."""
    with archive.open(member) as opened:
        content = opened.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES or not fits(kind, content[:4096]):  # its directory may have lied
        return None
    module = import_module(f"{FORMATS}.{kind.format}")
    try:
        parsed: Parsed = module.parse(
            BytesIO(content), replace(asked, name=path.rpartition("/")[2])
        )
    except (ParseError, ImportError):
        return None
    return parsed


def _within(path: str, piece: Piece) -> Piece:
    return Piece(piece.text, {"file": path, **piece.place})
