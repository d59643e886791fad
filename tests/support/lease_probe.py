"""Asks for a lease to learn if anybody has it."""

from __future__ import annotations

from vr_kernel.jobs.leases import LedgerLeases


async def is_owned(leases: LedgerLeases, name: str) -> bool:
    """True while some process owns the name; for a moment it is owned here otherwise."""
    lease = await leases.acquire(name)
    if lease is not None:
        await leases.release(lease)
    return lease is None
