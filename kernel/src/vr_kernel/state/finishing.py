"""The end of a call written table by table, where the tables share no transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.errors import VrError
from vr_kernel.state.call_end import CallEnd, Finished
from vr_kernel.state.leases import LEASE_LOST

if TYPE_CHECKING:
    from vr_kernel.state.protocols import State


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
    if not await _cache(state, end, done):
        return done
    if end.job is not None:
        done.owned = await state.jobs.finish(end.job)
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


async def _cache(state: State, end: CallEnd, done: Finished) -> bool:
    for put in end.cache:
        try:
            await state.cache(end.cached_in).put(
                put.row,
                unless_since=put.unless_since,
                paid=end.paid or bool(put.row.model),
                fence=end.fence,
            )
        except VrError as error:
            if end.fence is not None and error.category == LEASE_LOST:
                done.owned = False
                return False
            done.uncached = error
    return True


async def _release(state: State, end: CallEnd, done: Finished) -> None:
    holding = bool(end.finished) and state.is_holding  # steps stay as long as results may be lost
    for token in end.leases:
        try:
            await state.leases.release([token], "" if holding else end.finished.get(token, ""))
        except VrError:
            done.unreleased.append(token)
