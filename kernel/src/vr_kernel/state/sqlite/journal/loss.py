"""Loss of a journal: records that are known of elsewhere, and the ways out."""

from __future__ import annotations

from collections.abc import Sequence

from vr_kernel.state.journal import Loss, Position
from vr_kernel.state.sqlite.journal.lineage import Lineage
from vr_kernel.stores import refill_command

GIVE_UP = "`vr store begin-anew` gives it up."


def ways_out(store: str) -> str:
    """The ways out of a loss that the right file could end; `store` is the configured one."""
    return f"Put the right journal.db back; or {_ways_without_it(store)}"


def _ways_without_it(store: str) -> str:
    """The ways out when the right file is nowhere."""
    command = refill_command(store)
    return f"`{command}` records what only the store has; or {GIVE_UP}" if command else GIVE_UP


def find_loss(lineage: Lineage, known: Sequence[Position], store: str) -> Loss | None:
    """Find what a journal lacks of what is known; `store` is the name of the configured store."""
    there = [each for each in known if each.seq and lineage.covers(each)]
    gone = [each for each in known if each.seq and not lineage.covers(each)]
    if not gone:
        return None
    most = max(gone, key=lambda each: each.seq)
    older = [each for each in gone if lineage.knows(each.journal)]
    least = min(each.seq for each in gone)
    before = max((each.seq for each in there if each.seq < least), default=0)
    ways = ways_out(store)
    if older:
        most = max(older, key=lambda each: each.seq)
        said = f"is an older copy: it ends at change {lineage.agreed(most):,} of {most.seq:,}."
    elif before:
        count = f"{most.seq - before:,}"
        said = f"is the one before again. Changes recorded meanwhile that it lacks: {count}."
        ways = _ways_without_it(store)
    elif not lineage.begun and (not lineage.last or lineage.journal in {k.journal for k in known}):
        said = (
            f"was emptied, deleted or replaced: {most.seq:,} changes were recorded in the one"
            " before."
        )
    else:
        said = f"is a foreign one: the one before, of {most.seq:,} changes, was another."
    return Loss(f"The journal {said}", ways, tuple(each.journal for each in gone))


def count_missing(lineage: Lineage, known: Sequence[Position], held: Sequence[Position]) -> int:
    """Count the known changes that are neither in the journal nor within the positions `held`."""
    gone: dict[str, int] = {}
    for each in known:
        if each.seq and not lineage.covers(each):
            here = lineage.agreed(each) if lineage.knows(each.journal) else 0
            there = max((it.seq for it in held if it.journal == each.journal), default=0)
            lacking = each.seq - max(here, there)
            gone[each.journal] = max(lacking, gone.get(each.journal, 0))
    return sum(gone.values())


def must_diverge(lineage: Lineage, known: Sequence[Position]) -> bool:
    """Say if the next numbers would be confused with those of lost changes."""
    gone = [each for each in known if each.seq and not lineage.covers(each)]
    if not gone:
        return False
    here = {each.journal for each in known}
    return (
        lineage.journal not in here
        or any(each.journal == lineage.journal for each in gone)
        or lineage.last < max(each.seq for each in gone)
    )


def note_of_unwritable(folder: str) -> str:
    """The note on results while the folder cannot be written."""
    return f"{folder} cannot be written: what is there is found, nothing new is recorded."
