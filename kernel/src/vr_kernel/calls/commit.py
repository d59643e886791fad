"""The commit of what a call produced: journalled, then cached, and its leases given back."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from vr_kernel.errors import VrError
from vr_kernel.jobs.lease import lease_lost
from vr_kernel.text.bounds import said

if TYPE_CHECKING:
    from pathlib import Path

    from vr_kernel.calls.produced import CacheWrite, Produced
    from vr_kernel.files.artifacts import Artifact
    from vr_kernel.jobs.lease import Lease
    from vr_kernel.state.call_end import CachePut, CallEnd
    from vr_kernel.state.entries import Entry


async def commit(produced: Produced, part: str = "") -> int:
    """Journal the records of a call, then cache the results they belong to.

    Returns how many records are in the journal now.

    Args:
        produced: by the call.
        part: tells records without a key apart from those of other parts of the same call.

    Raises:
        VrError: CONFLICT, category LEASE_LOST, when another process has the job by now; UNAVAILABLE
            when the journal cannot be written and the call's records are essential; otherwise that
            is noted. INTERNAL for a kind or a key that is no text.
        ValueError: for a result that no cache can keep.
    """
    if produced.meter.foreseen is not None:  # nothing was made
        return 0
    dump([write.value for write in produced.cache_writes]).encode()  # fails if not cacheable
    entries = []
    if produced.records or produced.deletions:
        from vr_kernel.calls.entries import entries_of, pinned_by

        entries = entries_of(produced, part)
        if needed := pinned_by(entries, produced.context.kinds):
            await asyncio.to_thread(produced.context.artifacts.renew, needed)
    produced.shared.clear()  # included in `entries`
    owner = None if produced.owner is None else await produced.owner()
    done = await produced.context.state.finish(_end_of(produced, entries, owner))
    if owner is not None and not done.owned:
        raise lease_lost(owner)
    if done.unrecorded is not None:
        _tell_unrecorded(produced, done.unrecorded)
        return 0
    if done.uncached is not None:
        produced.context.cache.warn(done.uncached)
    produced.context.leases.forget(produced.leases, done.unreleased)
    produced.leases.clear()
    if done.seq is not None:
        await _tell_store(produced, done.seq)
    return len(produced.records)


def _end_of(produced: Produced, entries: list[Entry], owner: Lease | None) -> CallEnd:
    from vr_kernel.state.call_end import CallEnd

    provenance = {"tool": produced.tool, "plugin": produced.meter.plugin, "call_id": produced.id}
    cache = produced.context.cache
    return CallEnd(
        workspace=produced.context.workspace,
        cached_in=cache.workspace,
        provenance={**provenance, "principal": produced.principal},
        entries=entries,
        cache=[] if produced.meter.eased else [_put_of(produced, w) for w in produced.cache_writes],
        paid=produced.is_paid,
        essential=produced.essential,
        fence=None if owner is None else owner.token,
        leases=[lease.token for lease in produced.leases],
        # The result includes the steps now. If they stayed, clearing the cache would do nothing.
        finished={it.token: it.name for it in produced.leases if not it.unfinished},
    )


def _put_of(produced: Produced, write: CacheWrite) -> CachePut:
    from vr_kernel.state.cache import CacheRow
    from vr_kernel.state.call_end import CachePut

    names = (write.content_id, produced.tool, write.model, time.time())
    since = None if write.replace else produced.context.cache.oldest()
    return CachePut(CacheRow(write.key, write.value, *names), since)


async def settle(produced: Produced) -> None:
    """Commit shared work of a call, and release its leases, however the call ended."""
    for shared in tuple(produced.shared):
        try:
            await commit(shared)
        except Exception as error:  # noqa: BLE001 - as it would have failed this call
            produced.context.log.warning(
                "shared work not journalled", tool=produced.tool, reason=said(error)
            )
    for lease in produced.leases:
        await produced.context.leases.release(lease)


def keep_artifact(produced: Produced, content: bytes | Path, mime: str) -> Artifact:
    """Keep a file; if that fails, keep the steps of the work, so that it can be repeated.

    Raises:
        VrError: UNAVAILABLE when the folder cannot be written.
    """
    try:
        return produced.context.artifacts.add(content, mime)
    except VrError:
        for lease in produced.leases:
            lease.unfinished = True
        raise


def _tell_unrecorded(produced: Produced, error: VrError) -> None:
    produced.notes.append(f"Not recorded: {error.message} {error.hint}")
    log = produced.context.log
    log.warning("records not journalled", tool=produced.tool, reason=error.message)


async def _tell_store(produced: Produced, seq: int) -> None:
    context = produced.context
    if not _waits_for_room(produced):
        context.store.wake(seq)
    if lacking := await context.journal.continuity.lacks(owner=context.identity.is_owner):
        produced.notes.append(lacking)


def _waits_for_room(produced: Produced) -> bool:
    """Check if records wait in memory for disk space; the store gets them once they are written."""
    loop, store = asyncio.get_running_loop(), produced.context.store

    def wake() -> None:
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(store.wake, 0)

    return produced.context.journal.holds(wake)


def dump(value: object) -> str:
    """JSON text; ValueError for NaN and infinity, which JSON does not have."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
