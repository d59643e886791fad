"""A look at who owns a lease, which leaves the ledger as it is."""

from __future__ import annotations

from vr_kernel.jobs.leases import LedgerLeases


async def is_owned(leases: LedgerLeases, name: str) -> bool:
    """True while some process owns the name. Nothing is written: an expired row stays."""
    return await leases.state.leases.is_owned(name)
