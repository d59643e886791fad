"""Work that outlives its process: jobs, who owns them, and their steps, in one ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.jobs.jobs import Job, Jobs
    from vr_kernel.jobs.leases import Lease, Leases
    from vr_kernel.jobs.ledger import open_ledger, settle
    from vr_kernel.jobs.liveness import Watch
    from vr_kernel.jobs.rows import SHOWN, JobState

__all__ = [  # noqa: RUF022 - sorted as a dictionary is
    "Job",
    "JobState",
    "Jobs",
    "Lease",
    "Leases",
    "SHOWN",
    "Watch",
    "open_ledger",
    "settle",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "jobs": "Job Jobs",
        "leases": "Lease Leases",
        "ledger": "open_ledger settle",
        "liveness": "Watch",
        "rows": "JobState SHOWN",
    },
)
