"""Work that outlives its process: jobs, who owns them, and their steps, in one ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.jobs.completion import settle
    from vr_kernel.jobs.lease import Lease
    from vr_kernel.state.jobs import Job, JobState

__all__ = [
    "Job",
    "JobState",
    "Lease",
    "settle",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "completion": "settle",
        "lease": "Lease",
        ".state.jobs": "Job JobState",
    },
)
