"""Checks of an installation: settings, folders, databases, providers and models.

Each check only looks: no network, nothing paid, nothing written but probe files that are removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.diagnosis.checks import kernel_checks
    from vr_kernel.diagnosis.redacting import report_redactor

__all__ = [
    "kernel_checks",
    "report_redactor",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "checks": "kernel_checks",
        "redacting": "report_redactor",
    },
)
