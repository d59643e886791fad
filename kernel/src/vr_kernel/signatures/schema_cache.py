"""Schemas of tools, cached between starts, since making them takes much of a start."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pydantic

from vr_kernel.config.paths import private_file, private_folder

KERNEL = "vr_kernel"
INSTALLED = ("site-packages", "dist-packages")
"""Names of folders that hold distributions."""
Schema = dict[str, Any]
Pair = tuple[Schema, Schema]
"""The schemas of a tool's arguments and of its result."""


class ToolSchemas:
    """Schemas that earlier starts made, in one file, by a key of what they were made from.

    A pair is found again as long as no Python file of the tool's package and of the kernel has
    changed, nor Python and pydantic, and no distribution was installed, upgraded or removed, as
    types of arguments may come from any. Tools that are not plain functions of a package are never
    remembered. `load` is not called before the first `find`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, list[Schema]] | None = None
        self._asked: dict[str, list[Schema]] = {}
        self._packages: dict[str, str] = {}

    def find(self, function: Callable[..., Any]) -> Pair | None:
        """The schemas of a tool's function, None when they have to be made."""
        if self._known is None:
            self._known = _read(self._path)
        key = self._key(function)
        pair = self._known.get(key) if key else None
        if pair is None:
            return None
        self._asked[key] = pair
        return pair[0], pair[1]

    def keep(self, function: Callable[..., Any], arguments: Schema, result: Schema) -> None:
        """Remember what was made."""
        if key := self._key(function):
            self._asked[key] = [arguments, result]

    def save(self) -> None:
        """Write the schemas that were used; a folder that cannot be written is not an error."""
        if self._asked == self._known:
            return
        with suppress(OSError):
            private_folder(self._path.parent)
            fresh = self._path.with_suffix(f".{os.getpid()}.part")
            private_file(fresh).write_text(json.dumps(self._asked), "utf-8")
            fresh.replace(self._path)

    def _key(self, function: Callable[..., Any]) -> str:
        """Name everything that the schemas are made from; empty when that is unknown."""
        module = sys.modules.get(function.__module__)
        package = function.__module__.partition(".")[0]
        plain = getattr(module, function.__name__, None) is function
        made_of = self._package(package) if plain else ""
        return f"{function.__module__}:{function.__name__}:{made_of}" if made_of else ""

    def _package(self, name: str) -> str:
        """Return a text that changes with the files of a package or of the kernel."""
        if name not in self._packages:
            own = _folders(name)
            kernel = "" if name == KERNEL else self._package(KERNEL)
            self._packages[name] = kernel + fingerprint(own) if own else ""
        return self._packages[name]


def _folders(package: str) -> list[Path]:
    return [Path(folder) for folder in getattr(sys.modules.get(package), "__path__", ())]


def fingerprint(folders: list[Path]) -> str:
    """A text that changes with the Python files below folders, and with what is installed."""
    digest = hashlib.sha256(f"{sys.version} {pydantic.VERSION} {_installed()}".encode())
    for folder in folders:
        for path, size, changed in sorted(_files(str(folder))):
            digest.update(f"{path}\0{size}\0{changed}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _installed() -> list[int]:
    """Times of the last change of folders that hold distributions: a version is an entry there."""
    times = []
    for place in sys.path:
        if place.endswith(INSTALLED):
            with suppress(OSError):
                times.append(Path(place).stat().st_mtime_ns)
    return times


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    """Every Python file below a folder: its path, size in bytes, and when it changed.

    The folder may be such a file itself.
    """
    if folder.endswith(".py"):
        known = Path(folder).stat()
        yield folder, known.st_size, known.st_mtime_ns
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith((".", "__")):
                    yield from _files(entry.path)
            elif entry.name.endswith(".py"):
                known = entry.stat()
                yield entry.path, known.st_size, known.st_mtime_ns


def _read(path: Path) -> dict[str, list[Schema]]:
    """Read what an earlier start wrote; empty for a damaged file."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    whole = isinstance(found, dict) and all(
        isinstance(pair, list)
        and len(pair) == 2  # noqa: PLR2004 - arguments and result
        and all(isinstance(schema, dict) and schema.get("type") == "object" for schema in pair)
        for pair in found.values()
    )
    return found if whole else {}
