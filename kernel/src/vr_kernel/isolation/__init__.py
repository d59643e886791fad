"""Plugins harm nobody else: their exceptions, their threads, their prints, their blocking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.isolation.plugin_code import PluginCode, contained, is_interrupt
    from vr_kernel.isolation.stdout_guard import StdoutGuard, diverted_stdout, own_streams

__all__ = [
    "PluginCode",
    "StdoutGuard",
    "contained",
    "diverted_stdout",
    "is_interrupt",
    "own_streams",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "plugin_code": "PluginCode contained is_interrupt",
        "stdout_guard": "StdoutGuard diverted_stdout own_streams",
    },
)
