"""Work that outlives its process: jobs, who owns them, and their steps, in one ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.jobs.jobs import Job
    from vr_kernel.jobs.leases import Lease
    from vr_kernel.jobs.ledger import settle
    from vr_kernel.jobs.rows import JobState

__all__ = [
    "Job",
    "JobState",
    "Lease",
    "settle",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "jobs": "Job",
        "leases": "Lease",
        "ledger": "settle",
        "rows": "JobState",
    },
)
