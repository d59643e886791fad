"""Documents that nobody wrote for us: those of Debian packages, source archives and this machine.

`real_documents.json` names them, with the refusal that is right for those that cannot be read, and
phrases whose place in their document is known.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from shutil import copyfile, unpack_archive
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.environments import HERE, Environments
from benchmarks.processes import StdioServer, clean_environment
from benchmarks.rows import Row, bar

LISTED = HERE / "real_documents.json"
ERROR = "video-research/error"
SLOW_S = 10
RECOGNISED = ("PDF of scans", "PNG picture", "JPEG picture", "GIF picture")
"""Formats whose words a recogniser reads, which takes seconds a picture."""
SUFFIXES = {"e-mail": ".eml"}
"""Suffixes of documents that lie in their archive without one."""
_HIDDEN = re.compile(r"\(\w+Error\)")
_PLACELESS = re.compile(r"^\[\]$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Listed:
    """A document of the list: its kind, its file, and the refusal that is right for it."""

    kind: str
    source: str
    path: str
    file: Path | None
    refusal: str = ""

    @property
    def name(self) -> str:
        """The archive and the name that it has there."""
        return f"{self.source} {Path(self.path).name}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer about a document: its pieces, those without a place, or why it was refused."""

    listed: Listed
    seconds: float
    pieces: int = 0
    placeless: int = 0
    refusal: str = ""
    crash: str = ""

    @property
    def right(self) -> bool:
        """True for what is read or refused as it should be."""
        return not self.crash and self.refusal == self.listed.refusal


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Read all documents once, a server for each kind, and look up the known phrases."""
    del rounds
    said = json.loads(LISTED.read_text("utf-8"))
    sources = Sources(environments.folder / "real-documents")
    listed = list(_listed(said["documents"], sources))
    reader = Reader(environments.ours.server, sources)
    outcomes = [each for kind in said["documents"] for each in reader.read(listed, kind)]
    rows = [_row(kind, listed, outcomes) for kind in said["documents"]]
    found = {(it.source, it.path): it.file for it in listed if it.file}
    places = [it for it in said["places"] if (it["source"], it["path"]) in found]
    missed = reader.missed(places, found)
    return [*rows, *_sums(outcomes), *_phrases(places, missed), *_wrong(outcomes)]


class Sources:
    """Archives of documents, fetched at first use into one folder and kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._opened: dict[str, Path | None] = {}

    def find(self, source: str, path: str, suffix: str) -> Path | None:
        """The file of a document; None where its source cannot be had."""
        if source not in self._opened:
            self._opened[source] = self._open(source)
        folder = self._opened[source]
        file = folder / path if folder else None
        if file is None or not file.is_file():
            return None
        if suffix and not file.suffix:
            return Path(copyfile(file, file.with_suffix(suffix)))
        return file

    @property
    def roots(self) -> list[Path]:
        """The folders that a server has to be allowed to read."""
        return [folder for folder in self._opened.values() if folder]

    def _open(self, source: str) -> Path | None:
        where, _, name = source.partition(":")
        if where == "site":
            return Path(str(distribution("pydantic").locate_file("")))
        if where == "machine":
            return Path(name) if Path(name).is_dir() else None
        folder = self.folder / name
        if not folder.is_dir():
            with TemporaryDirectory(prefix="fetch-", dir=_made(self.folder)) as scratch:
                opened = {"deb": _package, "pypi": _archive}[where](name, Path(scratch))
                if opened is None:
                    return None
                opened.rename(folder)
        return folder


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _package(name: str, scratch: Path) -> Path | None:
    """The content of a Debian package."""
    done = _ran(["apt-get", "-qq", "download", name], scratch)
    if not done or not _ran(["sh", "-c", "dpkg-deb -x *.deb content"], scratch):
        return None
    return scratch / "content"


