"""A damaged store beside a journal that it cannot be made anew from: both are said."""

from __future__ import annotations

from vr_kernel import VrError

JOURNAL_INCOMPLETE = "JOURNAL_INCOMPLETE"
"""Category of the kernel's error for a journal that lacks what was recorded."""
BOTH_LOST = (
    "Put the right journal.db back: the store is made anew from it. Or put a sound knowledge.db"
    " back: `vr knowledge migrate --from embedded` fills the journal from it. Or"
    " `vr store begin-anew` gives up what both held."
)


def rebuild_refused(refused: VrError, file: str) -> VrError:
    """The refusal to make a damaged store anew; `refused` says what the journal is short of."""
    lost = refused.category == JOURNAL_INCOMPLETE
    return refused.reworded(
        f"{file} is damaged, and the journal is no help: {refused.message}",
        BOTH_LOST if lost else f"See to the journal first. {refused.hint}",
    )
