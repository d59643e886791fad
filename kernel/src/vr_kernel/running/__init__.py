"""Running calls: from arguments to outcome, jobs in the background, shared work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.running.job_handle import JobHandle, outcome_of, time_words
    from vr_kernel.running.runner import Outcome

__all__ = [
    "JobHandle",
    "Outcome",
    "outcome_of",
    "time_words",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "runner": "Outcome",
        "job_handle": "JobHandle outcome_of time_words",
    },
)
