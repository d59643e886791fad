"""Opening of a journal's file: it continues its line, or begins a new one."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from vr_kernel.state.journal import Loss, Position
from vr_kernel.state.sqlite.journal.lineage import Lineage, begin
from vr_kernel.state.sqlite.journal.loss import find_loss, must_diverge
from vr_kernel.state.sqlite.journal.schema import add_index

Settled = tuple[Loss | None, Position]
"""The loss of a journal that was opened, and its position."""


def find_settled(
    connection: sqlite3.Connection, known: Sequence[Position], store: str
) -> Settled | None:
    """Return the loss and position of a file that can be used unchanged; None when it cannot.

    Args:
        connection: to the journal, in a transaction.
        known: positions of journals that are known from elsewhere.
        store: the configured store's name.
    """
    lineage = Lineage(connection)
    if not lineage.journal or must_diverge(lineage, known):
        return None
    return find_loss(lineage, known, store), lineage.known


def settle_anew(
    connection: sqlite3.Connection,
    known: Sequence[Position],
    store: str,
    opening: str,
    home: str,
) -> Settled:
    """Begin an opening, in a new line if its next numbers were given out elsewhere.

    Args:
        connection: to the journal, in a transaction that writes.
        known: positions of journals that are known from elsewhere.
        store: the configured store's name.
        opening: of this process.
        home: the state folder.
    """
    lineage = Lineage(connection)
    loss = find_loss(lineage, known, store)
    if must_diverge(lineage, known):
        most = max(each.seq for each in known)
        own = [k for k in known if k.journal == lineage.journal and not lineage.covers(k)]
        agreed = min(map(lineage.agreed, own), default=lineage.last)
        lineage.diverge(agreed, most, opening, home)
    begin(connection, opening, home)
    if not lineage.last:  # a file that has records gets it later: that may take seconds
        add_index(connection)
    return loss, Lineage(connection).known
