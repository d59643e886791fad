"""Freshness of the store: changes that are not delivered to it yet."""

from __future__ import annotations

from vr_kernel import Call

CATCH_UP_S = 2.0
NO_STORE = "No store is installed, so nothing can be found: pip install vr-plugin-knowledge"


async def catch_up(call: Call, notes: list[str]) -> int | None:
    """Wait for this process's records; return the number of pending ones, None without a store."""
    store = call.services.store
    if not store.available():
        notes.append(NO_STORE)
        return None
    pending = await store.catch_up(CATCH_UP_S)
    owner = call.services.identity.is_owner
    if lacking := await call.services.journal.continuity.lacks(owner=owner):
        notes.append(lacking)
    if pending and not owner:
        notes.append("Not everything is indexed yet.")
        return 1  # the exact number would count changes of other principals
    if pending:
        notes.append(f"Not indexed yet: {pending} changes.")
    return pending


def said_of(call: Call, waiting: int) -> str:
    """Say how many records wait; only an owner sees the number, as it counts everybody's."""
    return f"{waiting} records" if call.services.identity.is_owner else "some records"
