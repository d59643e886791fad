"""Manifests: the state of a folder at its last reading, by which it is recognised again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel
from vr_kernel.files import Policy

from vr_plugin_content.folders.listing import FileStamp, Listing
from vr_plugin_content.folders.opened_folder import OpenedFolder, opened_folder
from vr_plugin_content.folders.walker import folder_stamp, stamp_behind


class Manifest(BaseModel):
    """The state of a folder, and the digests of its files, in a form that is quickly compared.

    Attributes:
        trusted: whether the same state means the same contents: no change was so recent that
            another one could bear the same time, and the reading ended in time.
        table: of folders and files as JSON, in columns; see `manifest_of`.
    """

    trusted: bool
    table: str


class Changes(NamedTuple):
    """Paths of files that differ between two readings; only the first two are parsed again."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


def manifest_of(listing: Listing, digests: Mapping[str, str]) -> Manifest:
    """Keep a listing, and the digests of its files by their paths.

    The files stand in the order of the folders, each folder with how many are in it.
    """
    seen = {it.path: it for it in (*listing.watched, *listing.files)}
    inside: dict[str, list[FileStamp]] = {folder.path: [] for folder in listing.folders}
    for stamp in (it for it in seen.values() if it.path not in listing.links):
        inside[stamp.path.rpartition("/")[0]].append(stamp)
    rows = [stamp for stamps in inside.values() for stamp in stamps]
    known = {it.path: digests[it.path] for it in listing.files if it.path in digests}
    table = {
        "folders": [[*it, len(inside[it.path])] for it in listing.folders],
        "names": [it.path.rpartition("/")[2] for it in rows],
        "sizes": [it.size for it in rows],
        "mtimes": [it.mtime_ns for it in rows],
        "inodes": [it.inode for it in rows],
        "links": [[path, *(it[1:] if it else ())] for path, it in listing.links.items()],
        "digests": known,
        "recent": [it.path for it in listing.files if listing.is_recent(it.mtime_ns)],
    }
    text = json.dumps(table, separators=(",", ":"), ensure_ascii=False)
    return Manifest(trusted=_is_trusted(listing), table=text)


def unchanged(policy: Policy, folder: str | Path, manifest: Manifest) -> bool:
    """True for a folder in the state of a manifest, which is looked at without a walk; blocks.

    Raises:
        VrError: as `list_files`, for the folder itself.
    """
    if not manifest.trusted:
        return False
    table = _table(manifest)
    with opened_folder(policy, folder) as (real, opened):
        if any(_behind(policy, real, path) != rest for path, *rest in table["links"]):
            return False
        return _same(opened, table)


def digest(manifest: Manifest) -> str:
    """Return the identity of what the files of a folder hold, see `content_digest`."""
    return content_digest(digests_of(manifest))


def content_digest(digests: Mapping[str, str]) -> str:
    """Return one SHA-256 of files by their paths and their own digests, in hexadecimal."""
    found = hashlib.sha256()
    for path in sorted(digests):
        if digests[path]:
            found.update(f"{path}\0{digests[path]}\n".encode())
    return found.hexdigest()


def digests_of(manifest: Manifest) -> dict[str, str]:
    """Return the SHA-256 of each file by its path; empty for one that turned out to be binary."""
    found: dict[str, str] = _table(manifest)["digests"]
    return found


def known_digests(manifest: Manifest, listing: Listing) -> dict[str, str]:
    """Return the digests of those files of a new listing that are as they were."""
    table = _table(manifest)
    recent, digests = set(table["recent"]), table["digests"]
    before = {it.path: it for it in _stamps(table)}
    return {
        it.path: digests[it.path]
        for it in listing.files
        if before.get(it.path) == it and it.path in digests and it.path not in recent
    }


def changes_of(before: Mapping[str, str], after: Mapping[str, str]) -> Changes:
    """Compare the digests of two readings."""
    both = before.keys() & after.keys()
    return Changes(
        added=tuple(sorted(after.keys() - both)),
        changed=tuple(sorted(path for path in both if before[path] != after[path])),
        removed=tuple(sorted(before.keys() - both)),
    )


def _table(manifest: Manifest) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(manifest.table)
    return found


def _is_trusted(listing: Listing) -> bool:
    times = [it.mtime_ns for it in (*listing.files, *listing.watched)]
    times += [it.mtime_ns for it in listing.links.values() if it is not None]
    # A folder's mtime can be set back; its ctime cannot, and follows each change of a name.
    times += [it.ctime_ns for it in listing.folders]
    return listing.in_time and not any(map(listing.is_recent, times))


def _stamps(table: Mapping[str, Any]) -> Iterator[FileStamp]:
    columns = zip(table["names"], table["sizes"], table["mtimes"], table["inodes"], strict=True)
    for path, *_, count in table["folders"]:
        prefix = f"{path}/" if path else ""
        for _ in range(count):
            name, *rest = next(columns)
            yield FileStamp(prefix + name, *rest)
    yield from (FileStamp(*link) for link in table["links"] if len(link) > 1)


def _behind(policy: Policy, real: Path, path: str) -> list[int]:
    found = stamp_behind(policy, real, path)
    return list(found[1:]) if found else []


def _same(top: OpenedFolder, table: Mapping[str, Any]) -> bool:
    """Compare each folder, and the files in it, with what is there now.

    A folder comes after the one that holds it, so the open ones are a path from the top.
    """
    rows = zip(table["names"], table["sizes"], table["mtimes"], table["inodes"], strict=True)
    path_to = [("", top)]
    try:
        for path, *stamp, count in table["folders"]:
            folder = _reached(path_to, path) if path else top
            if list(folder_stamp(path, folder.status(""))[1:]) != stamp:
                return False
            if not _same_files(folder, rows, count):
                return False
    except OSError:  # something is gone, or closed
        return False
    finally:
        for _, folder in path_to[1:]:
            folder.close()
    return True


def _reached(path_to: list[tuple[str, OpenedFolder]], path: str) -> OpenedFolder:
    """Open a folder from the one that holds it, and close those that are left behind."""
    above, _, name = path.rpartition("/")
    while path_to[-1][0] != above:
        path_to.pop()[1].close()
    inner = path_to[-1][1].enter(name)
    path_to.append((path, inner))
    return inner


def _same_files(
    folder: OpenedFolder, rows: Iterable[tuple[str, int, int, int]], count: int
) -> bool:
    status: Callable[..., os.stat_result] = os.stat
    handle, prefix = folder.handle, folder.prefix
    for name, size, mtime_ns, inode in islice(rows, count):
        found = status(prefix + name, dir_fd=handle, follow_symlinks=False)
        if found.st_mtime_ns != mtime_ns or found.st_size != size or found.st_ino != inode:
            return False
    return True
