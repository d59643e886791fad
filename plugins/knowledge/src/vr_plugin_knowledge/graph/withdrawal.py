"""Removes citations from the graph when the cited records are deleted."""

from __future__ import annotations

from collections.abc import Iterable

from vr_kernel import Call

from vr_plugin_knowledge.graph.follower import Networks
from vr_plugin_knowledge.graph.merging import Merger


async def withdraw_citations(call: Call, records: Iterable[tuple[str, str]]) -> None:
    """Remove records, by collection and key, from all citations when the tool succeeds.

    Entries that no other record supports, and nobody wrote or rated, are deleted with them.
    """
    async with call.services.providers.get(Networks).current(call.workspace) as network:
        merger = Merger(network)
        for record in records:
            merger.withdraw(record)
        call.record(*merger.records())
        for kind, key in merger.forgotten():
            call.forget(kind, key)
