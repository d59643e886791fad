"""The journal of all that was recorded, and its way into the stores that follow it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.journal.archive import Archive
    from vr_kernel.journal.dead_letters import DeadLetter
    from vr_kernel.journal.following import StoreStatus
    from vr_kernel.state.journal import Loss, Undeclared

__all__ = [
    "Archive",
    "DeadLetter",
    "Loss",
    "StoreStatus",
    "Undeclared",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        ".state.journal": "Loss Undeclared",
        "archive": "Archive",
        "dead_letters": "DeadLetter",
        "following": "StoreStatus",
    },
)
