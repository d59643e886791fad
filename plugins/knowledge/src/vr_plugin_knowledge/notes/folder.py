"""The user's notes folder: records go into it as pages, and what people write there is found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vr_kernel import Call, Code, Services, VrError

from vr_plugin_knowledge.settings import KnowledgeSettings

if TYPE_CHECKING:
    from vr_plugin_knowledge.notes.reading import NoteReader
    from vr_plugin_knowledge.notes.writing import PageWriter


class Notes:
    """The notes folder of one kernel, for reading and writing. Its failures make no call fail.

    Args:
        writer: of pages.
        reader: of notes.
    """

    def __init__(self, writer: PageWriter, reader: NoteReader) -> None:
        self.writer = writer
        self.reader = reader

    async def aclose(self) -> None:
        """Stop the work in the background; the next call continues it."""
        await self.reader.aclose()


def build_notes(services: Services) -> Notes:
    """The notes folder of a kernel.

    Raises:
        VrError: INVALID_INPUT, category CONFIG_INVALID, when none is configured.
    """
    from vr_plugin_knowledge.notes.ledger import Ledger
    from vr_plugin_knowledge.notes.reading import NoteReader
    from vr_plugin_knowledge.notes.writing import PageWriter

    root = notes_folder(services)
    if root is None:
        raise VrError(
            "No notes folder is configured.",
            Code.INVALID_INPUT,
            category="CONFIG_INVALID",
            hint="Set notes_folder in [plugins.knowledge] to the folder's whole path.",
        )
    ledger = Ledger(services, root)
    return Notes(PageWriter(services, root, ledger), NoteReader(services, root, ledger))


def notes_folder(services: Services) -> Path | None:
    """The configured folder; None for none."""
    settings = services.settings
    folder = settings.notes_folder if isinstance(settings, KnowledgeSettings) else ""
    return Path(folder) if folder else None


async def read_notes(call: Call, remarks: list[str]) -> None:
    """Bring the store up to date with the user's notes, when there is a notes folder."""
    if notes_folder(call.services) is None:
        return
    if not await call.services.providers.get(Notes).reader.refresh():
        remarks.append("Your notes are still being read; some may not be found yet.")
