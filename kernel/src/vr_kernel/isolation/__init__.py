"""Isolation of plugins from each other: their exceptions, their threads, their blocking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.isolation.plugin_code import PluginCode, contained, is_interrupt

__all__ = [
    "PluginCode",
    "contained",
    "is_interrupt",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "plugin_code": "PluginCode contained is_interrupt",
    },
)
