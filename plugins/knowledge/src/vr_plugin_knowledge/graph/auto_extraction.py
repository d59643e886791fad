"""Extracts concepts from new records, where that is turned on."""

from __future__ import annotations

from vr_kernel import CallFinished, Services

from vr_plugin_knowledge.graph.network import EXTRACTOR

MOST = 100
"""Records of one call that are read; more are left to `knowledge_extract`."""
BEHIND = 500
"""Changes of others that may lie between a call's records and its event."""


def may_extract(event: CallFinished) -> bool:
    """True for a call that made records, unless they are those of an extraction."""
    return event.records > 0 and event.tool != EXTRACTOR


async def extract_new(event: CallFinished, services: Services) -> None:
    """Start an extraction from the records of a call, in the name of its caller.

    It is a call of `knowledge_extract` in the background. When the program ends first, the next
    server continues it.
    """
    wanted = set(services.settings.graph_collections)
    count = event.records + BEHIND
    after = max(0, await services.journal.last_seq() - count)
    found = [
        change
        for change in await services.journal.changes(after, count, wanted)
        if change.fields is not None and change.provenance.get("call_id") == event.call_id
    ][:MOST]
    if found:
        await services.jobs.begin(
            EXTRACTOR,
            {
                "collections": sorted({change.kind for change in found}),
                "object_ids": [change.key for change in found],
                "limit": MOST,
            },
            event.principal,
        )
