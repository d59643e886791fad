"""The end of a call: everything that is written then, together or in a safe order."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vr_kernel.errors import VrError

if TYPE_CHECKING:
    from vr_kernel.state.cache import CacheRow
    from vr_kernel.state.entries import Entry
    from vr_kernel.state.jobs import Ending


@dataclass(frozen=True, slots=True)
class JobEnd:
    """The end of a job by its owner, who has the lease of that token."""

    id: str
    token: int
    state: Ending
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class CachePut:
    """A result to be cached; a sound one that was put after `unless_since` is kept instead."""

    row: CacheRow
    unless_since: float | None = None


@dataclass(frozen=True, slots=True)
class CallEnd:
    """Everything that the end of a call writes.

    Args:
        workspace: of its entries.
        cached_in: the workspace of its cached results.
        provenance: of its entries.
        entries: for the journal.
        cache: its results.
        paid: True when something was paid for: it waits in memory while there is no room.
        essential: True when nothing is written if the entries cannot be.
        fence: token of a lease without which nothing is written.
        leases: tokens of leases that are given back.
        finished: of those, the work whose steps are removed, as it is in the results now.
        job: the end of a job.
    """

    workspace: str = ""
    cached_in: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    entries: Sequence[Entry] = ()
    cache: Sequence[CachePut] = ()
    paid: bool = False
    essential: bool = False
    fence: int | None = None
    leases: Collection[int] = ()
    finished: Mapping[int, str] = field(default_factory=dict)
    job: JobEnd | None = None


@dataclass(slots=True)
class Finished:
    """The outcome of writing the end of a call.

    Attributes:
        owned: False when another process has the work by now; nothing was written from then on.
        seq: the highest number of the journal; None when no entries were written.
        unrecorded: why the entries were not written, and nothing after them.
        uncached: why a result was not cached.
        unreleased: tokens of leases that could not be given back; they end by themselves.
    """

    owned: bool = True
    seq: int | None = None
    unrecorded: VrError | None = None
    uncached: VrError | None = None
    unreleased: list[int] = field(default_factory=list)
