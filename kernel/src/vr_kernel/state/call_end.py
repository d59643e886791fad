"""The end of a call: everything that is written then, together or in a safe order."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vr_kernel.errors import VrError
from vr_kernel.state.leases import LEASE_LOST

if TYPE_CHECKING:
    from vr_kernel.state.cache import CacheRow
    from vr_kernel.state.entries import Entry
    from vr_kernel.state.jobs import Ending
    from vr_kernel.state.protocols import State


@dataclass(frozen=True, slots=True)
class JobEnd:
    """The end of a job by its owner, who has the lease of that token."""

    id: str
    token: int
    state: Ending
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class CachePut:
    """A result to be cached; a sound one that was put after `unless_since` is kept instead."""

    row: CacheRow
    unless_since: float | None = None


@dataclass(frozen=True, slots=True)
class CallEnd:
    """Everything that the end of a call writes.

    Args:
        workspace: of its entries.
        cached_in: the workspace of its cached results.
        provenance: of its entries.
        entries: for the journal.
        cache: its results.
        paid: True when something was paid for: it waits in memory while there is no room.
        essential: True when nothing is written if the entries cannot be.
        fence: token of a lease without which nothing is written.
        leases: tokens of leases that are given back.
        finished: of those, the work whose steps are removed, as it is in the results now.
        job: the end of a job.
    """

    workspace: str = ""
    cached_in: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    entries: Sequence[Entry] = ()
    cache: Sequence[CachePut] = ()
    paid: bool = False
    essential: bool = False
    fence: int | None = None
    leases: Collection[int] = ()
    finished: Mapping[int, str] = field(default_factory=dict)
    job: JobEnd | None = None


@dataclass(slots=True)
class Finished:
    """The outcome of writing the end of a call.

    Attributes:
        owned: False when another process has the work by now; nothing was written for it then.
        seq: the highest number of the journal; None when no entries were written.
        unrecorded: why the entries were not written, and nothing after them.
        uncached: why a result was not cached.
        unreleased: tokens of leases that could not be given back; they end by themselves.
    """

    owned: bool = True
    seq: int | None = None
    unrecorded: VrError | None = None
    uncached: VrError | None = None
    unreleased: list[int] = field(default_factory=list)


async def finish_in_order(state: State, end: CallEnd) -> Finished:
    """Write the end of a call table by table, where they share no transaction.

    Entries come first, then results, then the steps that led to them go. A process that dies in
    between leaves steps, from which the same entries and results are made again, under the same
    keys.

    Raises:
        VrError: UNAVAILABLE when the entries are essential and cannot be written, or the job's end.
    """
    done = Finished()
    if end.fence is not None and not end.entries and not await _is_owned(state, end.fence):
        done.owned = False
        return done
    if end.entries and not await _record(state, end, done):
        return done
    for put in end.cache:
        try:
            await state.cache(end.cached_in).put(
                put.row, unless_since=put.unless_since, paid=end.paid or bool(put.row.model)
            )
        except VrError as error:
            done.uncached = error
    if end.job is not None:
        job = end.job
        done.owned = await state.jobs.finish(
            job.id, job.token, result=job.result, error=job.error, state=job.state
        )
    await _release(state, end, done)
    return done


async def _is_owned(state: State, token: int) -> bool:
    try:
        return await state.steps.owns(token)
    except VrError:  # nobody can say: what is written has the keys that a successor would give it
        return True


async def _record(state: State, end: CallEnd, done: Finished) -> bool:
    try:
        done.seq = await state.journal.commit(
            end.entries,
            workspace=end.workspace,
            provenance=end.provenance,
            paid=end.paid,
            fence=end.fence,
        )
    except VrError as error:
        if end.fence is not None and error.category == LEASE_LOST:
            done.owned = False
            return False
        if end.essential:
            raise
        done.unrecorded = error
    return done.unrecorded is None


async def _release(state: State, end: CallEnd, done: Finished) -> None:
    holding = bool(end.finished) and state.is_holding  # steps stay as long as results may be lost
    for token in end.leases:
        try:
            await state.leases.release([token], "" if holding else end.finished.get(token, ""))
        except VrError:
            done.unreleased.append(token)
