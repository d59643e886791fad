"""A record that was fetched, as its kind is shown."""

from __future__ import annotations

from dataclasses import replace

from vr_kernel import Services, StoredRecord
from vr_kernel.views import Block, File, Prose, View, view

from vr_plugin_knowledge.results import KnowledgeObject


@view(tool="knowledge_fetch")
async def show_object(services: Services, found: KnowledgeObject) -> View:
    """The record by the view of its kind, and the file with the rest of a long one."""
    if not found.found:
        return View(
            f"No such record in {found.collection}", [Prose("Nothing found.")], notes=found.notes
        )
    record = StoredRecord(found.collection, found.object_id, found.properties, found.provenance)
    made = await services.views.of_records([record])
    about = list(made.about)
    if found.versions > 1:
        about.append(f"version {found.version} of {found.versions}, 0 is the present one")
    whole: list[Block] = (
        [File(found.full, "application/json", title="The whole record")] if found.full else []
    )
    return replace(
        made, blocks=[*made.blocks, *whole], about=about, notes=[*made.notes, *found.notes]
    )
