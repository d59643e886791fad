"""The file of `-o`: checked before any work is paid for, written whole or not at all."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR, S_ISREG

import click
from vr_kernel import Code, VrError, visible_line

RENDERED = ("md", "html", "json", "txt")
"""Endings in which everything can be written."""
PART = ".part"
CLONE = 0x40049409
"""Linux's FICLONE: a copy that shares its blocks until one of the two changes."""


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file that may be written.

    Attributes:
        path: its place, behind any link.
        named: the path as it was given.
        replaces: whether it may take the place of an existing file.
    """

    path: Path
    named: str
    replaces: bool = False

    @property
    def shown(self) -> str:
        """The path as it was given, for messages."""
        return visible_line(self.named)

    @property
    def ending(self) -> str:
        """The ending of the name that was given, in lower case, without its point."""
        return _ending(Path(self.named))

    def write(self, text: str) -> None:
        """Write a text in UTF-8.

        Raises:
            VrError: UNAVAILABLE when it cannot be written; CONFLICT when it has come to be.
        """
        self._fill(lambda part: _write(part, text))

    def copy(self, source: Path) -> None:
        """Copy a file; where the file system can, without taking room.

        Raises:
            VrError: UNAVAILABLE when it cannot be written; CONFLICT when it has come to be.
        """
        self._fill(lambda part: _copy(source, part))

    def _fill(self, fill: Callable[[Path], None]) -> None:
        if not self.replaces and self.path.exists():
            raise _exists(self.shown)
        part: Path | None = None
        try:
            handle, name = tempfile.mkstemp(PART, f".{self.path.stem[:40]}-", self.path.parent)
            os.close(handle)
            part = Path(name)
            fill(part)
            part.replace(self.path)
        except OSError as error:
            raise unwritten(self.shown, error) from error
        finally:
            if part is not None:
                with suppress(OSError):
                    part.unlink(missing_ok=True)


def require_output(given: str, name: str, endings: Collection[str], *, force: bool) -> OutputFile:
    """Check that a file can be written; an existing one is asked about, or needs `--force`.

    Args:
        given: the path as typed.
        name: readable, without ending, for a hint.
        endings: that are possible beside those of every result; `*` for any.
        force: whether an existing file may be replaced without being asked.

    Raises:
        VrError: INVALID_INPUT for a folder, a missing folder or an ending that is not possible;
            NOT_ALLOWED when the folder cannot be written; CONFLICT when the file exists.
    """
    shown = visible_line(given)
    if not shown:
        hint = f"Name it: -o {name}.md"
        raise VrError("The file of -o has no name.", Code.INVALID_INPUT, hint=hint)
    try:
        typed = Path(given).expanduser()
        path = Path(os.path.realpath(typed))
        found = _found(path)
        exists = found is not None or typed.is_symlink()
    except (OSError, ValueError, RuntimeError) as error:
        message = f"{shown} cannot be the name of a file: {_reason(error)}."
        raise VrError(message, Code.INVALID_INPUT) from error
    if (found and S_ISDIR(found.st_mode)) or given.endswith(("/", os.sep)):
        wanted = _ending(typed) if _ending(typed) in (*RENDERED, *endings) else RENDERED[0]
        hint = f"Name a file in it: -o {Path(shown) / f'{name}.{wanted}'}"
        raise VrError(f"{shown} is a folder.", Code.INVALID_INPUT, hint=hint)
    _require_ending(shown, _ending(typed), endings)
    _require_folder(path.parent)
    if found and not S_ISREG(found.st_mode):
        raise VrError(f"{shown} is no plain file.", Code.INVALID_INPUT, hint="Give another name.")
    if exists and not force and not _agreed(shown):
        raise _exists(shown)
    return OutputFile(path, given, exists)


def _ending(path: Path) -> str:
    return path.suffix[1:].lower()


def _found(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _reason(error: Exception) -> str:
    """The words of an error, without its number and the path once more."""
    said = error.strerror if isinstance(error, OSError) else str(error)
    return f"{said[:1].lower()}{said[1:]}" if said else type(error).__name__


def _require_ending(shown: str, ending: str, endings: Collection[str]) -> None:
    if ending and ("*" in endings or ending in (*RENDERED, *endings)):
        return
    known = " ".join(f".{each}" for each in (*RENDERED, *sorted({*endings} - {"*", *RENDERED})))
    said = f"cannot end with .{ending}" if ending else "has no ending"
    raise VrError(
        f"{shown} {said}.",
        Code.INVALID_INPUT,
        category="ENDING_UNKNOWN",
        hint=f"The ending says what is written: {known}",
    )


def _require_folder(folder: Path) -> None:
    if not folder.is_dir():
        near = next((it for it in (folder, *folder.parents) if it.exists()), folder)
        if near.exists() and not near.is_dir():
            hint = "Give a name in a folder."
            raise VrError(f"{near} is a file, not a folder.", Code.INVALID_INPUT, hint=hint)
        hint = f"Make it first: mkdir -p {folder}"
        raise VrError(f"There is no folder {folder}.", Code.INVALID_INPUT, hint=hint)
    if not os.access(folder, os.W_OK | os.X_OK):
        hint = "Give a file in a folder of your own."
        raise VrError(f"The folder {folder} cannot be written.", Code.NOT_ALLOWED, hint=hint)


def _agreed(shown: str) -> bool:
    """Ask whether a file may be replaced, where somebody can be asked.

    Raises:
        VrError: CANCELLED when the answer is no.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    if click.confirm(f"{shown} exists. Replace it?", default=False, err=True):
        return True
    raise VrError("Nothing was done.", Code.CANCELLED, category="DECLINED")


def _exists(shown: str) -> VrError:
    hint = "Give another name, or --force to replace it."
    return VrError(f"{shown} exists.", Code.CONFLICT, category="FILE_EXISTS", hint=hint)


def unwritten(shown: str, error: OSError) -> VrError:
    """The error of a file that could not be written."""
    reason = error.strerror or str(error)
    return VrError(
        f"{shown} could not be written: {reason}.",
        Code.UNAVAILABLE,
        category="FILE_UNWRITTEN",
        hint="The result is not lost: give another file with -o, and it comes from the cache.",
    )


def _write(part: Path, text: str) -> None:
    part.write_text(text, "utf-8", errors="replace", newline="\n")


def _copy(source: Path, part: Path) -> None:
    with source.open("rb") as found, part.open("wb") as file:
        with suppress(ImportError, OSError):
            import fcntl

            fcntl.ioctl(file.fileno(), CLONE, found.fileno())
            return
        shutil.copyfileobj(found, file, 1 << 20)
