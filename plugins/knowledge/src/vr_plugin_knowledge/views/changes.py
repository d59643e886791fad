"""Records that were made or deleted."""

from __future__ import annotations

from vr_kernel import Services, visible_line
from vr_kernel.views import (
    Block,
    Facts,
    Item,
    Prose,
    Records,
    View,
    shown_instant,
    title_of,
    titled,
    view,
)

from vr_plugin_knowledge.results import ForgottenRecord, KnowledgeForgotten, KnowledgeIngested
from vr_plugin_knowledge.views.items import read_fields
from vr_plugin_knowledge.views.places import name_of_source

_TITLES = {
    "deleted": "Deleted",
    "dry_run": "Would be deleted",
    "not_confirmed": "Not deleted",
    "nothing_found": "Nothing to delete",
}


@view(tool="knowledge_ingest")
async def show_ingested(services: Services, made: KnowledgeIngested) -> View:
    """The number of records that were made, and their ids, each once."""
    keys, kind = list(dict.fromkeys(made.object_ids)), services.kinds.get(made.collection)
    count, again = len(keys), len(made.object_ids) - len(keys)
    items = []
    for key in keys:
        fields = await read_fields(services, made.collection, key, {})
        items.append(Item(title_of(kind, fields)[0], id=f"{made.collection}/{key}"))
    about = [made.collection, *(["derived, no evidence"] if made.derived else [])]
    if again:
        of = f"{again} of them for the same record as another"
        about.append(f"{len(made.object_ids)} objects were given, {of}")
    title = "1 record was made" if count == 1 else f"{count} records were made"
    return View(title, [Records(items, count)], about)


@view(tool="knowledge_forget")
async def show_forgotten(services: Services, gone: KnowledgeForgotten) -> View:
    """Records that are gone or would be: counts, some by name, and ids that were not found."""
    del services
    count = f": {gone.count:,} {'record' if gone.count == 1 else 'records'}" if gone.count else ""
    blocks: list[Block] = []
    if len(gone.collections) > 1:
        blocks.append(Facts([(each.collection, each.count) for each in gone.collections]))
    if gone.examples:
        items = [_item(each) for each in gone.examples]
        blocks.append(Records(items, gone.count))
    if gone.not_found:
        names = "\n".join(f"- {visible_line(each)}" for each in gone.not_found)
        blocks.append(Prose(names, title="Not found"))
    about = [f"{gone.remaining:,} more fit"] if gone.remaining else []
    return View(f"{_TITLES[gone.status]}{count}", blocks, about, notes=gone.notes)


def _item(gone: ForgottenRecord) -> Item:
    facts = [shown_instant(gone.created_at), name_of_source(gone.source)]
    title = visible_line(gone.title) or titled(gone.collection)
    return Item(title, facts=list(filter(None, facts)), id=f"{gone.collection}/{gone.object_id}")