def _archive(name: str, scratch: Path) -> Path | None:
    """The content of a source archive of the Python Package Index."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    if not _ran([*command, name], scratch):
        return None
    (archive,) = scratch.iterdir()
    unpack_archive(archive, scratch / "content")
    (content,) = (scratch / "content").iterdir()
    return content


def _ran(command: Sequence[str], folder: Path) -> bool:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def _listed(said: Mapping[str, Any], sources: Sources) -> Iterator[Listed]:
    for kind, by_source in said.items():
        for source, paths in by_source.items():
            for path, refusal in paths.items():
                file = sources.find(source, path, SUFFIXES.get(kind, ""))
                yield Listed(kind, source, path, file, refusal)


class Reader:
    """Reads documents by servers over stdio that see nothing of this user but the documents."""

    def __init__(self, command: Sequence[str], sources: Sources) -> None:
        self.command = command
        self.allowed = ":".join(map(str, sources.roots))

    def read(self, listed: Sequence[Listed], kind: str) -> list[Outcome]:
        """Read the documents of a format by one server; a new one follows when it ends."""
        waiting = [each for each in listed if each.kind == kind and each.file]
        outcomes: list[Outcome] = []
        while len(outcomes) < len(waiting):
            with TemporaryDirectory() as home, self._server(Path(home)) as server:
                for each in waiting[len(outcomes) :]:
                    outcomes.append(_read(server, each))
                    if server.process.poll() is not None:
                        break
        return outcomes

    def missed(
        self, places: Sequence[Mapping[str, str]], files: Mapping[tuple[str, str], Path]
    ) -> list[str]:
        """The phrases that do not stand where they should."""
        missed: list[str] = []
        with TemporaryDirectory() as home, self._server(Path(home)) as server:
            for each in places:
                file = str(files[each["source"], each["path"]])
                asked = {"source": file, "locator": each["place"]}
                found = server.call("content_read", asked).get("structuredContent") or {}
                if each["phrase"] not in " ".join(found.get("text", "").split()):
                    missed.append(f"{Path(file).name}, {each['place']}: {each['phrase']}")
        return missed

    def _server(self, home: Path) -> StdioServer:
        env = clean_environment(home, HF_HUB_OFFLINE="1", VR_ALLOWED_ROOTS=self.allowed)
        server = StdioServer(self.command, env, home)
        server.shake_hands()
        return server


def _read(server: StdioServer, listed: Listed) -> Outcome:
    began = time.perf_counter()
    try:
        answer = server.call("content_read", {"source": str(listed.file)})
    except RuntimeError as error:
        return Outcome(listed, time.perf_counter() - began, crash=str(error)[-200:])
    seconds = time.perf_counter() - began
    if answer.get("isError"):
        return _refused(listed, seconds, answer)
    page = answer["structuredContent"]
    text = _whole(server, page["text_uri"]) if page["text_uri"] else page["text"]
    return Outcome(listed, seconds, page["total"], len(_PLACELESS.findall(text)))


def _refused(listed: Listed, seconds: float, answer: Mapping[str, Any]) -> Outcome:
    """A refusal with its category; an error that is not typed, or that hides another, crashed."""
    told = answer.get("_meta", {}).get(ERROR, {})
    message = str(told.get("message", answer))
    if not told.get("category") or told["code"] == "INTERNAL" or _HIDDEN.search(message):
        return Outcome(listed, seconds, crash=message[:200])
    return Outcome(listed, seconds, refusal=told["category"])


def _whole(server: StdioServer, uri: str) -> str:
    contents = server.request("resources/read", {"uri": uri})["contents"]
    return "".join(each.get("text", "") for each in contents)


def _row(kind: str, listed: Sequence[Listed], outcomes: Sequence[Outcome]) -> Row:
    """The count of a format's documents; what could not be had is named."""
    ours = [each for each in outcomes if each.listed.kind == kind]
    read = [each for each in ours if not each.refusal and not each.crash]
    refused = [each.refusal for each in ours if each.refusal]
    absent = [each.name for each in listed if each.kind == kind and not each.file]
    parts = [
        f"{len(read)} read",
        f"{len(refused)} refused ({', '.join(sorted({*refused}))})" if refused else "",
        f"{sum(bool(each.crash) for each in ours)} crashed",
        f"{sum(each.pieces for each in read):,} pieces",
        f"slowest {max((each.seconds for each in ours), default=0):.1f} s",
        f"skipped: {', '.join(absent)}" if absent else "",
    ]
    target = f"{sum(not each.listed.refusal for each in ours)} read"
    right = all(each.right for each in ours) if ours else None
    return Row(kind, "; ".join(filter(None, parts)), target=target, passed=right)


def _sums(outcomes: Sequence[Outcome]) -> list[Row]:
    pieces = sum(each.pieces for each in outcomes)
    placeless = sum(each.placeless for each in outcomes)
    plain = [each.seconds for each in outcomes if each.listed.kind not in RECOGNISED]
    right = sum(each.right for each in outcomes)
    all_of_them = f"documents of {len(outcomes)}, read or refused as they should be"
    return [
        bar(all_of_them, right, sign=">=", limit=len(outcomes)),
        bar(f"pieces of {pieces:,} without a place", placeless, sign="<=", limit=0),
        bar("slowest without a recogniser, s", max(plain, default=0), sign="<=", limit=SLOW_S),
    ]


def _phrases(places: Sequence[Any], missed: Sequence[str]) -> list[Row]:
    told = f"known phrases of {len(places)}, at their place"
    found = bar(told, len(places) - len(missed), sign=">=", limit=len(places))
    return [found, *(Row(f"  {each}", "not there") for each in missed)]


def _wrong(outcomes: Sequence[Outcome]) -> list[Row]:
    return [
        Row(f"  {each.listed.name}", each.crash or each.refusal or "read", target="otherwise")
        for each in outcomes
        if not each.right
    ] + [
        Row(f"  {each.listed.name}", f"{each.placeless} pieces without a place")
        for each in outcomes
        if each.placeless
    ]
