"""Text of the files of a folder: each parsed once, and again only when it has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from vr_kernel import Call, Services, VrError

from vr_plugin_content.folders.file_rules import MEGABYTE
from vr_plugin_content.formats.kinds import TEXT, kind_by_name
from vr_plugin_content.parsing.kept_document import KeptDocument, KeptHeading, KeptPiece
from vr_plugin_content.parsing.parser import Parser, ParseTask
from vr_plugin_content.parsing.worker import identity_of
from vr_plugin_content.settings import ContentSettings
from vr_plugin_content.sources.archives import check_archive

MIME = "inode/directory"
TIMEOUTS = 10
"""Times of what one file may take that a folder may take in all."""
AT_ONCE = 100
"""Files that a worker is given at a time."""


class FolderText:
    """The text of a folder while it is read.

    Attributes:
        document: what was read so far, file by file.
        unread: how many files could not be read.

    Args:
        call: that reads.
        folder: with all links resolved.
        known: pieces of files that are as they were, by path; they are not parsed again.
    """

    def __init__(self, call: Call, folder: Path, known: Mapping[str, Sequence[KeptPiece]]) -> None:
        settings: ContentSettings = call.settings
        self.document = KeptDocument(mime=MIME, title=folder.name, pieces=[])
        self.unread = 0
        self._call, self._folder, self._known = call, folder, known
        self._left = settings.max_chars
        self._end = asyncio.get_running_loop().time() + TIMEOUTS * settings.parser_timeout_s

    async def read(self, paths: Sequence[str]) -> None:
        """Read files, in this order, until there are as many characters as are taken."""
        for at in range(0, len(paths), AT_ONCE):
            some = paths[at : at + AT_ONCE]
            parsed = await self._parsed([path for path in some if path not in self._known])
            for path in some:
                self._add(path, self._known[path] if path in self._known else parsed.get(path))
            self._call.progress(at + len(some), len(paths), f"Reading {some[-1]}")
            if self._left <= 0:
                self.document.limits.append(
                    f"Its text is too long: what follows {some[-1]} was left out."
                )
                return
            if asyncio.get_running_loop().time() > self._end:
                self.document.limits.append(
                    f"Its files take too long to read: what follows {some[-1]} was left out."
                )
                return

    async def _parsed(self, paths: Sequence[str]) -> dict[str, list[KeptPiece]]:
        """Parse files; one that cannot be read is not in the result."""
        tasks = await asyncio.to_thread(self._tasks, paths)
        if not tasks:
            return {}
        parser = self._call.services.providers.get(Parser)
        answers = await parser.run_many([*tasks.values()], self._end)
        return await asyncio.to_thread(_pieces_of, [*tasks], answers)

    def _tasks(self, paths: Sequence[str]) -> dict[str, ParseTask]:
        found = {path: _task(self._call.services, self._folder / path) for path in paths}
        return {path: task for path, task in found.items() if task is not None}

    def _add(self, path: str, pieces: Sequence[KeptPiece] | None) -> None:
        if pieces is None:
            self.unread += 1
            return
        self.document.outline.append(KeptHeading(text=path, level=1, place={"file": path}))
        for piece in pieces:
            if self._left <= 0:
                return
            text = piece.text[: self._left]
            self.document.pieces.append(KeptPiece(text=text, place=piece.place))
            self._left -= len(text)


def pieces_by_file(document: KeptDocument) -> dict[str, list[KeptPiece]]:
    """Return what was read of each file, by its path, but for the last one, which may be cut."""
    found: dict[str, list[KeptPiece]] = {}
    for piece in document.pieces:
        found.setdefault(piece.place["file"], []).append(piece)
    if found:
        found.popitem()
    return found


def _pieces_of(paths: Sequence[str], answers: Sequence[Any]) -> dict[str, list[KeptPiece]]:
    """The pieces of each file that could be read; blocks."""
    return {
        path: [_within(path, piece) for piece in KeptDocument.of(answer).pieces]
        for path, answer in zip(paths, answers, strict=True)
        if answer is not None
    }


def _within(path: str, piece: KeptPiece) -> KeptPiece:
    return KeptPiece(text=piece.text, place={"file": path, **piece.place})


def _task(services: Services, path: Path) -> ParseTask | None:
    """Open and check a file, and return a task for it; None for one that cannot be read."""
    kind, settings = kind_by_name(path.name) or TEXT, services.settings
    with suppress(VrError, OSError), services.policy.open_file(path) as file:
        if kind.archive:
            check_archive(file, settings.max_file_mb * MEGABYTE)
        identity = identity_of(file)
        return ParseTask(kind.format, "parse", {"name": path.name}, file.name, identity)
    return None
