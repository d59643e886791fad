"""Calls under way: from arguments to outcome, jobs in the background, what others share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.running.runner import Outcome
    from vr_kernel.running.running_job import JobHandle, cancelled, handle_of, time_words
    from vr_kernel.running.untold import told_to_others

__all__ = [
    "JobHandle",
    "Outcome",
    "cancelled",
    "handle_of",
    "time_words",
    "told_to_others",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "runner": "Outcome",
        "running_job": "JobHandle cancelled handle_of time_words",
        "untold": "told_to_others",
    },
)
