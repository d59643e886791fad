"""Checks of the machine: interpreter, text encoding, files, clock, SQLite, and `vr` on the PATH."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sqlite3
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from vr_kernel import VERSION, Check, Diagnosis
from vr_kernel.config import find_paths
from vr_kernel.loading import KERNEL_DISTRIBUTION

OLDEST, NEWEST = (3, 11), (3, 14)
"""Oldest and newest Python that every release is tested on."""
OLDEST_SQLITE = (3, 35, 0)
"""The first version with RETURNING."""
FEW_FILES = 256
SECONDS_OF_SKEW = 300
RELEASED = datetime(2026, 11, 1, tzinfo=UTC)
"""The program is newer than this; a clock that shows an earlier time is wrong."""


def environment_checks(environ: Mapping[str, str]) -> list[Check]:
    """The checks of the machine; `environ` names the folder whose files have times to compare."""
    return [
        Check("python", python_version),
        Check("kernel", kernel_version),
        Check("text encoding", text_encoding),
        Check("open files", open_files),
        Check("sqlite", sqlite_features),
        Check("command", command_on_path),
        Check("clock", lambda: clock(find_paths(environ).state)),
    ]


def python_version() -> Diagnosis:
    """Check that this Python is one that releases are tested on."""
    running = sys.version_info[:2]
    text = f"Python {sys.version.split()[0]} at {sys.executable}."
    if OLDEST <= running <= NEWEST:
        return Diagnosis.ok(text)
    return Diagnosis.warning(
        f"{text} Releases are not tested on it.",
        f"Use Python {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}.",
    )


def kernel_version() -> Diagnosis:
    """Check that the running code is the installed version."""
    try:
        installed = importlib.metadata.version(KERNEL_DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return Diagnosis.warning(
            f"{KERNEL_DISTRIBUTION} {VERSION} runs, but is not installed.",
            "Install it: pip install video-research",
        )
    if installed == VERSION:
        return Diagnosis.ok(f"{KERNEL_DISTRIBUTION} {VERSION}.")
    return Diagnosis.warning(
        f"The code is {VERSION}, but {KERNEL_DISTRIBUTION} {installed} is installed.",
        "Install it again: pip install --force-reinstall vr-kernel",
    )


def text_encoding() -> Diagnosis:
    """Check that file names and output may hold any character."""
    files, output = sys.getfilesystemencoding(), sys.stdout.encoding or "none"
    text = f"Names of files: {files}; output: {output}."
    if all(name.lower().replace("-", "") == "utf8" for name in (files, output)):
        return Diagnosis.ok(text)
    return Diagnosis.warning(text, "Set PYTHONUTF8=1, or a locale of UTF-8 such as LANG=C.UTF-8.")


def open_files() -> Diagnosis:
    """Check that a busy server may open enough files and connections."""
    try:
        import resource
    except ImportError:
        return Diagnosis.ok("This system sets no limit that matters.")
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit == resource.RLIM_INFINITY or limit >= FEW_FILES:
        return Diagnosis.ok("A process may open enough files.")
    return Diagnosis.warning(
        f"A process may open {limit} files only.", "Raise it before starting: ulimit -n 1024"
    )


def sqlite_features() -> Diagnosis:
    """Check that SQLite has the features that the journal and the store need."""
    text = f"SQLite {sqlite3.sqlite_version}"
    other = "Use a Python that was built with a newer SQLite, such as one of `uv python install`."
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        return Diagnosis.fault(f"{text} is too old.", other)
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5 (word)")
    except sqlite3.Error:
        return Diagnosis.fault(f"{text} has no full-text search (FTS5).", other)
    finally:
        connection.close()
    return Diagnosis.ok(f"{text} with full-text search.")


def command_on_path() -> Diagnosis:
    """Check that a client that starts `vr` by its name finds it."""
    for name in ("vr", "video-research"):
        if found := shutil.which(name):
            return Diagnosis.ok(f"{name} is {found}.")
    uvx = " or `uvx video-research serve`" if shutil.which("uvx") else ""
    return Diagnosis.warning(
        "No vr on PATH: a client that starts it by name does not find it.",
        f"Add {Path(sys.executable).parent} to PATH, or let clients start"
        f" `{sys.executable} -P -m vr_cli serve`{uvx}.",
    )


def clock(state: Path) -> Diagnosis:
    """Check that the clock can be right: leases, caches and budgets depend on it."""
    now = time.time()
    fix = "Set the clock of this machine, best by NTP."
    shown = datetime.fromtimestamp(now, UTC).isoformat(" ", "seconds")
    if now < RELEASED.timestamp():
        return Diagnosis.fault(f"The clock says {shown}, before this program was made.", fix)
    files = [entry for entry in _entries(state) if entry.is_file()]
    late = [entry.name for entry in files if entry.stat().st_mtime > now + SECONDS_OF_SKEW]
    if late:
        what = f"The clock says {shown}, but {late[0]} was written later than that."
        return Diagnosis.warning(what, fix)
    return Diagnosis.ok(f"The clock says {shown}.")


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
