"""Exports records to a file: complete, private, and never an empty file over a full one."""

from __future__ import annotations

import json
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from vr_kernel import Code, VrError, private_file
from vr_kernel.storage import is_full, unwritten

from vr_plugin_knowledge.transfer.installations import without_records

if TYPE_CHECKING:
    from vr_kernel import Change, Kernel


async def export_rows(
    kernel: Kernel, path: Path, collections: tuple[str, ...], workspace: str
) -> dict[str, int]:
    """Write the records of a workspace to a file; returns how many of each collection.

    Raises:
        VrError: NOT_FOUND when another workspace than the kernel's has no records at all, or when
            there are none and the file is not empty; UNAVAILABLE while the journal lacks records;
            NOT_ALLOWED or UNAVAILABLE when the file cannot be written. An existing file stays
            unchanged each time.
    """
    target, archive = _target(path), kernel.services.archive

    async def refusal(counts: Mapping[str, int]) -> VrError | None:
        if refused := kernel.services.journal.continuity.refusal:
            return refused.reworded(f"{refused.message} Nor was anything exported.", refused.hint)
        if counts:
            return None
        others = await archive.elsewhere((), workspace)
        own = kernel.config.store.workspace
        if workspace != own and workspace not in await archive.elsewhere():
            return without_records(workspace, others)
        if target.exists() and target.stat().st_size:
            return _nothing(target, workspace, collections, others)
        return None

    return await _write(target, archive.records(collections, workspace), refusal)


def _target(path: Path) -> Path:
    """The file that a path names; for a link its target, so that the link stays."""
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise VrError(
            f"{path} is no plain file.", Code.INVALID_INPUT, hint="Name a file, or a new one."
        )
    return path


def _nothing(
    path: Path, workspace: str, collections: tuple[str, ...], others: Mapping[str, int]
) -> VrError:
    of = f" of {', '.join(collections)}" if collections else ""
    error = without_records(workspace, others, of)
    return error.reworded(
        f"{error.message} {path} holds something and stays as it is.",
        f"{error.hint} To have an empty file, name a new one.".strip(),
    )


def _put(part: Path, path: Path) -> None:
    """Replace a file by another one, which gets its mode."""
    with suppress(FileNotFoundError):
        part.chmod(stat.S_IMODE(path.stat().st_mode))
    part.replace(path)


async def _write(
    path: Path,
    changes: AsyncIterator[Change],
    refusal: Callable[[Mapping[str, int]], Awaitable[VrError | None]],
) -> dict[str, int]:
    """Write a temporary file first, so that a failure leaves the old file, with its mode."""
    counts: dict[str, int] = {}
    part = path.with_name(f".{path.name}.part")
    try:
        part.unlink(missing_ok=True)
        with private_file(part).open("w", encoding="utf-8") as file:
            async for change in changes:
                row = {
                    "collection": change.kind,
                    "object_id": change.key,
                    "properties": {"created_at": change.created_at, **(change.fields or {})},
                    "provenance": change.provenance,
                }
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                counts[change.kind] = counts.get(change.kind, 0) + 1
        if refused := await refusal(counts):
            raise refused
        _put(part, path)
    except OSError as error:
        if is_full(error):
            raise unwritten(str(path), path.parent, error) from error
        raise VrError(
            f"{path} cannot be written: {error.strerror}.",
            Code.NOT_ALLOWED,
            hint="Name a file in a folder that exists and may be written.",
        ) from error
    finally:
        with suppress(OSError):  # a file that could not be made need not be removed
            part.unlink(missing_ok=True)
    return counts
