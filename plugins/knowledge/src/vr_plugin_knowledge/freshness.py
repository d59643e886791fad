"""Freshness of the store: changes that it has not taken in yet."""

from __future__ import annotations

from vr_kernel import Call

CATCH_UP_S = 2.0
NO_STORE = "No store is installed, so nothing can be found: pip install vr-plugin-knowledge"


async def catch_up(call: Call, notes: list[str]) -> int | None:
    """Wait for what this process recorded; returns how much is missing, None without a store."""
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
        return 1  # the number counts everybody's changes
    if pending:
        notes.append(f"Not indexed yet: {pending} changes.")
    return pending


def said_of(call: Call, waiting: int) -> str:
    """Say how many records wait, in the words that the caller may see: it counts everybody's."""
    return f"{waiting} records" if call.services.identity.is_owner else "some records"
