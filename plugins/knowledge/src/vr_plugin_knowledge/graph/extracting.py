"""Extraction: a model reads records, and its findings are merged into the graph."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from vr_kernel import Call, Code, RecordKind, VrError

from vr_plugin_knowledge.graph.follower import Networks
from vr_plugin_knowledge.graph.identity import CONCEPTS, EDGES
from vr_plugin_knowledge.graph.merging import Merger
from vr_plugin_knowledge.graph.reading import Reading, Source, read
from vr_plugin_knowledge.graph.results import KnowledgeExtracted, Unread
from vr_plugin_knowledge.graph.selection import Selection, Wanted, select

AT_ONCE = 4
LEASE = "knowledge/graph"
PATIENCE_S = 10.0
HOPELESS = {Code.AUTH, Code.BUDGET, Code.QUOTA}
"""Errors that the next record would run into as well."""


async def extract(
    call: Call,
    kinds: Sequence[RecordKind],
    source: str | None,
    object_ids: Sequence[str] | None,
    limit: int,
) -> KnowledgeExtracted:
    """Read the chosen records, paying for at most `limit`, and record their concepts.

    Raises:
        VrError: the first failure when nothing could be read.
    """
    material = {kind.name: kind for kind in kinds if kind.name not in (CONCEPTS, EDGES)}
    networks = call.services.providers.get(Networks)
    async with networks.current(call.workspace) as network:
        chosen = await select(call, Wanted(material, source, object_ids), network, limit)
    read_now, failed, spared = await _read_all(call, chosen.sources)
    await own_graph(call)
    async with networks.current(call.workspace) as network:
        merger = Merger(network)
        for each, reading in read_now:
            merger.add(each, reading)
        result = _result(chosen, merger, [reading for _, reading in read_now])
    for kind, key in merger.forgotten():
        call.forget(kind, key)
    call.record(*merger.records(), essential=True)
    result.failed, result.remaining = failed, chosen.remaining + spared
    if not (read_now or failed or chosen.known):
        result.notes.append("No such record has text to read.")
    return result


async def _read_all(
    call: Call, sources: list[Source]
) -> tuple[list[tuple[Source, Reading]], list[Unread], int]:
    """Read the sources; returns readings, failures, and the number skipped as hopeless.

    Raises:
        VrError: the first failure when nothing was read.
    """
    done: list[tuple[Source, Reading]] = []
    errors: list[tuple[Source, VrError]] = []
    for start in range(0, len(sources), AT_ONCE):
        call.progress(start, len(sources), "Reading records for concepts")
        batch = sources[start : start + AT_ONCE]
        for source, outcome in zip(batch, await _read_batch(call, batch), strict=True):
            if isinstance(outcome, VrError):
                errors.append((source, outcome))
            else:
                done.append((source, outcome))
        if any(error.code in HOPELESS for _, error in errors):
            break
    call.progress(len(sources), len(sources), "Merging what was found")
    if errors and not done:
        raise errors[0][1]
    failed = [
        Unread(
            collection=source.citation.collection,
            object_id=source.citation.object_id,
            error=error.message,
        )
        for source, error in errors
    ]
    return done, failed, len(sources) - len(done) - len(errors)


async def _read_batch(call: Call, batch: list[Source]) -> list[Reading | VrError]:
    async def attempt(source: Source) -> Reading | VrError:
        try:
            return await read(call, source)
        except VrError as error:
            return error

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(attempt(source)) for source in batch]
    return [task.result() for task in tasks]


async def own_graph(call: Call) -> None:
    """Be the only process that adds to the graph until this call's records are journalled.

    After waiting in vain it goes on: paid results are worth more than a citation by another
    process.
    """
    await call.own(LEASE, patience_s=PATIENCE_S)


def _result(chosen: Selection, merger: Merger, readings: list[Reading]) -> KnowledgeExtracted:
    new_concepts, new_relationships = merger.new()
    paid = [reading for reading in readings if not reading.cached]
    return KnowledgeExtracted(
        records_read=len(paid),
        already_read=chosen.known + len(readings) - len(paid),
        remaining=chosen.remaining,
        concepts=len(merger.concepts),
        new_concepts=new_concepts,
        relationships=len(merger.relations),
        new_relationships=new_relationships,
        dropped=sum(reading.dropped for reading in paid),
    )
