"""Computes vectors of records in the background, after their text is searchable."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from vr_kernel import Follower, Log, RecordKind, Vectors, VrError

from vr_plugin_knowledge.embedded_store.backlog import (
    BATCH,
    Missing,
    Waiting,
    newest_position,
    next_size,
    store_vectors,
)
from vr_plugin_knowledge.embedded_store.database import Database
from vr_plugin_knowledge.embedded_store.items import reindex_kind, unknown_kinds
from vr_plugin_knowledge.embedded_store.vocabulary import list_terms, missing_terms
from vr_plugin_knowledge.matching.embeddings import is_outage, unit_vectors

REINDEX_BATCH = 500
IDLE_S = 1.0
"""Seconds without new records or searches after which the list of terms is updated."""
POSTPONED = 5
"""Times that it waits for searches to end."""


class VectorFollower:
    """Goes through the items in the order they were recorded and gives each its vector.

    One task of this process; other processes may run their own on the same file. Missing vectors
    are found by a query of the database, so nothing is lost when a process ends.
    """

    def __init__(
        self,
        database: Database,
        vectors: Vectors,
        kinds: Mapping[str, RecordKind],
        log: Log,
    ) -> None:
        self._database = database
        self._vectors = vectors
        self._kinds = kinds
        self._log = log
        self._position = 0
        self._generation = database.generation
        self._asked = 0
        self._indexed = 0
        self._failing = False
        self._searched = False
        self._size = BATCH
        self._refused: set[tuple[int, bytes]] = set()
        self._moved = asyncio.Condition()
        self._follower = Follower(
            self._catch_up,
            name="vr-vectors",
            log=log,
            complaint="texts are not embedded; they are found by keyword alone",
            on_failure=self._tell_waiting,
        )

    def wake(self) -> None:
        """Look for work, now or after the present work."""
        self._asked += 1
        self._follower.wake()

    def make_way(self) -> None:
        """Postpone work that can wait until no search runs."""
        self._searched = True

    def is_settled(self, connection: sqlite3.Connection) -> bool:
        """True when `settle` would not wait for anything in this snapshot.

        Safe to call from any thread.
        """
        asked = self._asked
        return not self._vectors.available() or self._reached(newest_position(connection), asked)

    async def settle(self, timeout: float) -> None:  # noqa: ASYNC109 - a bound, not an error
        """Wait, at most so many seconds, until all that is recorded by now has its vector.

        Does not wait for an embedder that is missing or failing.
        """
        newest, asked = await asyncio.to_thread(self._database.read, newest_position), self._asked
        if self._reached(newest, asked) or not self._vectors.available():
            return
        self.wake()
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout), self._moved:
                await self._moved.wait_for(lambda: self._reached(newest, asked))

    async def pending(self) -> int:
        """Count the items that have text to embed and no vector of the present embedder."""
        embedder = self._vectors.embedder_id if self._vectors.available() else ""
        position = self._position if embedder else 0
        missing = await asyncio.to_thread(self._database.read, Missing(embedder, position).count)
        return missing + len(self._refused)

    async def aclose(self, grace: float) -> None:
        """Stop, after at most `grace` seconds for the remaining work."""
        if not self._follower.began:
            return
        with suppress(VrError):
            await self.settle(grace)
            await self._list_terms()
        await self._follower.aclose()

    def _reached(self, newest: int, asked: int) -> bool:
        return self._failing or (self._position >= newest and self._indexed >= asked)

    async def _catch_up(self) -> None:
        await self._work_off()
        self._failing = False
        await self._list_when_idle()

    async def _list_when_idle(self) -> None:
        for _ in range(POSTPONED):
            self._searched = False
            if await self._follower.woken(IDLE_S):
                return
            if not self._searched:
                break
        await self._list_terms()

    async def _list_terms(self) -> None:
        writes, missing = await asyncio.to_thread(self._database.read, missing_terms)
        if writes:
            write = partial(list_terms, writes=writes, missing=missing)
            await asyncio.to_thread(self._database.write, write)

    async def _tell_waiting(self) -> None:
        async with self._moved:
            self._failing = True
            self._moved.notify_all()

    async def _work_off(self) -> None:
        asked = self._asked
        await self._index_unknown()
        async with self._moved:
            self._indexed = asked
            self._moved.notify_all()
        if self._generation != self._database.generation:
            # The file was replaced, and is filled again from the first record.
            self._generation, self._position = self._database.generation, 0
        if not self._vectors.available():
            return
        while True:
            started = time.monotonic()
            missing = Missing(self._vectors.embedder_id, self._position, self._size)
            newest, rows = await asyncio.to_thread(self._database.read, missing.batch)
            waiting = self._texts(rows)
            await self._embed(missing.embedder, waiting)
            async with self._moved:
                self._position = rows[-1][1] if rows else max(self._position, newest)
                self._moved.notify_all()
            if not rows:
                return
            self._size = next_size(self._size, len(rows), time.monotonic() - started)

    async def _index_unknown(self) -> None:
        unknown = await asyncio.to_thread(self._database.read, unknown_kinds)
        for kind in (self._kinds[name] for name in unknown if name in self._kinds):
            while seqs := await asyncio.to_thread(self._index, kind):
                self._position = min(self._position, *(seq - 1 for seq in seqs))

    def _index(self, kind: RecordKind) -> list[int]:
        def write(connection: sqlite3.Connection) -> list[int]:
            return reindex_kind(connection, kind, only_unknown=True, limit=REINDEX_BATCH)

        return self._database.write(write)

    def _texts(self, rows: Sequence[tuple[int, int, bytes, str, dict[str, Any]]]) -> list[Waiting]:
        return [
            Waiting(item, seq, digest, self._kinds[kind].vector_text(fields))
            for item, seq, digest, kind, fields in rows
            if kind in self._kinds and (item, digest) not in self._refused
        ]

    async def _embed(self, embedder: str, waiting: list[Waiting]) -> None:
        if not waiting:
            return
        try:
            vectors = await self._vectors.packed_documents([entry.text for entry in waiting])
        except Exception as error:  # a plugin's code; classified as outage or bad text below
            if is_outage(error):
                raise
            if len(waiting) > 1:
                await self._embed_singly(embedder, waiting, error)
                return
            self._refuse(waiting[0], error)
            return
        await self._keep(embedder, waiting, vectors)

    async def _embed_singly(self, embedder: str, waiting: list[Waiting], cause: Exception) -> None:
        before = set(self._refused)
        for entry in waiting:
            await self._embed(embedder, [entry])
        if all((entry.item, entry.digest) in self._refused for entry in waiting):
            # No text succeeded: the embedder is at fault, not the texts.
            self._refused = before
            raise cause

    def _refuse(self, entry: Waiting, error: Exception) -> None:
        self._refused.add((entry.item, entry.digest))
        self._log.warning("a text was not embedded", item=entry.item, error=str(error))

    async def _keep(self, embedder: str, waiting: list[Waiting], vectors: list[bytes]) -> None:
        dimension = self._vectors.dimension

        def keep() -> None:
            made = list(zip(waiting, unit_vectors(vectors, dimension), strict=True))
            self._database.write(lambda connection: store_vectors(connection, embedder, made))

        await asyncio.to_thread(keep)
