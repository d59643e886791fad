"""A call of its own for each video of a batch: what it recorded is kept when it has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from vr_kernel import Call, Record, VrError, entity_key
from vr_kernel.call import ProgressReport


def item_call(call: Call, report: ProgressReport) -> Call:
    """A call that works for `call`, with records, costs and remarks of its own."""
    meter = call.meter.fresh()
    return replace(
        call,
        services=call.services.of_call(meter, call.scope),
        meter=meter,
        report=report,
        repeatable=True,
        records=[],
        notes=[],
        kept=[],
        held=[],
        shown=[],
        forgotten=[],
        recorded=0,
    )


async def commit_item(item: Call, video_id: str) -> None:
    """Journal what was recorded, then let the cache know the results they belong to.

    So whoever asks for the same video need not wait for the end of the batch, and two batches
    never wait for each other. The records get the keys that they would get once more, were the
    work done again after a crash.
    """
    services = item.services
    try:
        if item.records:
            await services.archive.add(list(_keyed(item, video_id)), origin=item.tool)
            item.recorded += len(item.records)
    except VrError as error:
        item.note(f"Not recorded: {error.message} {error.hint}")
        return
    for kept in item.kept:
        await services.cache.set(
            kept.key, kept.value, content_id=kept.content_id, tool=item.tool, model=kept.model
        )
    for lease in item.held:
        # Its steps are in the result now; were they found again, a cleared cache would not be.
        with suppress(VrError):
            await services.jobs.steps.forget(lease.name)


async def end_item(call: Call, item: Call) -> None:
    """Let others work on the same video, and account for what this one cost."""
    call.meter.add_all(item.meter)
    call.notes.extend(item.notes)
    call.recorded += item.recorded
    for lease in item.held:
        await asyncio.shield(item.services.jobs.leases.release(lease))


def _keyed(item: Call, video_id: str) -> Iterator[Record]:
    origin = {"plugin": item.meter.plugin, "call_id": item.id, "principal": item.principal}
    counts: dict[str, int] = {}
    for record in item.records:
        number = counts[record.kind] = counts.get(record.kind, 0) + 1
        known = record.key or item.services.kinds[record.kind].identify(record.fields)
        key = known or entity_key(item.id, record.kind, video_id, number)
        yield replace(record, key=key, provenance={**record.provenance, **origin})
