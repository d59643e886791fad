"""Turns: work of a front door that is no tool, paid and committed as a tool's is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from vr_kernel.call import Call
from vr_kernel.calls.commit import commit
from vr_kernel.calls.produced import Produced
from vr_kernel.errors import Code, VrError
from vr_kernel.jobs.completion import complete
from vr_kernel.jobs.scopes import Scope
from vr_kernel.models.usage import Meter
from vr_kernel.running.listeners import Listeners, finished
from vr_kernel.running.origins import Origin, Within, made_id, require_name, trace_of
from vr_kernel.running.runner import settle_all
from vr_kernel.storage.database_faults import is_held, is_of_state

if TYPE_CHECKING:
    from vr_kernel.calls.context import Context
    from vr_kernel.jobs.lease import Lease
    from vr_kernel.progress import Report

WAITING = "Waiting for the same turn in another place"
LATER_S = 1.0
"""Seconds to wait beyond the length of a lease, so that a dead owner's has ended."""


@asynccontextmanager
async def open_turn(
    context: Context,
    name: str,
    given_id: str,
    origin: Origin,
    report: Report,
    listeners: Listeners,
) -> AsyncIterator[Call]:
    """Give a call for a block of work; see `Kernel.turn`.

    Raises:
        VrError: as `Kernel.turn`.
    """
    if origin.call_id:
        raise TypeError("a turn takes no call_id beside its id")
    require_name(name, "name")
    context = context.of_principal(origin.principal)
    call_id = made_id(given_id, context.plugin, origin.principal)
    place = f"turn/{call_id}"
    if not context.identity.is_owner:  # an id of another principal finds nothing of theirs
        place = f"turn/{origin.principal}/{call_id}"
    lease = await _own(place, context, report)
    produced = _begin(context, name, call_id, origin, report, place, lease)
    failure: BaseException | None = None
    try:
        try:
            with Within(call_id, produced.meter.trace):
                yield Call(produced)
        finally:
            produced.ended = True
        if lease is not None:
            lease.check()
        if not produced.is_empty:
            await complete(commit(produced))
    except BaseException as error:
        failure = error
        raise
    finally:
        await complete(settle_all(produced))
        if listeners:
            listeners.tell_soon(finished(produced, failure))


def _begin(
    context: Context,
    name: str,
    call_id: str,
    origin: Origin,
    report: Report,
    place: str,
    lease: Lease | None,
) -> Produced:
    notes: list[str] = []

    async def hold() -> Lease | None:
        return lease

    scope = Scope(context.steps, place, "", hold, notes.append)
    meter = Meter(
        call_id=call_id,
        tool=name,
        plugin=context.plugin,
        principal=origin.principal,
        workspace=context.workspace,
        trace=trace_of(call_id, origin.trace_context),
    )
    return Produced(
        id=call_id,
        tool=name,
        context=context.of_call(meter, scope),
        principal=origin.principal,
        report=report,
        meter=meter,
        scope=scope,
        notes=notes,
        asker=origin.ask,
        leases=[] if lease is None else [lease],
    )


async def _own(place: str, context: Context, report: Report) -> Lease | None:
    """Own the turn; None when the ledger cannot be written, so that it goes on without.

    Raises:
        VrError: CONFLICT, category TURN_BUSY.
    """
    unusable: list[VrError] = []

    def goes_on(error: VrError) -> bool:
        unusable.append(error)
        return is_of_state(error) and not is_held(error)

    leases = context.leases
    lease = await leases.wait_for(
        place,
        patience=leases.state.leases.lease_s + LATER_S,
        without=goes_on,
        waiting=lambda: report(0, None, WAITING),
    )
    if lease is None and not unusable:
        raise VrError(
            "This turn is going on in another place.",
            Code.CONFLICT,
            category="TURN_BUSY",
            hint="Wait until it has ended there, or give another id.",
            retryable=True,
        )
    return lease
