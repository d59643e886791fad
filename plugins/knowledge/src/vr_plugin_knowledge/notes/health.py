"""Checks of `vr doctor`: the notes folder can be written and read."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from vr_kernel import Check, Diagnosis, Services

from vr_plugin_knowledge.notes.folder import notes_folder
from vr_plugin_knowledge.notes.ledger import FORMER, Ledger
from vr_plugin_knowledge.notes.writing import read_pages

MOST = 5000
"""Most pages that are counted."""


def notes_checks(services: Services) -> list[Check]:
    """The check of the notes folder, when there is one. It writes nothing."""
    root = notes_folder(services)
    if root is None:
        return []

    async def examine() -> Diagnosis:
        found = await asyncio.to_thread(folder, root)
        return found or await _behind(services, root)

    return [Check("notes folder", examine)]


def folder(root: Path) -> Diagnosis | None:
    """Describe what is wrong with the folder itself; None for nothing."""
    if not root.is_dir():
        return Diagnosis.warning(
            f"The notes folder {root} is missing.",
            "Make it, or set notes_folder in [plugins.knowledge]; what is missing is then written.",
        )
    if not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        return Diagnosis.warning(
            f"The notes folder {root} may not be read and written.", "Check its permissions."
        )
    return None


async def _behind(services: Services, root: Path) -> Diagnosis:
    former, waiting = services.paths.state / FORMER, 0
    if former.exists():
        return Diagnosis.ok(f"The next call takes over {former}, of an earlier version.")
    if services.paths.journal.exists():
        cursor = await Ledger(services, root).cursor()
        waiting = len(await read_pages(services, cursor, MOST))
    if not waiting:
        return Diagnosis.ok(f"{root} has all that was recorded.")
    return Diagnosis.warning(
        f"Records that are not in the notes folder {root} yet: {waiting}.",
        "`vr knowledge notes sync` writes them, or says why not; so does the next call.",
    )
