"""Files that tools produce, named by their content."""

from __future__ import annotations

import hashlib
import io
import mimetypes
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from vr_kernel.config.paths import private_folder
from vr_kernel.errors import Code, VrError

URI_PREFIX = "vr://artifacts/"
PIECE = 1 << 20
"""Bytes of a file that are in memory at a time."""
PART = ".part-"
"""Begin of the name of a file that is not written to its end."""
_EXTENSION = re.compile(r"\.[a-z0-9]{1,16}")
_NAME = re.compile(rf"[0-9a-f]{{64}}{_EXTENSION.pattern}")
_EXTENSIONS = {
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "application/json": ".json",
    "text/markdown": ".md",
    "text/plain": ".txt",
    "text/html": ".html",
    "text/vnd.mermaid": ".mmd",
    "text/vtt": ".vtt",
    "application/x-subrip": ".srt",
    "application/graphml+xml": ".graphml",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "text/x-bibtex": ".bib",
}


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file in the artifacts folder; `size` in bytes."""

    uri: str
    path: Path
    mime: str
    size: int


class Artifacts:
    """The artifacts folder: equal content is one file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, content: bytes | Path, mime: str) -> Artifact:
        """Keep bytes, or a copy of a file; blocks while writing.

        Raises:
            VrError: UNAVAILABLE when the folder cannot be written.
        """
        with _opened(content) as source:
            digest = hashlib.file_digest(source, "sha256").hexdigest()
            size = source.seek(0, os.SEEK_END)
            path = self.folder / artifact_name(digest, mime)
            self._keep(path, source, size)
        return Artifact(URI_PREFIX + path.name, path, mime, size)

    def find(self, name: str) -> Artifact:
        """The artifact of that name, the last part of its address.

        Raises:
            VrError: NOT_FOUND when there is none.
        """
        path = self.folder / name
        if not is_artifact_name(name) or not path.is_file():
            raise no_artifact(name)
        return Artifact(URI_PREFIX + name, path, mime_of(name), path.stat().st_size)

    def renew(self, names: Iterable[str]) -> None:
        """Make artifacts count as new, so that no cleaning that is under way takes them.

        Those that are gone are passed over.
        """
        for name in names:
            path = self.folder / name
            if is_artifact_name(name) and not path.is_symlink():
                with suppress(OSError):  # gone, or in a folder that cannot be written
                    os.utime(path)

    def addressed(self, data: Any) -> Any:
        """Return data whose texts name artifacts by address instead of by local path."""

        def address_in(text: str) -> str:
            for prefix in prefixes:
                text = text.replace(prefix, URI_PREFIX)
            return text

        prefixes = self._prefixes
        return _each_text(data, address_in)

    def located(self, data: Any) -> Any:
        """Data with each address of an artifact replaced by its path."""

        def path_of(text: str) -> str:
            name = text.removeprefix(URI_PREFIX)
            is_own = name != text and is_artifact_name(name) and (self.folder / name).is_file()
            return str(self.folder / name) if is_own else text

        return _each_text(data, path_of)

    @property
    def _prefixes(self) -> set[str]:
        """Prefixes of artifact paths: the folder as configured, and with links resolved."""
        return {f"{folder}{os.sep}" for folder in (self.folder, os.path.realpath(self.folder))}

    def _keep(self, path: Path, source: BinaryIO, size: int) -> None:
        try:
            if not _is_whole(path, size):  # a power cut may have left a part
                source.seek(0)
                self._write(path, source)
            else:
                self.renew([path.name])
        except OSError as error:
            from vr_kernel.storage.database_errors import unwritten

            raise unwritten("A file of the result", self.folder, error) from error

    def _write(self, path: Path, source: BinaryIO) -> None:
        try:
            handle, temporary = tempfile.mkstemp(dir=self.folder, prefix=PART)
        except FileNotFoundError:
            private_folder(self.folder)
            handle, temporary = tempfile.mkstemp(dir=self.folder, prefix=PART)
        try:
            with os.fdopen(handle, "wb") as file:
                shutil.copyfileobj(source, file, PIECE)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def artifact_name(digest: str, mime: str) -> str:
    """The name of an artifact: its SHA-256 in hexadecimal, and an ending for its type."""
    guessed = _EXTENSIONS.get(mime) or mimetypes.guess_extension(mime) or ".bin"
    return digest + (guessed if _EXTENSION.fullmatch(guessed) else ".bin")


def is_artifact_name(name: str) -> bool:
    """True for a name that an artifact can have."""
    return _NAME.fullmatch(name) is not None


def mime_of(name: str) -> str:
    """The type of an artifact, as its name tells."""
    ending = name[name.rindex(".") :]
    mime = next((mime for mime, known in _EXTENSIONS.items() if known == ending), None)
    return mime or mimetypes.guess_type(name)[0] or "application/octet-stream"


def no_artifact(name: str) -> VrError:
    """The error of a name that no artifact has."""
    return VrError(
        f"No artifact {name!r}.",
        Code.NOT_FOUND,
        hint="Artifacts are cleaned by age and size; run the tool again.",
    )


def _is_whole(path: Path, size: int) -> bool:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size == size


def _each_text(data: Any, change: Callable[[str], str]) -> Any:
    """A copy of JSON data with every text changed; names of fields stay."""
    if isinstance(data, str):
        return change(data)
    if isinstance(data, Mapping):
        return {name: _each_text(value, change) for name, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_each_text(value, change) for value in data]
    return data


def _opened(content: bytes | Path) -> io.BytesIO | io.BufferedReader:
    return io.BytesIO(content) if isinstance(content, bytes) else content.open("rb")
