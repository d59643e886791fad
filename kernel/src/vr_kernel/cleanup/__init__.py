"""Parts of an installation that can be removed without loss: found by kind, then removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.cleanup.finding import Removable
    from vr_kernel.cleanup.removable import KINDS, find_removable

__all__ = [
    "KINDS",
    "Removable",
    "find_removable",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "finding": "Removable",
        "removable": "KINDS find_removable",
    },
)
