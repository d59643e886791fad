"""Quotes: checks if a claimed quote is in a source, and finds its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.quoting.quotes import Verdict

__all__ = [
    "Verdict",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "quotes": "Verdict",
    },
)
