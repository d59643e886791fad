"""The protocol of stores that index the journal, and the questions that they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from vr_kernel.records import Change, RecordKind

REFILLS = "vr.refills"
"""Entry point group: stores, each with the command that records again what only it has."""
SearchMode = Literal["hybrid", "semantic", "keyword"]
FilterOperator = Literal["=", "!=", "<", "<=", ">", ">=", "in", "contains"]


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on one field; the value is always taken literally."""

    field: str
    operator: FilterOperator
    value: Any


@dataclass(frozen=True, slots=True)
class Query:
    """A question to a store; `limit` counts per kind, alpha 0 is keywords, 1 is meaning alone.

    A kind that cannot be filtered as asked is left out; with `lenient` it is searched without
    that condition.
    """

    text: str
    vector: Sequence[float] | None = None
    mode: SearchMode = "hybrid"
    alpha: float = 0.5
    kinds: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    limit: int = 10
    workspace: str = "default"
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record as a store returns it."""

    kind: str
    key: str
    fields: Mapping[str, Any]
    provenance: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that a search found; scores of one search compare across kinds, higher is better."""

    record: StoredRecord
    score: float


class Store(Protocol):
    """An index over the journal. It keeps its own cursor, in the transaction of the changes.

    It may also keep the identity of that journal, see `vr_kernel.FollowingStore`.
    """

    name: str

    async def open(self, kinds: Sequence[RecordKind]) -> None:
        """Create or evolve what the kinds need; fields are added, never dropped."""

    async def aclose(self) -> None:
        """Finish background work and close files and connections."""

    async def cursor(self) -> int:
        """The journal sequence number up to which changes were applied."""

    async def apply(self, changes: Sequence[Change]) -> None:
        """Apply changes in order, and move the cursor with them, or do nothing at all."""

    async def pending_vectors(self) -> int:
        """Count the records that are searchable by keyword but not yet by meaning."""

    async def get(self, kind: str, key: str, workspace: str) -> StoredRecord | None:
        """One record, or None."""

    async def search(self, query: Query) -> list[Hit]:
        """Best hits first, at most `query.limit` of each kind."""

    async def near(self, kind: str, key: str, workspace: str, limit: int) -> list[Hit]:
        """Records of that kind nearest in meaning to one record, without that record."""

    async def count(self, kind: str, workspace: str, group_by: str | None = None) -> dict[str, int]:
        """Counts by value of `group_by`; without it the total under the empty name."""


def refill_command(store: str) -> str:
    """The command that records again what only a store has; empty if unknown.

    A distribution names it by an entry point of the group `vr.refills`: `mine = "notes:refill"`
    stands for `vr notes refill --from mine`. Hints need it when no plugin may be loaded.
    """
    from importlib.metadata import entry_points  # seldom needed

    for found in entry_points(group=REFILLS, name=store):
        return f"vr {found.module} {found.attr} --from {store}"
    return ""
