"""Services for what was recorded or computed before: cache, journal, store, vectors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from pydantic import BaseModel

if TYPE_CHECKING:
    from pathlib import Path

    from vr_kernel.errors import VrError
    from vr_kernel.items.pictures import Picture
    from vr_kernel.journal.dead_letters import DeadLetter
    from vr_kernel.journal.following import StoreStatus
    from vr_kernel.records import Change, Source
    from vr_kernel.state.journal import Loss, Position, Undeclared
    from vr_kernel.stores import Hit, Query, StoredRecord

M = TypeVar("M", bound=BaseModel)


class CachePlace(Protocol[M]):
    """The place of one result in the cache."""

    async def get(self) -> M | None:
        """Return the result; None when it is missing, too old, damaged or of another shape."""

    async def put(self, value: M, *, content_id: str = "", tool: str = "", model: str = "") -> None:
        """Keep the result; the names are for `infra_cache` to list and clear by."""

    async def delete(self) -> None:
        """Forget the result."""


class Cache(Protocol):
    """Results that are kept between runs."""

    def model(self, key: str, shape: type[M], /) -> CachePlace[M]:
        """Name the place of a result of that shape, under a key made by `cache_key`."""


class Continuity(Protocol):
    """Tells if a journal still has everything: an emptied or older file is noticed.

    Attributes:
        journal: the identity of the journal, empty before it has one.
        loss: what it lacks, as far as is known.
        told: True when a loss is reported elsewhere, so that it need not be logged.
    """

    journal: str
    loss: Loss | None
    told: bool

    @property
    def refusal(self) -> VrError | None:
        """The error of rebuilding a store while the journal lacks records, else None."""

    async def look(self) -> Loss | None:
        """Find out what the journal lacks, and log it once."""

    async def is_readable(self) -> bool:
        """Return False for a journal that is damaged."""

    async def lacks(self, *, owner: bool = True) -> str:
        """Say to the owner, or to others, what the journal lacks; empty when it lacks nothing."""

    async def lacks_any(self, positions: Sequence[Position], /) -> bool:
        """Return True when a store has reached numbers that this file never gave out."""


class Journal(Protocol):
    """Every record in order: the source that stores index."""

    @property
    def continuity(self) -> Continuity:
        """The check that the file still has what it had."""

    @property
    def left_out(self) -> int:
        """The number of damaged rows found so far; none of them reached a store."""

    async def changes(
        self,
        after: int,
        limit: int = 500,
        kinds: Collection[str] = (),
        workspace: str | None = None,
    ) -> list[Change]:
        """Read up to `limit` changes with a sequence number above `after`, rising.

        With `kinds` or `workspace` those of others are left out, which costs little.
        """

    async def keys(self, kind: str, workspace: str) -> list[str]:
        """List the keys of all records of a kind, sorted."""

    async def has(self, workspace: str, records: Collection[tuple[str, str]], /) -> bool:
        """Return True when all of these records, as kind and key, exist."""

    async def former(self, workspace: str, kind: str, key: str) -> list[Change]:
        """Read the former versions of a record, the latest first; for kinds with a history."""

    async def forget_former(self, workspace: str, before: str, kind: str | None = None) -> int:
        """Delete versions from before that moment, of one kind or all; returns how many."""

    async def record(self, workspace: str, kind: str, key: str) -> Change | None:
        """Read one record; None when there is none, or it is deleted or damaged."""

    async def sources(
        self, workspace: str, after: int | None = None, limit: int = 100, kind: str = ""
    ) -> list[Source]:
        """List up to `limit` of the sources that records are about, the last changed first.

        Args:
            workspace: whose records.
            after: the `seq` of the last one that was seen; those of the next page are lower.
            limit: of sources.
            kind: only sources that have records of it.
        """

    async def source(self, workspace: str, id: str) -> Source | None:  # noqa: A002 - the word for it
        """Return one source, by its id; None when no record is about it."""

    async def of_source(
        self,
        workspace: str,
        id: str,  # noqa: A002 - the word for it
        after: int = 0,
        limit: int = 500,
    ) -> list[Change]:
        """Read up to `limit` records about a source with a number above `after`, rising.

        Those of kinds whose plugin is no longer installed are among them.
        """

    async def undeclared(self, workspace: str, kinds: Collection[str]) -> list[Undeclared]:
        """Count the records of kinds that are not among these: their plugins are not loaded."""

    async def last_seq(self) -> int:
        """Return the highest sequence number given out, 0 for an empty journal."""

    async def count(self, after: int = 0) -> int:
        """Count the records and deletions with a sequence number above `after`."""

    async def check(self) -> None:
        """Check that records can be written now.

        Raises:
            VrError: UNAVAILABLE when they cannot.
        """

    async def home(self) -> str:
        """Return the state folder in which this journal was begun, wherever it is now."""


class SearchableStore(Protocol):
    """The configured store, which follows the journal, and its answers."""

    @property
    def name(self) -> str:
        """The configured store's name, empty when none is installed."""

    def available(self) -> bool:
        """Return True when a store is installed."""

    async def catch_up(self, timeout: float = 2.0) -> int:  # noqa: ASYNC109 - seconds to wait
        """Wait for the store to have all that this process recorded; returns what it lacks."""

    async def search(self, query: Query) -> list[Hit]:
        """Find records, best hits first; see `Store.search`."""

    async def near(self, kind: str, key: str, workspace: str, limit: int) -> list[Hit]:
        """Find records like one; see `Store.near`."""

    async def get(self, kind: str, key: str, workspace: str) -> StoredRecord | None:
        """Return one record; see `Store.get`."""

    async def count(self, kind: str, workspace: str, group_by: str | None = None) -> dict[str, int]:
        """Count records; see `Store.count`."""

    async def pending_vectors(self) -> int:
        """Count texts that wait for their vector; see `Store.pending_vectors`."""

    async def status(self) -> StoreStatus:
        """Return the position of the store."""

    @property
    def trouble(self) -> VrError | None:
        """The reason why the store accepts nothing now."""

    async def dead_letters(self) -> list[DeadLetter]:
        """List the records that the store rejected, the latest first."""

    async def retry(self, refused: Sequence[DeadLetter], /) -> None:
        """Send records again, as if they were recorded just now."""

    async def give_up(self, refused: Sequence[DeadLetter], /) -> None:
        """Take records off the list; they stay in the journal, and out of this store."""

    async def restart(self, *, empty: bool) -> Path | None:
        """Deliver the whole journal again, to an emptied store or to the present one.

        Returns the file in which a store that was not empty is kept.
        """


class Vectors(Protocol):
    """Embeddings of texts and pictures, each computed once and kept."""

    def available(self) -> bool:
        """Return True when an embedder is installed."""

    @property
    def embedder_id(self) -> str:
        """Model and version of the embedder; vectors of different ids never mix."""

    @property
    def dimension(self) -> int:
        """Length of every vector."""

    @property
    def accepts(self) -> frozenset[str]:
        """Kinds of item that can be embedded: `text`, `image`; others are refused."""

    async def embed_documents(self, items: Sequence[str | Picture]) -> list[list[float]]:
        """Return one unit-length vector per item, in order."""

    async def packed_documents(self, items: Sequence[str | Picture]) -> list[bytes]:
        """Return the vectors of `embed_documents`, each as 32-bit numbers one after the other."""

    async def embed_query(self, item: str | Picture) -> list[float]:
        """Return the vector of a question, which may be a picture."""
