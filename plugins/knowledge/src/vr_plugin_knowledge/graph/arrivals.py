"""Has what was just recorded read for concepts, where that is turned on."""

from __future__ import annotations

from vr_kernel import CallFinished, Services

from vr_plugin_knowledge.tools.extract import knowledge_extract

MOST = 100
"""Records of one call that are read; more are left to `knowledge_extract`."""
BEHIND = 500
"""Changes of others that may have come in between a call's records and the news of it."""


def is_to_be_read(event: CallFinished) -> bool:
    """True for a call that may have recorded what is to be read; results of reading are not."""
    return event.records > 0 and event.tool != knowledge_extract.__name__


async def read_arrivals(event: CallFinished, services: Services) -> None:
    """Begin to read the records of a call, in the name of who called.

    It is a call of `knowledge_extract` in the background. Where the program ends before, the
    next server goes on with it.
    """
    wanted = set(services.settings.graph_collections)
    count = event.records + BEHIND
    after = max(0, await services.journal.last_seq() - count)
    found = [
        change
        for change in await services.journal.changes(after, count)
        if change.kind in wanted
        and change.fields is not None
        and change.provenance.get("call_id") == event.call_id
    ][:MOST]
    if found:
        services.jobs.begin(
            knowledge_extract.__name__,
            {
                "collections": sorted({change.kind for change in found}),
                "object_ids": [change.key for change in found],
                "limit": MOST,
            },
            event.principal,
        )
