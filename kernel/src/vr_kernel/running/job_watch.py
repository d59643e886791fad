"""Watches the jobs of this process while they run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from vr_kernel.errors import VrError
from vr_kernel.jobs.jobs import JobLedger
from vr_kernel.log import Log
from vr_kernel.running.running_job import RunningJob

WATCH_S = 0.25
"""Seconds between checks if running jobs were cancelled by others, or taken over."""
REPORT_S = 1.0
"""Minimum seconds between two writes of a job's progress."""


async def look_after(calls: Mapping[str, RunningJob], jobs: JobLedger, log: Log) -> None:
    """Notice jobs that were cancelled or taken over, and record their progress.

    Ends when there are no calls left.
    """
    told: dict[str, Any] = {}
    written = time.monotonic()
    while calls:
        await asyncio.sleep(WATCH_S)
        held = {each.id: each for each in calls.values() if each.lease is not None and each.task}
        try:
            asked = await jobs.table.cancel_asked(list(held)) if held else set()
            if time.monotonic() - written >= REPORT_S:
                written = time.monotonic()
                await _write(held, told, jobs)
        except VrError as error:
            log.warning("jobs cannot be looked after", reason=error.message)
            asked = set()
        for running in held.values():
            _end(running, asked=running.id in asked)


async def _write(held: Mapping[str, RunningJob], told: dict[str, Any], jobs: JobLedger) -> None:
    for running in held.values():
        if told.get(running.id) != running.latest:
            told[running.id] = running.latest
            await jobs.table.report(running.id, *running.latest)


def _end(running: RunningJob, *, asked: bool) -> None:
    running.cancelled = running.cancelled or asked
    # Not `lost`: that is also true of a lease that is just being released.
    if running.cancelled or (running.lease and running.lease.lost_event.is_set()):
        assert running.task is not None
        running.task.cancel()
