"""Installations and their workspaces, as commands name them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vr_kernel import Code, VrError, did_you_mean

LISTED = 20
"""Most workspaces that a hint names."""


def journal_in(path: Path) -> Path:
    """The journal of a state folder, or the file itself."""
    return path / "journal.db" if path.is_dir() else path


def require_another(source: Path, own: Path) -> None:
    """Refuse a source that is this installation itself.

    Raises:
        VrError: INVALID_INPUT when its journal is `own`.
    """
    journal = journal_in(source)
    there = journal.exists() and own.exists()
    if journal.resolve() == own.resolve() or (there and journal.samefile(own)):
        raise VrError(
            f"{source} is the state folder of this installation.",
            Code.INVALID_INPUT,
            hint="Name that of another one, or a copy of it. From one workspace into another of the"
            " same installation: `vr knowledge export FILE --workspace NAME`, then"
            " `vr knowledge import FILE --format jsonl`.",
        )


def without_records(workspace: str, others: Mapping[str, int], of: str = "") -> VrError:
    """Return the error of a workspace without records; `others` counts those of each other one."""
    known = sorted(map(str, others), key=lambda name: (-others.get(name, 0), name))
    listed = ", ".join(f"{name} ({others.get(name, 0):,})" for name in known[:LISTED])
    more = f", and {len(known) - LISTED:,} more" if len(known) > LISTED else ""
    near = did_you_mean(workspace, known)
    return VrError(
        f"The workspace {workspace!r} has no records{of}.",
        Code.NOT_FOUND,
        hint=f"{near}Others with records: {listed}{more}." if known else "Nor has any other.",
    )
