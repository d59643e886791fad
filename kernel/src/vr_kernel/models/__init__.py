"""Language models: the one door to them, and what comes between a question and its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.models.usage import UsageLedger
    from vr_kernel.models.usage_report import Grouping, UsageReport, UsageRow, make_report

__all__ = [
    "Grouping",
    "UsageLedger",
    "UsageReport",
    "UsageRow",
    "make_report",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "usage": "UsageLedger",
        "usage_report": "Grouping UsageReport UsageRow make_report",
    },
)
