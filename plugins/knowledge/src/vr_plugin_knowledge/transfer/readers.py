"""What foreign files hold, as records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from vr_kernel import Code, Record, RecordKind, VrError, entity_key

from vr_plugin_knowledge.transfer.passages import passages_of

if TYPE_CHECKING:
    from vr_plugin_knowledge.graph.network import Network

Format = Literal["jsonl", "beir", "markdown", "notes", "store"]
PASSAGES = "DocumentPassages"
LONGEST_LINE = 10_000_000
"""Most characters of one line of JSON."""
NOTE_SUFFIXES = {".md", ".markdown"}
_JOURNAL = "SELECT kind, key, fields, provenance FROM record WHERE fields IS NOT NULL ORDER BY seq"


class Reader:
    """Reads one format.

    Args:
        collection: where records go whose format names no collection.
        kinds: of all plugins by name.
        graph: what is known of concepts; notes that tell how well they are known add to it.
    """

    def __init__(
        self, collection: str, kinds: Mapping[str, RecordKind], graph: Network | None = None
    ) -> None:
        self._collection = collection
        self._kinds = kinds
        self._graph = graph

    def read(self, path: Path, form: Format) -> Iterator[Record]:
        """The records of a file or folder.

        Raises:
            VrError: NOT_FOUND, or INVALID_INPUT naming file and line of what cannot be read.
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
        return readers[form](path)

    def _jsonl(self, path: Path) -> Iterator[Record]:
        """An object a line; what `vr knowledge export` wrote keeps its collection and key."""
        for number, row in _objects(path):
            if isinstance(row.get("properties"), dict):
                kind = row.get("collection") or self._collection
                fields, key = row["properties"], row.get("object_id")
            else:
                kind, fields, key = self._collection, row, None
            named = (fields.get(name) for name in ("_id", "id", "external_id"))
            foreign = next((name for name in named if name not in (None, "")), None)
            fields = self._fitting(kind, fields, foreign)
            known = self._kinds.get(str(kind))
            key = key or (known.identify(known.validate(fields)) if known else "")
            key = key or entity_key(
                "import", kind, path.name, number if foreign is None else foreign
            )
            yield Record(str(kind), fields, str(key))

    def _beir(self, path: Path) -> Iterator[Record]:
        """`corpus.jsonl` of a folder in the form of the BEIR benchmark."""
        corpus = path / "corpus.jsonl" if path.is_dir() else path
        name = corpus.parent.name
        for number, row in _objects(corpus):
            foreign = row.get("_id")
            if not isinstance(foreign, str | int):
                raise _unreadable(corpus, number, "it has no _id")
            title, text = str(row.get("title") or ""), str(row.get("text") or "")
            fields = {"source": name, "title": title, "text": text, "external_id": str(foreign)}
            yield Record(PASSAGES, fields, entity_key("beir", name, foreign))

    def _markdown(self, path: Path) -> Iterator[Record]:
        """Each section of each Markdown file; a folder is read with all below it."""
        for file, name, text in _texts(path):
            link = file.resolve().as_uri()
            yield from passages_of(text, name, str(file), link=link)

    def _notes(self, path: Path) -> Iterator[Record]:
        """As Markdown; then the concepts that the notes name, and how well they are known."""
        from vr_plugin_knowledge.transfer.memories import Memories

        memories = Memories() if self._graph is None else Memories(self._graph)
        for file, name, text in _texts(path):
            memories.add(file, text)
            link = file.resolve().as_uri()
            yield from passages_of(text, name, str(file), link=link)
        yield from memories.records()

    def _store(self, path: Path) -> Iterator[Record]:
        """The journal of another installation: its state folder, or the file itself."""
        import sqlite3

        file = path / "journal.db" if path.is_dir() else path
        if not file.is_file():
            raise VrError(f"No file {str(file)!r}.", Code.NOT_FOUND, hint="Name a state folder.")
        try:
            with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as journal:
                for kind, key, fields, provenance in journal.execute(_JOURNAL):
                    yield Record(kind, json.loads(fields), key, json.loads(provenance))
        except (sqlite3.Error, ValueError) as error:
            raise _unreadable(file, 0, f"it is no journal: {error}") from error

    def _fitting(self, kind: object, fields: Mapping[str, Any], foreign: object) -> dict[str, Any]:
        """The fields without a foreign id, which is kept as `external_id` where there is one."""
        known = self._kinds.get(str(kind))
        own = {item.name for item in known.all_fields} if known else set(fields)
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
            yield file, file.relative_to(root).as_posix(), file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise _unreadable(file, 0, _reason(error)) from None


def _files(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*"):
        hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
        if file.suffix.lower() in NOTE_SUFFIXES and file.is_file() and not hidden:
            yield file


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return "it is no text in UTF-8" if isinstance(error, ValueError) else error.strerror or "?"


def _unreadable(path: Path, line: int, why: str) -> VrError:
    where = f"{path}, line {line}" if line else str(path)
    hint = "Nothing after it was imported; importing again repeats nothing."
    return VrError(f"{where}: {why}.", Code.INVALID_INPUT, hint=hint)
