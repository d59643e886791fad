"""Readers of foreign files, which turn them into records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from vr_kernel import Code, Record, RecordKind, VrError, entity_key
from vr_kernel.storage import wording

from vr_plugin_knowledge.catalogue import find_kind
from vr_plugin_knowledge.transfer.front_matter import is_derived
from vr_plugin_knowledge.transfer.installations import journal_in, without_records
from vr_plugin_knowledge.transfer.passages import PASSAGES, passages_of

if TYPE_CHECKING:
    from vr_plugin_knowledge.graph.network import Network

Format = Literal["jsonl", "beir", "markdown", "notes", "store"]
LONGEST_LINE = 10_000_000
"""Most characters of one line of JSON."""
NOTE_SUFFIXES = {".md", ".markdown"}
_JOURNAL = """SELECT kind, key, fields, provenance, created_at FROM record
WHERE fields IS NOT NULL AND workspace = ? ORDER BY seq"""
_ANY = "SELECT 1 FROM record WHERE fields IS NOT NULL AND workspace = ? LIMIT 1"
_OTHERS = """SELECT workspace, count(*) FROM record
WHERE fields IS NOT NULL AND workspace != ? GROUP BY workspace"""


class Reader:
    """Reads one format. The key of a record without one is made from the whole path of its file.

    Args:
        collection: for records whose format names no collection.
        kinds: of all plugins by name.
        workspace: of another installation that is read.
        graph: the known concepts; notes that say how well concepts are known add to it.

    Attributes:
        files: how many passages each Markdown file had, by its whole path.
        derived: Markdown files made from derived records, which are not read as sources.
        left: numbers of records that another installation has in other workspaces.
    """

    def __init__(
        self,
        collection: str,
        kinds: Mapping[str, RecordKind],
        workspace: str,
        graph: Network | None = None,
    ) -> None:
        self._collection = collection
        self._kinds = kinds
        self._workspace = workspace
        self._graph = graph
        self.files: dict[Path, int] = {}
        self.derived: list[Path] = []
        self.left: dict[str, int] = {}

    def read(self, path: Path, form: Format) -> Iterator[Record]:
        """The records of a file or folder.

        Raises:
            VrError: NOT_FOUND, or INVALID_INPUT, naming the file and the line that cannot be read.
        """
        if not path.exists():
            raise VrError(
                f"No file or folder {str(path)!r}.", Code.NOT_FOUND, hint="Check the path."
            )
        readers: dict[Format, Callable[[Path], Iterator[Record]]] = {
            "jsonl": self._jsonl,
            "beir": self._beir,
            "markdown": self._markdown,
            "notes": self._notes,
            "store": self._store,
        }
        return readers[form](path.resolve())

    def _jsonl(self, path: Path) -> Iterator[Record]:
        """One object per line; a file of `vr knowledge export` keeps collections and keys."""
        for number, row in _objects(path):
            with _at(path, number):
                record = self._row(row, path, number)
            yield record

    def _row(self, row: dict[str, Any], path: Path, number: int) -> Record:
        about = row if isinstance(row.get("properties"), dict) else {"properties": row}
        given = about["properties"]
        kind = find_kind(self._kinds, str(about.get("collection") or self._collection))
        named = (given.get(name) for name in ("_id", "id", "external_id"))
        foreign = next((name for name in named if name not in (None, "")), None)
        fields = kind.validate(_fitting(kind, given, foreign))
        place = ("line", number) if foreign is None else ("id", foreign)
        made = entity_key("import", kind.name, path, *place)
        key = str(about.get("object_id") or kind.identify(fields) or made)
        key.encode()  # the journal could not store it
        return Record(kind.name, fields, key)

    def _beir(self, path: Path) -> Iterator[Record]:
        """`corpus.jsonl` of a folder in the form of the BEIR benchmark."""
        corpus = path / "corpus.jsonl" if path.is_dir() else path
        for number, row in _objects(corpus):
            foreign = row.get("_id")
            if not isinstance(foreign, str | int):
                raise _unreadable(corpus, number, "it has no _id")
            fields = {
                "source": corpus.parent.name,
                "title": str(row.get("title") or ""),
                "text": str(row.get("text") or ""),
                "external_id": str(foreign),
            }
            with _at(corpus, number):
                fields = self._kinds[PASSAGES].validate(fields)
            yield Record(PASSAGES, fields, entity_key("beir", corpus, foreign))

    def _markdown(self, path: Path) -> Iterator[Record]:
        """Each section of each Markdown file; a folder is read with all below it."""
        for file, title, text in _texts(path):
            yield from self._passages(file, title, text)

    def _notes(self, path: Path) -> Iterator[Record]:
        """Read as Markdown; then the concepts that the notes name, and how well they are known."""
        from vr_plugin_knowledge.transfer.memories import Memories

        memories = Memories() if self._graph is None else Memories(self._graph)
        for file, title, text in _texts(path):
            if not is_derived(text, self._kinds):
                memories.add(file, text)
            yield from self._passages(file, title, text)
        yield from memories.records()

    def _passages(self, file: Path, title: str, text: str) -> list[Record]:
        if is_derived(text, self._kinds):
            self.derived.append(file)
            self.files[file] = 0
            return []
        with _at(file):
            passages = list(passages_of(text, file, title))
        self.files[file] = len(passages)
        return passages

    def _store(self, path: Path) -> Iterator[Record]:
        """The journal of another installation: its state folder, or the file itself."""
        import sqlite3

        file = journal_in(path)
        if not file.is_file():
            raise VrError(f"No file {str(file)!r}.", Code.NOT_FOUND, hint="Name a state folder.")
        address, own = f"{file.as_uri()}?mode=ro", (self._workspace,)
        try:
            # Several threads use it, but never two at once.
            connection = sqlite3.connect(address, uri=True, check_same_thread=False)
            with closing(connection) as journal:
                self.left = dict(journal.execute(_OTHERS, own))
                if self.left and journal.execute(_ANY, own).fetchone() is None:
                    raise without_records(self._workspace, self.left)
                for name, key, fields, provenance, created_at in journal.execute(_JOURNAL, own):
                    given = {"created_at": created_at, **json.loads(fields)}
                    with _at(file):
                        given = find_kind(self._kinds, name).validate(given)
                    yield Record(name, given, key, json.loads(provenance))
        except (sqlite3.Error, ValueError) as error:
            raise _unreadable(file, 0, f"it is no journal: {wording(error)}") from None


def _fitting(kind: RecordKind, fields: Mapping[str, Any], foreign: object) -> dict[str, Any]:
    """The fields without a foreign id, which is kept as `external_id` where there is one."""
    own = {item.name for item in kind.all_fields}
    kept = {k: v for k, v in fields.items() if k in own or k not in ("_id", "id")}
    if foreign is not None and "external_id" in own:
        kept["external_id"] = str(foreign)
    return kept


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file with one a line, and their line numbers."""
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(_bounded(lines, path), 1):
                if not line.strip():
                    continue
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise _unreadable(path, number, "it is no object")
                yield number, row
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, 0, _reason(error)) from None
    except (ValueError, RecursionError) as error:
        raise _unreadable(path, number, f"it is no JSON: {error}") from None


