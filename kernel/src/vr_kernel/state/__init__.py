"""State that is kept: its protocols, and their implementation in SQLite files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.state.adopting import AdoptingRows
    from vr_kernel.state.adoption import Adopted, adopt_file
    from vr_kernel.state.artifacts import ArtifactStore, StoredArtifact
    from vr_kernel.state.cache import (
        CacheEntry,
        CacheFind,
        CacheRow,
        CacheStats,
        CacheTable,
        UselessRow,
    )
    from vr_kernel.state.call_end import CachePut, CallEnd, Finished, JobEnd
    from vr_kernel.state.entries import Entry
    from vr_kernel.state.finishing import finish_in_order
    from vr_kernel.state.jobs import JobTable
    from vr_kernel.state.journal import JournalContinuity, JournalTable
    from vr_kernel.state.leases import LeaseTable
    from vr_kernel.state.limits import LimitTable, Used
    from vr_kernel.state.pins import Pin
    from vr_kernel.state.protocols import State
    from vr_kernel.state.rows import (
        ROW_CHANGED,
        Delete,
        OpenRows,
        Place,
        Put,
        Row,
        RowChange,
        Rows,
        RowsOf,
        RowSpace,
    )
    from vr_kernel.state.signals import Signals
    from vr_kernel.state.steps import StepTable
    from vr_kernel.state.usage import (
        Attempt,
        AttemptState,
        Grouping,
        Limit,
        LimitReachedError,
        RecordedAttempt,
        Spent,
        UsageRow,
        UsageTable,
    )
    from vr_kernel.state.vectors import VectorTable

__all__ = [  # noqa: RUF022 - sorted as a dictionary is
    "Adopted",
    "AdoptingRows",
    "ArtifactStore",
    "Attempt",
    "AttemptState",
    "CacheEntry",
    "CacheFind",
    "CachePut",
    "CacheRow",
    "CacheStats",
    "CacheTable",
    "CallEnd",
    "Delete",
    "Entry",
    "Finished",
    "Grouping",
    "JobEnd",
    "JobTable",
    "JournalContinuity",
    "JournalTable",
    "LeaseTable",
    "Limit",
    "LimitReachedError",
    "LimitTable",
    "OpenRows",
    "Pin",
    "Place",
    "Put",
    "ROW_CHANGED",
    "RecordedAttempt",
    "Row",
    "RowChange",
    "RowSpace",
    "Rows",
    "RowsOf",
    "Signals",
    "Spent",
    "State",
    "StepTable",
    "StoredArtifact",
    "UsageRow",
    "UsageTable",
    "Used",
    "UselessRow",
    "VectorTable",
    "adopt_file",
    "finish_in_order",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "adopting": "AdoptingRows",
        "adoption": "Adopted adopt_file",
        "artifacts": "ArtifactStore StoredArtifact",
        "cache": "CacheEntry CacheFind CacheRow CacheStats CacheTable UselessRow",
        "call_end": "CachePut CallEnd Finished JobEnd",
        "entries": "Entry",
        "finishing": "finish_in_order",
        "jobs": "JobTable",
        "journal": "JournalContinuity JournalTable",
        "leases": "LeaseTable",
        "limits": "LimitTable Used",
        "pins": "Pin",
        "protocols": "State",
        "rows": "Delete OpenRows Place Put ROW_CHANGED Row RowChange RowSpace Rows RowsOf",
        "signals": "Signals",
        "steps": "StepTable",
        "usage": "Attempt AttemptState Grouping Limit LimitReachedError RecordedAttempt Spent "
        "UsageRow UsageTable",
        "vectors": "VectorTable",
    },
)
