"""Gemini: the built-in provider of language models, and what only it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.gemini.health import examine_keys

__all__ = [
    "examine_keys",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "health": "examine_keys",
    },
)
