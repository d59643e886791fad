"""The latest records of a kind, and those of them that words name."""

from __future__ import annotations

from vr_kernel import Change, Kernel, StoredRecord
from vr_kernel.views import Item, item_of, title_of

WINDOW = 1000
"""Changes that are looked through at first for the latest records; more each time."""
NAMED_AMONG = 5000
"""Latest records of a kind among which one is found by its name; it takes a third of a second."""


async def latest_records(kernel: Kernel, kind: str, count: int, before: int | None) -> list[Change]:
    """The latest records of a kind, the last first, looked for from the journal's end.

    Args:
        kernel: whose journal is read.
        kind: of records.
        count: most records.
        before: the number of a change; only records with a lower one.
    """
    end = (await kernel.services.journal.last_seq()) + 1 if before is None else before
    found: list[Change] = []
    window = WINDOW
    while end > 1 and len(found) < count:
        begin = max(end - 1 - window, 0)
        part = await _between(kernel, kind, begin, end)
        found += reversed(part)
        end, window = begin + 1, window * 2
    return found[:count]


def stored(change: Change) -> StoredRecord:
    """A record as a view takes it."""
    given = {"created_at": change.created_at, **(change.fields or {})}
    return StoredRecord(change.kind, change.key, given, change.provenance)


async def named_records(kernel: Kernel, kind: str, words: str) -> list[Item]:
    """The latest records of a kind with these words in their names, as lists have them."""
    declared, wanted = kernel.services.kinds.get(kind), words.casefold()
    latest = await latest_records(kernel, kind, NAMED_AMONG, None)
    return [
        item_of(declared, record)
        for record in map(stored, latest)
        if wanted in title_of(declared, record.fields, record.key)[0].casefold()
    ]


async def _between(kernel: Kernel, kind: str, after: int, before: int) -> list[Change]:
    services, found = kernel.services, []
    while page := await services.journal.changes(after, WINDOW, (kind,), services.workspace):
        found += [it for it in page if it.seq < before and it.fields is not None]
        after = page[-1].seq
        if len(page) < WINDOW or after >= before:
            break
    return found
