"""Language models: the only access to them, and all that happens from question to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.models.fallback import may_others_answer
    from vr_kernel.models.services import (
        ModelService,
        model_services,
        offered_models,
        running_servers,
        working_models,
    )
    from vr_kernel.models.usage_reading import read_usage
    from vr_kernel.spending.reports import (
        Estimate,
        Grouping,
        UsageReport,
        UsageRow,
        dollars,
        money,
    )

__all__ = [
    "Estimate",
    "Grouping",
    "ModelService",
    "UsageReport",
    "UsageRow",
    "dollars",
    "may_others_answer",
    "model_services",
    "money",
    "offered_models",
    "read_usage",
    "running_servers",
    "working_models",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        ".spending.reports": "Estimate Grouping UsageReport UsageRow dollars money",
        "fallback": "may_others_answer",
        "services": "ModelService model_services offered_models running_servers working_models",
        "usage_reading": "read_usage",
    },
)
