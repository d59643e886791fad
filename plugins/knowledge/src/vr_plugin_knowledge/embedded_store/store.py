"""The embedded store: one SQLite file with full text, facets and vectors of every record."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from vr_kernel import (
    Change,
    Hit,
    Log,
    Position,
    Query,
    RecordKind,
    Services,
    StoredRecord,
    Vectors,
    VrError,
)

from vr_plugin_knowledge.embedded_store.counts import Groups, Total
from vr_plugin_knowledge.embedded_store.database import Database
from vr_plugin_knowledge.embedded_store.items import (
    STORED,
    apply_changes,
    is_outdated,
    load_row,
    read_cursor,
    read_page,
    reindex_kind,
)
from vr_plugin_knowledge.embedded_store.matrix import Matrix, Space
from vr_plugin_knowledge.embedded_store.positions import (
    begin_again,
    follow,
    keep_opening,
    read_positions,
)
from vr_plugin_knowledge.embedded_store.ranking import Ranking
from vr_plugin_knowledge.embedded_store.vector_follower import REINDEX_BATCH, VectorFollower
from vr_plugin_knowledge.matching.embeddings import wants_vectors
from vr_plugin_knowledge.matching.facets import groupable
from vr_plugin_knowledge.rebuilt import REBUILT, rebuilt

FILE_NAME = "knowledge.db"


class EmbeddedStore:
    """A `Store` in one SQLite file, which several processes may use at once.

    Text is found as soon as `apply` returns; vectors follow in a background task. Without an
    embedder it searches by keyword alone.

    Args:
        path: the database file, made when missing.
        vectors: turns text into vectors.
        log: where degraded operation is reported.
        refusal: returns the error when a damaged file must not be rebuilt from the journal; None to
            allow it.
        vector_wait_s: seconds that a search waits for the vectors of earlier records.
        close_grace_s: seconds that closing waits for vectors; missing ones are made at the next
            start.
    """

    name = "embedded"

    def __init__(
        self,
        path: Path,
        vectors: Vectors,
        log: Log,
        refusal: Callable[[], VrError | None] = lambda: None,
        *,
        vector_wait_s: float = 1.5,
        close_grace_s: float = 3.0,
    ) -> None:
        self._kinds: dict[str, RecordKind] = {}
        self._vectors = vectors
        self._database = Database(path, log, refusal)
        self._vector_wait_s, self._close_grace_s = vector_wait_s, close_grace_s
        self._journal = ""
        self._matrix = Matrix()
        self._follower = VectorFollower(self._database, vectors, self._kinds, log)
        self._read_from = 0

    async def open(self, kinds: Sequence[RecordKind]) -> None:
        """Set the record kinds; items that another version of a kind indexed are reindexed."""
        self._kinds.update({kind.name: kind for kind in kinds})
        for kind in kinds:
            while await asyncio.to_thread(self._reindex, kind):
                pass
        self._follower.wake()

    async def aclose(self) -> None:
        """Finish work that is nearly done, then close the file."""
        await self._follower.aclose(self._close_grace_s)
        await asyncio.to_thread(self._database.close)
        self._matrix.close()

    async def cursor(self) -> int:
        """The journal sequence number up to which changes were applied."""
        try:
            self._read_from = await asyncio.to_thread(self._database.read, read_cursor)
        except VrError as error:
            if error.category != REBUILT:
                raise
            self._read_from = 0
        return self._read_from

    async def positions(self) -> list[Position]:
        """Positions in the followed journal, and in earlier ones."""
        return await asyncio.to_thread(self._database.read, read_positions)

    async def follow(self, position: Position) -> None:
        """Follow that journal from that position."""
        if (await self.positions())[0].journal != position.journal:
            await asyncio.to_thread(self._database.write, partial(follow, position=position))
        self._journal = position.journal

    async def restart(self, journal: str, *, empty: bool) -> Path | None:
        """Follow that journal from its beginning; with `empty` in a new file.

        Returns the file that holds the given-up records.
        """
        work, kept = partial(begin_again, journal=journal), None
        if empty:
            kept = await asyncio.to_thread(self._database.renew, work)
        else:
            await asyncio.to_thread(self._database.write, work)
        self._journal, self._read_from = journal, 0
        return kept

    async def apply(self, changes: Sequence[Change]) -> None:
        """Apply the changes after the cursor, all or none.

        Raises:
            VrError: UNAVAILABLE, category STORE_REBUILT, when the file was replaced since its
                cursor was read: it lacks the changes before these.
        """
        expected = self._read_from

        def write(connection: sqlite3.Connection) -> int:
            followed = read_positions(connection)[0]
            if followed.seq < expected or self._journal not in ("", followed.journal):
                raise rebuilt(
                    "The knowledge base was replaced and is being rebuilt from the journal."
                )
            if changes:
                keep_opening(connection, self._journal, changes[-1].opening)
            return apply_changes(connection, changes, self._kinds)

        self._read_from = await asyncio.to_thread(self._database.write, write)
        self._follower.wake()

    async def pending_vectors(self) -> int:
        """Count the records that are found by keyword but not yet by meaning."""
        return await self._follower.pending()

    async def get(self, kind: str, key: str, workspace: str) -> StoredRecord | None:
        """One record, or None."""

        def read(connection: sqlite3.Connection) -> StoredRecord | None:
            row = connection.execute(
                f"SELECT {STORED} FROM scope s JOIN item i ON i.scope = s.id"  # noqa: S608 - constant text
                " WHERE s.workspace = ? AND s.kind = ? AND i.key = ?",
                (workspace, kind, key),
            ).fetchone()
            return StoredRecord(kind, *load_row(row)) if row else None

        return await asyncio.to_thread(self._database.read, read)

    async def page(self, after: int, limit: int) -> list[tuple[int, str, StoredRecord]]:
        """Up to `limit` records after an item, each with its item and its workspace."""

        def read(connection: sqlite3.Connection) -> list[tuple[int, str, StoredRecord]]:
            return list(read_page(connection, after, limit))

        return await asyncio.to_thread(self._database.read, read)

    async def search(self, query: Query) -> list[Hit]:
        """Best hits first, at most `query.limit` of each kind.

        A kind that cannot be filtered as asked is left out. Without an embedder a hybrid
        search goes by keyword alone.

        Raises:
            VrError: INVALID_INPUT for a vector of another dimension, or a filter value of
                another type than its field.
        """
        if query.limit < 1:
            return []
        self._follower.make_way()
        if wants_vectors(query, self._vectors):
            return await self._settled(lambda ranking: ranking.answer(query))

        def read(connection: sqlite3.Connection) -> list[Hit]:
            return self._ranking(connection, None).answer(query)

        return await asyncio.to_thread(self._database.read, read)

    async def near(self, kind: str, key: str, workspace: str, limit: int) -> list[Hit]:
        """Records of that kind nearest in meaning, by cosine similarity, without itself."""
        if limit < 1 or not self._vectors.available():
            return []
        return await self._settled(lambda ranking: ranking.neighbours(kind, key, workspace, limit))

    async def count(self, kind: str, workspace: str, group_by: str | None = None) -> dict[str, int]:
        """Counts by value of a filterable field; a date counts by day, a list by element.

        Raises:
            VrError: INVALID_INPUT for a field that the kind does not have or cannot group by.
        """
        if group_by is None:
            return await asyncio.to_thread(self._database.read, Total(kind, workspace))
        if kind not in self._kinds:
            return {}
        field = groupable(self._kinds[kind], group_by)
        return await asyncio.to_thread(self._database.read, Groups(kind, workspace, field))

    async def _settled(self, ask: Callable[[Ranking], list[Hit]]) -> list[Hit]:
        """Query a snapshot that has its vectors; when they are not ready in time, one without."""

        def read(connection: sqlite3.Connection) -> list[Hit]:
            return ask(self._ranking(connection, self._space()))

        def read_when_settled(connection: sqlite3.Connection) -> list[Hit] | None:
            return read(connection) if self._follower.is_settled(connection) else None

        hits = await asyncio.to_thread(self._database.read, read_when_settled)
        if hits is not None:
            return hits
        if not self._database.is_held():  # no vector is made before the other process continues
            await self._follower.settle(self._vector_wait_s)
        return await asyncio.to_thread(self._database.read, read)

    def _ranking(self, connection: sqlite3.Connection, space: Space | None) -> Ranking:
        return Ranking(connection, self._kinds, self._matrix, space)

    def _space(self) -> Space:
        return Space(self._vectors.embedder_id, self._vectors.dimension, self._database.generation)

    def _reindex(self, kind: RecordKind) -> list[int]:
        def write(connection: sqlite3.Connection) -> list[int]:
            return reindex_kind(connection, kind, only_unknown=False, limit=REINDEX_BATCH)

        try:
            # Looked up first: without outdated items there is no need to wait for other writers.
            outdated = self._database.read(partial(is_outdated, kind=kind))
            if outdated and not self._database.unwritable:
                return self._database.write(write)
        except VrError as error:
            if error.category != REBUILT:
                raise
        return []


def build_store(services: Services) -> EmbeddedStore:
    """The embedded store of a kernel, in its state folder."""
    continuity = services.journal.continuity
    return EmbeddedStore(
        services.paths.state / FILE_NAME,
        services.vectors,
        services.log,
        lambda: continuity.refusal,
    )
