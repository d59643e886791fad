"""The notes that people wrote in a folder, and their changes since they were read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from vr_kernel import Record, RecordKind

from vr_plugin_knowledge.notes.ledger import Seen
from vr_plugin_knowledge.notes.page import read_seal
from vr_plugin_knowledge.notes.page_folder import read_text
from vr_plugin_knowledge.transfer.front_matter import is_derived
from vr_plugin_knowledge.transfer.passages import passage_ids, passages_of
from vr_plugin_knowledge.transfer.readers import NOTE_SUFFIXES

SUFFIXES = tuple(NOTE_SUFFIXES)


@dataclass(slots=True)
class News:
    """Changes of a folder.

    Attributes:
        changed: size and time of files that are new or changed, by path below the folder.
        gone: files that were read and are no longer there.
        closed: subfolders that could not be read.
    """

    changed: dict[str, tuple[int, int]] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Batch:
    """Some notes as records.

    Attributes:
        records: their passages.
        stale: kind and key of passages that they no longer have.
        seen: their entries for the ledger.
        unread: files that could not be read.
        derived: files made of derived records, which somebody changed or copied.
    """

    records: list[Record] = field(default_factory=list)
    stale: list[tuple[str, str]] = field(default_factory=list)
    seen: list[tuple[str, Seen]] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    derived: list[str] = field(default_factory=list)


def find_news(root: Path, known: Mapping[str, Seen], stop: Event) -> News:
    """Compare a folder with what was read before; hidden files and links do not count.

    Raises:
        OSError: when it is missing or cannot be read.
    """
    news, there = News(), set()
    for path, size, mtime_ns in _notes(root, news.closed, stop):
        there.add(path)
        before = known.get(path)
        if before is None or (before.size, before.mtime_ns) != (size, mtime_ns):
            news.changed[path] = (size, mtime_ns)
    if not stop.is_set():
        closed = tuple(f"{folder}/" for folder in news.closed)
        news.gone = [path for path in known if path not in there and not path.startswith(closed)]
    return news


def read_notes(
    root: Path,
    files: Mapping[str, tuple[int, int]],
    known: Mapping[str, Seen],
    kinds: Mapping[str, RecordKind],
) -> Batch:
    """The passages of some notes.

    An unchanged page has none, as its record is searchable already. Nor has a page of a derived
    record, even changed or copied, as text by a model is not a source.
    """
    batch = Batch()
    for path, (size, mtime_ns) in files.items():
        before = known.get(path)
        try:
            text = read_text(root / path)
        except OSError:
            batch.unread.append(path)
            text = ""
        seal = read_seal(text)
        file, whole = root / path, seal is not None and seal.whole
        derived = not whole and is_derived(text, kinds)
        batch.derived += [path] if derived else []
        passages = [] if whole or derived else list(passages_of(text, file, file.stem))
        batch.records += passages
        batch.stale += passage_ids(file, len(passages), before.passages if before else 0)
        batch.seen.append((path, Seen(size, mtime_ns, len(passages))))
    return batch


def _notes(root: Path, closed: list[str], stop: Event) -> Iterator[tuple[str, int, int]]:
    """Path below the folder, size and time of each Markdown file."""
    folders = [""]
    while folders and not stop.is_set():
        folder = folders.pop()
        try:
            entries = list(os.scandir(root / folder))
        except OSError:
            if not folder:
                raise
            closed.append(folder)
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(path)
            elif entry.name.lower().endswith(SUFFIXES) and entry.is_file(follow_symlinks=False):
                about = entry.stat(follow_symlinks=False)
                yield path, about.st_size, about.st_mtime_ns