def _bounded(lines: Any, path: Path) -> Iterable[str]:
    number = 0
    while line := lines.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise _unreadable(path, number, f"it has more than {LONGEST_LINE:,} characters")
        yield line


def _texts(path: Path) -> Iterator[tuple[Path, str, str]]:
    """Each Markdown file, its name below the folder, and its text."""
    root = path if path.is_dir() else path.parent
    for file in [path] if path.is_file() else sorted(_files(path)):
        try:
            yield file.resolve(), file.relative_to(root).as_posix(), file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise _unreadable(file, 0, _reason(error)) from None


def _files(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*"):
        hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
        if file.suffix.lower() in NOTE_SUFFIXES and file.is_file() and not hidden:
            yield file


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return "it is no text in UTF-8" if isinstance(error, ValueError) else error.strerror or "?"


@contextmanager
def _at(path: Path, line: int = 0) -> Iterator[None]:
    """Adds the place in the file to the error of a record that does not fit its kind."""
    try:
        yield
    except VrError as error:
        raise _unreadable(path, line, error.message.rstrip("."), error.hint) from None
    except UnicodeEncodeError:
        raise _unreadable(path, line, "its name is no valid Unicode") from None


def _unreadable(path: Path, line: int, why: str, hint: str = "") -> VrError:
    where = f"{path}, line {line}" if line else str(path)
    rest = "Nothing after it was imported; importing again repeats nothing."
    return VrError(f"{where}: {why}.", Code.INVALID_INPUT, hint=f"{hint} {rest}".strip())
