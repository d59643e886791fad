"""Text of the files in an archive of a repository; runs in a parser's process."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from io import BytesIO
from typing import BinaryIO

from vr_plugin_content.folders.archive import ArchiveBounds, ArchiveFiles
from vr_plugin_content.folders.listing import Reason, limits_of
from vr_plugin_content.formats.kinds import TEXT, kind_by_name
from vr_plugin_content.formats.parsed import (
    Asked,
    OutlineEntry,
    Parsed,
    Piece,
    TextBudget,
)

MIME = "application/zip"
FORMATS = "vr_plugin_content.formats"


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Read the files of an archive, in order of their paths below its top folder.

    Raises:
        ParseError: DOCUMENT_DAMAGED for what is no archive; ARCHIVE_TOO_LARGE for a bomb.
    """
    found, budget = Parsed(MIME), TextBudget(asked.bounds)
    bounds = ArchiveBounds(asked.bounds.files, asked.bounds.file_mb, asked.bounds.text_file_kb)
    files = ArchiveFiles(file, bounds)
    for path, content in files:
        if budget.left <= 0:
            found.limits.append(f"Its text is too long: what follows from {path} was left out.")
            break
        parsed = _parsed(path, content, asked)
        if parsed is None:
            files.skip(Reason.UNREADABLE)
            continue
        found.outline.append(OutlineEntry(path, 1, {"file": path}))
        for piece in parsed.pieces:
            if text := budget.take(piece.text):
                found.pieces.append(Piece(text, {"file": path, **piece.place}))
    found.limits += limits_of(files.skipped, bounds, complete=files.complete)
    return found


def _parsed(path: str, content: bytes, asked: Asked) -> Parsed | None:
    """Parse a file of the archive; None for one that cannot be read."""
    module = import_module(f"{FORMATS}.{(kind_by_name(path) or TEXT).format}")
    try:
        parsed: Parsed = module.parse(
            BytesIO(content), replace(asked, name=path.rpartition("/")[2])
        )
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - one file must not end the others, whatever a library raises
        return None
    return parsed
