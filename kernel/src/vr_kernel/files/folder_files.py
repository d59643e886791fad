"""Files of the user's folders, read and written whole: never half, never through a link."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from vr_kernel.errors import Code, VrError
from vr_kernel.files.folder_locks import locked
from vr_kernel.files.named_paths import (
    PATH_LIMIT,
    missing,
    require_regular,
    through_link,
    unreadable,
    unwritable,
)
from vr_kernel.files.names import safe_name
from vr_kernel.files.open_folder import OpenFolder, is_link
from vr_kernel.files.policy import Policy
from vr_kernel.text.visible_text import spelled_out

DEPTH_LIMIT = 30
"""Most parts of a name."""
READ_BYTES = 100_000_000
"""Largest file that is read or written: it is read whole for that."""
PIECE = 1 << 20
"""Bytes of a file that are copied at a time."""
CHANGED, EXISTS = "FILE_CHANGED", "FILE_EXISTS"


def read_file(policy: Policy, folder: str | Path, name: str) -> tuple[bytes, str]:
    """The content and its SHA-256; blocks. See `vr_kernel.Files.read`.

    Raises:
        VrError: see there.
    """
    with _opened(policy, folder, name, make=None) as (place, last):
        path = place.path / last
        if _present(place, last) is None:
            raise missing(path)
        with os.fdopen(place.open(last, os.O_RDONLY), "rb") as file:
            require_regular(path, os.fstat(file.fileno()).st_mode)
            data = file.read(READ_BYTES + 1)
    _require_size(path, len(data))
    return data, hashlib.sha256(data).hexdigest()


def write_file(
    policy: Policy,
    folder: str | Path,
    name: str,
    data: bytes,
    expected: str | None,
    *,
    append: bool,
) -> str:
    """Create, replace or lengthen a file; blocks. See `vr_kernel.Files.write`.

    Raises:
        VrError: see there.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise VrError(
            f"The content of a file is bytes, no {type(data).__name__}.",
            Code.INVALID_INPUT,
            hint="Encode a text: text.encode().",
        )
    try:
        with _opened(policy, folder, name, make=expected is None) as (place, last), locked(place):
            return _written(place, last, data, expected, append=append)
    except VrError as error:
        if expected is None or error.code is not Code.NOT_FOUND:
            raise
        raise _conflict(Path(folder, name), CHANGED) from error


def parse_name(name: str) -> list[str]:
    """The parts of a file's name inside a folder: such as `notes/a.md`.

    Raises:
        VrError: INVALID_INPUT, category NAME_INVALID, for a name that some system does not take,
            or that leads out of the folder.
    """
    parts = name.split("/")
    if len(name) > PATH_LIMIT or len(parts) > DEPTH_LIMIT or not all(map(_is_plain, parts)):
        raise VrError(
            f"No file can be named {spelled_out(name[:100])} here.",
            Code.INVALID_INPUT,
            category="NAME_INVALID",
            hint="Give a name inside the folder, such as notes/a.md, without signs that Windows"
            " reserves.",
        )
    return parts


def _is_plain(part: str) -> bool:
    bare = part.removeprefix(".")  # a hidden file is a file
    return bool(bare) and safe_name(bare) == unicodedata.normalize("NFC", bare)


@contextmanager
def _opened(
    policy: Policy, folder: str | Path, name: str, *, make: bool | None
) -> Iterator[tuple[OpenFolder, str]]:
    """The folder that directly holds the file, and the file's name in it.

    Missing folders are made with `make`; None when the file is only read.
    """
    from vr_kernel.storage.database_errors import unwritten
    from vr_kernel.storage.database_faults import is_full

    *inner, last = parse_name(name)
    root, real = policy.resolve_folder(folder)
    path = real.joinpath(*inner, last)
    if make is not None:
        policy.require_writable(path)
    try:
        with OpenFolder.at(root, real, inner, make=bool(make)) as place:
            yield place, last
    except OSError as error:
        if is_full(error):
            raise unwritten(spelled_out(path), real, error) from error
        raise (unwritable if make else unreadable)(path, error) from error


def _require_size(path: Path, size: int) -> None:
    if size > READ_BYTES:
        raise VrError(
            f"{spelled_out(path)} has more than {READ_BYTES:,} bytes.",
            Code.TOO_LARGE,
            hint="Split the file.",
        )


def _present(place: OpenFolder, name: str) -> os.stat_result | None:
    """The status of the file, None when it is not there yet; nothing else may have its name."""
    status = place.status(name)
    if status is not None:
        path = place.path / name
        if is_link(status):
            raise through_link(path)
        require_regular(path, status.st_mode)
    return status


def _written(
    place: OpenFolder, name: str, data: bytes, expected: str | None, *, append: bool
) -> str:
    path = place.path / name
    status = _present(place, name)
    if status is None and expected is not None:
        raise _conflict(path, CHANGED)
    if status is not None and expected is None and not append:
        raise _conflict(path, EXISTS)
    if status is not None and not status.st_mode & stat.S_IWUSR:
        raise unwritable(path, PermissionError(0, "it is read-only"))
    former = 0 if status is None else status.st_size
    _require_size(path, max(former, len(data) + former * append))
    digest = hashlib.sha256()
    with _temporary(place) as (temporary, file):
        if status is not None:
            for piece in _pieces(place, name, status):
                digest.update(piece)
                if append:
                    file.write(piece)
            if expected not in (None, digest.hexdigest()):
                raise _conflict(path, CHANGED)
            digest = digest if append else hashlib.sha256()
        file.write(data)
        digest.update(data)
        _finish(file, status)
        place.ensure_named(file.fileno(), temporary)
        _publish(place, temporary, name, status)
    place.sync()
    return digest.hexdigest()


@contextmanager
def _temporary(place: OpenFolder) -> Iterator[tuple[str, BinaryIO]]:
    """A new file, and the name that it has beside the one that is written; it is gone afterwards.

    Where it can be it has no name while it is filled: a killed writer leaves nothing.
    """
    name = f".part-{secrets.token_hex(8)}"
    descriptor = place.open_unnamed()
    if descriptor is None:
        descriptor = place.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield name, file
    finally:
        place.remove(name)


def _pieces(place: OpenFolder, name: str, status: os.stat_result) -> Iterator[bytes]:
    with os.fdopen(place.open(name, os.O_RDONLY), "rb") as old:
        if _stamp(os.fstat(old.fileno())) != _stamp(status):
            raise _conflict(place.path / name, CHANGED)
        while piece := old.read(PIECE):
            yield piece


def _finish(file: BinaryIO, status: os.stat_result | None) -> None:
    """Bring a file to the disk, with the permissions of the one that it replaces."""
    file.flush()
    if status is not None and hasattr(os, "fchmod"):
        os.fchmod(file.fileno(), status.st_mode & 0o777)
    os.fsync(file.fileno())


def _publish(place: OpenFolder, temporary: str, name: str, status: os.stat_result | None) -> None:
    """Give the new file its name, if what has that name is still what was read."""
    if status is None:
        try:
            place.settle(temporary, name)
        except FileExistsError:
            raise _conflict(place.path / name, EXISTS) from None
        return
    now = _present(place, name)
    if now is None or _stamp(now) != _stamp(status):
        raise _conflict(place.path / name, CHANGED)
    place.replace(temporary, name)


def _stamp(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ino


def _conflict(path: Path, category: str) -> VrError:
    changed = category == CHANGED
    happened = "is not the file that was read" if changed else "is there already"
    return VrError(
        f"{spelled_out(path)} {happened}.",
        Code.CONFLICT,
        category=category,
        hint="Read it again, and write with the digest of what was read.",
    )
