"""Checks of the folders: writable, with room, and on a file system that SQLite can use."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path

from vr_kernel.config.paths import Paths
from vr_kernel.health import Check, Diagnosis
from vr_kernel.storage.database_faults import CLEAN, is_full
from vr_kernel.storage.database_health import journal_mode
from vr_kernel.storage.read_only import has_room

MB = 1_000_000
FAULT_BELOW, WARN_BELOW = 50 * MB, 1_000 * MB
"""Free bytes: below the first nothing can be recorded, below the second a video may not fit."""
PROBE = ".vr-doctor-"
NO_ROOM = "there is no room; see the free space."


def folder_checks(paths: Paths) -> list[Check]:
    """The checks of the three folders and their disk."""
    named = {"state": paths.state, "cache": paths.cache, "configuration": paths.config}
    writable = [Check(f"{n} folder", partial(writes, n, folder)) for n, folder in named.items()]
    return [
        *writable,
        Check("free space", lambda: room(paths)),
        Check("write-ahead log", lambda: write_ahead(paths.state)),
        Check("files set aside", lambda: set_aside([paths.state, paths.cache])),
    ]


def writes(name: str, folder: Path) -> Diagnosis:
    """Check that a file can be made in the folder; a folder that is missing is not made."""
    fix = f"Make {folder} a folder you may write to, or set VR_{_variable(name)}_DIR to another."
    place = nearest(folder)
    if not place.is_dir():
        return Diagnosis.fault(f"{place} is in the place of a folder.", fix)
    if place != folder:
        if os.access(place, os.W_OK | os.X_OK):
            return Diagnosis.ok(f"{folder} is made when it is needed.")
        return Diagnosis.fault(f"{folder} cannot be made: {place} is not writable.", fix)
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=PROBE) as probe:
            probe.write(b"probe")
    except OSError as error:
        if is_full(error):
            return Diagnosis.ok(f"Not tried: {NO_ROOM}")
        return Diagnosis.fault(f"{folder} cannot be written: {error.strerror}.", fix)
    return Diagnosis.ok(f"{folder} is writable.")


def room(paths: Paths) -> Diagnosis:
    """Check the folders for any room at all, then for enough of it."""
    named = dict.fromkeys([paths.state, paths.cache, paths.config])
    full = [str(folder) for folder in named if not has_room(nearest(folder))]
    if not full:
        return free_space([paths.state, paths.cache])
    what = f"There is no room in {', '.join(full)}: nothing can be recorded or paid for."
    return Diagnosis.fault(what, f"{CLEAN} What is there is not lost.")


def free_space(folders: list[Path]) -> Diagnosis:
    """Check that there is room for records and artifacts."""
    free, folder = min((shutil.disk_usage(nearest(it)).free, str(it)) for it in folders)
    text = f"{free // MB:,} MB are free for {folder}."
    fix = "Free some space; `vr clean --dry-run` shows what this program can do without."
    if free < FAULT_BELOW:
        return Diagnosis.fault(text, fix)
    return Diagnosis.warning(text, fix) if free < WARN_BELOW else Diagnosis.ok(text)


def write_ahead(state: Path) -> Diagnosis:
    """Check that SQLite can share a file among processes; on many network drives it cannot."""
    place = nearest(state)
    if not place.is_dir() or not os.access(place, os.W_OK):
        return Diagnosis.ok("Not tried: the state folder is not writable.")
    if not has_room(place):
        return Diagnosis.ok(f"Not tried: {NO_ROOM}")
    with tempfile.TemporaryDirectory(dir=place, prefix=PROBE, ignore_cleanup_errors=True) as made:
        mode = journal_mode(Path(made) / "probe.db")
    if mode == "wal":
        return Diagnosis.ok("SQLite can share files among processes in the state folder.")
    return Diagnosis.fault(
        f"SQLite cannot share files in the state folder: {mode}.",
        "Set VR_STATE_DIR to a folder on a local disk.",
    )


def set_aside(folders: list[Path]) -> Diagnosis:
    """Check for damaged files that were replaced at some time."""
    kept: list[Path] = []
    for folder in folders:
        with suppress(OSError):
            kept += sorted(folder.glob("*.damaged-*"))
    if not kept:
        return Diagnosis.ok("No damaged file was set aside.")
    size = sum(path.stat().st_size for path in kept)
    return Diagnosis.warning(
        f"Damaged files that were set aside: {len(kept)} ({size / MB:.1f} MB), such as {kept[0]}.",
        "Check the disk; `vr clean --damaged` removes them.",
    )


def nearest(path: Path) -> Path:
    """The path itself, or the nearest folder or file above it that exists."""
    while not os.path.lexists(path) and path != path.parent:
        path = path.parent
    return path


def _variable(name: str) -> str:
    return {"configuration": "CONFIG"}.get(name, name.upper())
