"""Samples for the contract of stores: two kinds, a history of changes, questions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vr_kernel.records import Change, RecordField, RecordKind
from vr_kernel.stores import Filter, Hit, Query, SearchMode, Store

from vr_testing.contracts.outcomes import SOON_S
from vr_testing.words import WordEmbedder

PAUSE_S = 0.01
"""Seconds between two polls of a store that makes vectors."""
NOTES = RecordKind(
    "ContractNotes",
    "Notes with a field of every type.",
    (
        RecordField("title", vectorised=True, searchable=True),
        RecordField("text", vectorised=True, searchable=True),
        RecordField("source", filterable=True),
        RecordField("tags", "text[]", searchable=True, filterable=True),
        RecordField("stars", "int", filterable=True, range=True),
        RecordField("start", "number", filterable=True, range=True),
        RecordField("done", "bool", filterable=True),
        RecordField("due", "date", filterable=True, range=True),
        RecordField("raw"),
    ),
    rerank="text",
)
CARDS = RecordKind(
    "ContractCards",
    "Cards with a text and a drawer.",
    (
        RecordField("text", vectorised=True, searchable=True),
        RecordField("drawer", filterable=True),
    ),
    rerank="text",
)


@dataclass(slots=True)
class History:
    """Changes as a journal delivers them, with rising sequence numbers."""

    changes: list[Change] = field(default_factory=list)

    def write(
        self,
        kind: RecordKind,
        key: str,
        fields: Mapping[str, Any] | None,
        workspace: str = "default",
    ) -> Change:
        """Add a state of a record; None deletes it."""
        seq = len(self.changes) + 1
        change = Change(
            seq=seq,
            workspace=workspace,
            kind=kind.name,
            key=key,
            fields=None if fields is None else kind.validate(fields),
            provenance={"tool": "contract_write", "call_id": f"c{seq}"},
            created_at=f"2026-01-01T00:00:00.{seq:06d}+00:00",
        )
        self.changes.append(change)
        return change

    def cards(self, **texts: str) -> None:
        """Add cards by key and text."""
        for key, text in texts.items():
            self.write(CARDS, key, {"text": text})

    async def deliver(self, store: Store) -> None:
        """Apply the changes after the store's cursor, as a kernel does; wait for its vectors."""
        cursor = await store.cursor()
        if missing := [change for change in self.changes if change.seq > cursor]:
            await store.apply(missing)
        await settle(store)


async def settle(store: Store) -> None:
    """Wait until a store finds by meaning all that it finds by keyword."""
    probe = await ask("anything", "semantic")
    async with asyncio.timeout(SOON_S):
        while await store.pending_vectors():
            await store.search(probe)
            await asyncio.sleep(PAUSE_S)


async def ask(text: str, mode: SearchMode = "keyword", *filters: Filter, **how: Any) -> Query:
    """A search query, with its vector unless it is by keyword only."""
    vector = None
    if mode != "keyword":
        (vector,) = await WordEmbedder().embed([text], "query")
    return Query(text, vector, mode, filters=filters, **how)


async def found(
    store: Store, text: str, mode: SearchMode = "keyword", *filters: Filter, **how: Any
) -> list[str]:
    """The keys of the records that answer a question, best first."""
    return keys(await store.search(await ask(text, mode, *filters, **how)))


def keys(hits: list[Hit]) -> list[str]:
    """The keys of hits, in their order."""
    return [hit.record.key for hit in hits]
