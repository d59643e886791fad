"""Plugins: found by their metadata, chosen, imported under a deadline, registered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.loading.compatibility import kernel_range, next_break
    from vr_kernel.loading.discovery import (
        BUILT_IN,
        GROUP,
        KERNEL_DISTRIBUTION,
        Candidate,
        PluginState,
        PluginStatus,
        check,
        discover,
        explain,
        within,
    )
    from vr_kernel.loading.hooks import Hooks
    from vr_kernel.loading.loader import RESERVED_DOMAINS

__all__ = [  # noqa: RUF022 - sorted as a dictionary is
    "BUILT_IN",
    "Candidate",
    "GROUP",
    "Hooks",
    "KERNEL_DISTRIBUTION",
    "PluginStatus",
    "RESERVED_DOMAINS",
    "PluginState",
    "check",
    "discover",
    "explain",
    "kernel_range",
    "next_break",
    "within",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "compatibility": "kernel_range next_break",
        "discovery": "BUILT_IN Candidate GROUP KERNEL_DISTRIBUTION PluginStatus PluginState check "
        "discover explain within",
        "hooks": "Hooks",
        "loader": "RESERVED_DOMAINS",
    },
)
