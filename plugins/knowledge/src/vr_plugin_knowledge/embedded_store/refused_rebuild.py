"""The error of a damaged store that cannot be rebuilt, since the journal is incomplete, too."""

from __future__ import annotations

from vr_kernel import VrError

JOURNAL_INCOMPLETE = "JOURNAL_INCOMPLETE"
"""Category of the kernel's error for a journal that lacks what was recorded."""
BOTH_LOST = (
    "Put the right journal.db back: the store is rebuilt from it. Or put a sound knowledge.db"
    " back: `vr knowledge migrate --from embedded` fills the journal from it. Or"
    " `vr store begin-anew` gives up what both held."
)


def rebuild_refused(refused: VrError, file: str) -> VrError:
    """Return the error of such a store; `refused` says what the journal lacks."""
    lost = refused.category == JOURNAL_INCOMPLETE
    return refused.reworded(
        f"{file} is damaged, and the journal is no help: {refused.message}",
        BOTH_LOST if lost else f"Repair the journal first. {refused.hint}",
    )
