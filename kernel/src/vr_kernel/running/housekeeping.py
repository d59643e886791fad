"""Background work of a server: it resumes what other processes left behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from vr_kernel.config.settings import KernelSettings
from vr_kernel.errors import VrError
from vr_kernel.isolation.loop_watch import LoopWatch, Owners
from vr_kernel.isolation.plugin_threads import PluginThreads
from vr_kernel.journal.store_follower import StoreFollower
from vr_kernel.log import Log
from vr_kernel.running.job_runner import JobRunner

if TYPE_CHECKING:
    from vr_kernel.running.artifact_limit import ArtifactLimit

SECONDS_PER_DAY = 86_400
DELIVER_AFTER_S = 2.0
"""Seconds after the start before a server uses its store, and looks at its artifacts."""
MEASURE_EVERY_S = 3600.0
"""Seconds between two looks at the size of all artifacts."""


@asynccontextmanager
async def keep_house(
    settings: KernelSettings,
    jobs: JobRunner,
    store: StoreFollower,
    journal: Path,
    owners: Owners,
    log: Log,
    limit: Callable[[], ArtifactLimit],
) -> AsyncIterator[None]:
    """During the block resume and prune jobs, update the store, limit artifacts, watch the loop.

    From then on each plugin has threads of its own in this loop.
    """
    asyncio.get_running_loop().set_default_executor(PluginThreads(owners, log))
    work = [asyncio.create_task(_deliver_soon(store, journal))]
    if settings.artifacts_mb:
        work.append(asyncio.create_task(_limit_artifacts(limit)))
    if settings.resume_jobs:
        work += [
            asyncio.create_task(jobs.prune(settings.job_ttl_days * SECONDS_PER_DAY)),
            asyncio.create_task(_resume_all(jobs, settings.lease_s, log)),
        ]
    try:
        with LoopWatch(owners, log):
            yield
    finally:
        for task in work:
            task.cancel()
        await asyncio.wait(work)


async def _resume_all(jobs: JobRunner, every_s: float, log: Log) -> None:
    while True:
        try:
            await jobs.resume_all()
        except VrError as error:
            log.warning("jobs cannot be resumed", reason=error.message)
        await asyncio.sleep(every_s)


async def _deliver_soon(store: StoreFollower, journal: Path) -> None:
    # After the client has its tools; a newly installed store starts from nothing.
    await asyncio.sleep(DELIVER_AFTER_S)
    if await asyncio.to_thread(journal.exists):
        store.wake(0)


async def _limit_artifacts(limit: Callable[[], ArtifactLimit]) -> None:
    await asyncio.sleep(DELIVER_AFTER_S)
    keeping = limit()
    while True:
        await keeping.keep()
        await asyncio.sleep(MEASURE_EVERY_S)
