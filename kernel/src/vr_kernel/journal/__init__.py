"""The journal of all that was recorded, and its way into the stores that follow it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.journal.dead_letters import DeadLetter
    from vr_kernel.journal.known import read_known
    from vr_kernel.journal.lineage import Lineage
    from vr_kernel.journal.loss import find_loss, ways_out
    from vr_kernel.journal.store_follower import StoreFollower

__all__ = [
    "DeadLetter",
    "Lineage",
    "StoreFollower",
    "find_loss",
    "read_known",
    "ways_out",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "dead_letters": "DeadLetter",
        "known": "read_known",
        "lineage": "Lineage",
        "loss": "find_loss ways_out",
        "store_follower": "StoreFollower",
    },
)
