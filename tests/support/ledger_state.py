"""The parts of a state that lie in one ledger, with clocks of their own."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from vr_kernel.state.call_end import CallEnd, Finished
from vr_kernel.state.finishing import finish_in_order
from vr_kernel.state.leases import steady_clock
from vr_kernel.state.protocols import State
from vr_kernel.state.signals import LocalSignals
from vr_kernel.state.sqlite.jobs import SqliteJobs
from vr_kernel.state.sqlite.leases import SqliteLeases
from vr_kernel.state.sqlite.steps import SqliteSteps
from vr_kernel.storage.kept_database import KeptDatabase


@dataclass(frozen=True, slots=True)
class LedgerState:
    """Leases, jobs and steps of one ledger."""

    leases: SqliteLeases
    jobs: SqliteJobs
    steps: SqliteSteps
    signals: LocalSignals
    is_holding = False

    async def finish(self, end: CallEnd) -> Finished:
        """Write the end of a job."""
        return await finish_in_order(cast("State", self), end)


def ledger_state(
    database: KeptDatabase,
    *,
    lease_s: float = 300.0,
    clock: Callable[[], float] = time.time,
    steady: Callable[[], float] = steady_clock,
    owner: str = "",
) -> State:
    """The parts of a state that lie in one ledger, as one more process sees them."""
    leases = SqliteLeases(database, lease_s=lease_s, clock=clock, steady=steady)
    jobs = SqliteJobs(database, leases, owner)
    return cast("State", LedgerState(leases, jobs, SqliteSteps(database), LocalSignals()))
