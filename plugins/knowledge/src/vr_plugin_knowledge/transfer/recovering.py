"""Recovers records that only the embedded store still has into the journal."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import Any

from vr_kernel import Code, Config, Kernel, Store, VrError

from vr_plugin_knowledge.embedded_store.store import EmbeddedStore
from vr_plugin_knowledge.transfer.delivery import deliver

PAGE = 500


async def recover_all(config: Config) -> dict[str, Any]:
    """Run `recover_with` in a kernel of its own."""
    async with Kernel.open(config) as kernel:
        return await recover_with(kernel)


async def recover_with(kernel: Kernel) -> dict[str, Any]:
    """Record what the store holds and the journal lacks, in all workspaces, so that both agree.

    Raises:
        VrError: INVALID_INPUT when another store is configured; else as the store and the journal.
    """
    archive = kernel.services.archive
    store = kernel.services.providers.get(Store)
    if not isinstance(store, EmbeddedStore):
        raise VrError(
            f"The store is {store.name}, not embedded.",
            Code.INVALID_INPUT,
            hint=f"Give --from {store.name}, or set VR_STORE__BACKEND=embedded.",
        )
    await archive.store.status()
    recorded: Counter[str] = Counter()
    after = known = 0
    while page := await store.page(after, PAGE):
        after = page[-1][0]
        for workspace, found in groupby(page, key=lambda each: each[1]):
            records = [record for _, _, record in found]
            written = await archive.recover(workspace, records)
            recorded.update(record.kind for record in written)
            known += len(records) - len(written)
    missing = await archive.missing(await store.positions())
    await archive.store.restart(empty=False)
    waiting = await deliver(kernel)
    return {
        "recorded": dict(recorded),
        "known": known,
        "missing": missing,
        "waiting_for_vectors": waiting,
    }
