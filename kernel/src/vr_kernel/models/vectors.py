"""Embeddings of texts and pictures, each computed once and kept next to the journal."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import sqlite3
from array import array
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from pathlib import Path
from struct import pack
from typing import TYPE_CHECKING, Any

from vr_kernel.errors import Code, VrError
from vr_kernel.generation import Purpose
from vr_kernel.isolation.plugin_code import PluginCode
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.providers import Embedder, ProviderRegistry
from vr_kernel.storage.kept_database import KeptDatabase
from vr_kernel.storage.patience import Patience

if TYPE_CHECKING:
    from vr_kernel.items.pictures import Picture

PAGE_BYTES = 8192
"""A page holds five vectors of 384 numbers; SQLite's default of 4096 would waste a quarter."""
QUESTIONS = 1000
"""Number of the latest question vectors that are kept, for all embedders together."""
QUESTION_WAIT_S = 0.5
"""Seconds to wait for another process before a question is remembered."""
PATIENCE_S = 120.0
"""Seconds to wait for a process that embeds the same items; then they are embedded here."""
CLOSE_GRACE_S = 1.0
"""Seconds that running embeddings may take to finish when the program ends."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vector (
    embedder TEXT NOT NULL, sha256 TEXT NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (embedder, sha256)
);
CREATE TABLE IF NOT EXISTS question (
    embedder TEXT NOT NULL, sha256 TEXT NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (embedder, sha256)
);
"""
_TABLES: Mapping[Purpose, str] = {"document": "vector", "query": "question"}
_Vectors = dict[str, bytes]
"""Vectors of items by digest, in their stored form."""
_Items = Mapping[str, "str | Picture"]
_Embed = Callable[[_Items, Purpose], Coroutine[Any, Any, _Vectors]]


class VectorCache:
    """The configured embedder with a cache: nothing is embedded, and paid for, twice.

    An embedding that has begun is finished and kept even when its caller is gone.

    Args:
        path: of the database.
        providers: gives the embedder.
        leases: keep two processes from embedding the same items.
        tell: called once for each damage found in the database.
        patience: with locks, shared with the other files of the program.
    """

    def __init__(
        self,
        path: Path,
        providers: ProviderRegistry,
        leases: LedgerLeases,
        tell: Callable[[VrError], None] = lambda _error: None,
        patience: Patience | None = None,
    ) -> None:
        self._database = KeptDatabase(
            path, _SCHEMA, disposable=True, page_bytes=PAGE_BYTES, tell=tell, patience=patience
        )
        self._providers = providers
        self._leases = leases
        self._running: dict[tuple[str, ...], asyncio.Task[_Vectors]] = {}
        self._closed = False

    def available(self) -> bool:
        """Check if an embedder is installed."""
        try:
            self._embedder()
        except VrError:
            return False
        return True

    @property
    def embedder_id(self) -> str:
        """Model and version of the embedder; vectors of different ids never mix."""
        return self._embedder().id

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return self._embedder().dimension

    @property
    def accepts(self) -> frozenset[str]:
        """Kinds of item that can be embedded: `text`, `image`."""
        from vr_kernel.items.acceptance import accepted_by

        return accepted_by(self._embedder())

    async def embed_documents(self, items: Sequence[str | Picture]) -> list[list[float]]:
        """One unit-length vector per item, in order.

        Raises:
            VrError: UNSUPPORTED, category MEDIA_UNSUPPORTED, for pictures when the embedder takes
                texts alone; UNAVAILABLE when no embedder is installed; CONFLICT when closed.
        """
        return [_unpacked(vector) for vector in await self.packed_documents(items)]

    async def packed_documents(self, items: Sequence[str | Picture]) -> list[bytes]:
        """The vectors of `embed_documents`, each as its 32-bit numbers one after the other.

        Raises:
            VrError: as for `embed_documents`.
        """
        self._require_open()
        self._require_accepted(items)
        keys = [_key(item) for item in items]
        known = await self._known("document", keys)
        missing = {key: item for key, item in zip(keys, items, strict=True) if key not in known}
        if missing:
            known |= await self._finished(self._embed_once, missing, "document")
        return [known[key] for key in keys]

    async def embed_query(self, item: str | Picture) -> list[float]:
        """The vector of a question, which may be a picture.

        Raises:
            VrError: as for `embed_documents`.
        """
        self._require_open()
        self._require_accepted([item])
        key = _key(item)
        known = await self._known("query", [key])
        if not known:
            known = await self._finished(self._embed, {key: item}, "query")
        return _unpacked(known[key])

    async def aclose(self) -> None:
        """Wait a short time for running embeddings, and close the file."""
        self._closed = True
        if running := [*self._running.values()]:
            _, late = await asyncio.wait(running, timeout=CLOSE_GRACE_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        self._database.close()

    def _require_open(self) -> None:
        # A store that is closed after this would open the file again.
        if self._closed:
            raise VrError(
                "Nothing is embedded any more: the kernel is closed.",
                Code.CONFLICT,
                category="KERNEL_CLOSED",
                hint="Open a new kernel.",
            )

    def _require_accepted(self, items: Sequence[str | Picture]) -> None:
        from vr_kernel.items.acceptance import require_accepted

        require_accepted(self.embedder_id, self.accepts, items)

    def _embedder(self) -> Embedder:
        return self._providers.get(Embedder)

    async def _finished(self, embed: _Embed, items: _Items, purpose: Purpose) -> _Vectors:
        """Await an embedding; it continues when the caller is cancelled, and equal ones join it."""
        name = (self.embedder_id, purpose, *items)
        task = self._running.get(name)
        if task is None:
            self._require_open()
            # Outside `ended`, some exceptions of an embedder would end the process.
            task = asyncio.create_task(PluginCode.ended(embed(items, purpose)), name="vr-vectors")
            self._running[name] = task
            task.add_done_callback(lambda ended: self._end(name, ended))
        await asyncio.wait({task})
        return task.result()

    def _end(self, name: tuple[str, ...], task: asyncio.Task[_Vectors]) -> None:
        del self._running[name]
        if not task.cancelled():
            task.exception()  # mark as retrieved: no caller may be left

    async def _embed_once(self, items: _Items, purpose: Purpose) -> _Vectors:
        """Embed in one process only what no other has embedded meanwhile."""
        known: _Vectors = {}

        async def embedded() -> bool:
            known.update(await self._known(purpose, items))
            return known.keys() >= items.keys()

        async with self._leases.held(
            f"vectors/{self.embedder_id}",
            until=embedded,
            patience=PATIENCE_S,
            without=lambda _error: True,
        ) as lease:
            if lease is None and not known:  # `until` was not called without a ledger
                await embedded()
            missing = {key: item for key, item in items.items() if key not in known}
            return known | (await self._embed(missing, purpose) if missing else {})

    async def _embed(self, items: _Items, purpose: Purpose) -> _Vectors:
        with self._providers.contained(Embedder):
            fresh = await self._embedder().embed(list(items.values()), purpose)
            if purpose == "query":  # for documents the store reports it
                _require_direction(fresh, self.dimension)
            vectors = zip(items, fresh, strict=True)
            made = {key: pack(f"{len(vector)}f", *vector) for key, vector in vectors}
        await self._remember(purpose, made)
        return made

    async def _known(self, purpose: Purpose, keys: Collection[str]) -> _Vectors:
        embedder, size = self.embedder_id, array("f").itemsize * self.dimension

        def read(connection: sqlite3.Connection) -> _Vectors:
            rows = connection.execute(
                f"SELECT sha256, value FROM {_TABLES[purpose]} WHERE embedder = ?"  # noqa: S608 - constant text
                " AND sha256 IN (SELECT value FROM json_each(?))",
                (embedder, json.dumps([*keys])),
            )
            found = {}
            for key, value in rows:
                if isinstance(value, bytes) and len(value) == size:
                    found[key] = value
                else:
                    self._database.leave_out(_TABLES[purpose], key)
            return found

        try:
            return await self._database.look(read)
        except VrError:
            return {}

    async def _remember(self, purpose: Purpose, vectors: _Vectors) -> None:
        embedder, table = self.embedder_id, _TABLES[purpose]
        # In index order, so that neighbours are written together.
        rows = [(embedder, key, vectors[key]) for key in sorted(vectors)]

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?,?,?)", rows)  # noqa: S608 - constant text
            if purpose == "query":
                latest = "(SELECT max(rowid) FROM question)"
                connection.execute(
                    f"DELETE FROM question WHERE rowid <= {latest} - ?",  # noqa: S608 - constant text
                    (QUESTIONS,),
                )

        try:  # the embedding may have been paid for
            if purpose == "query":  # it only saves time, so do not wait long
                await self._database.run(write, wait_s=QUESTION_WAIT_S)
            else:
                await self._database.keep(write, None)
        except VrError:
            return


def _require_direction(vectors: Sequence[Sequence[float]], dimension: int) -> None:
    """Refuse vectors that no store can compare.

    Raises:
        ValueError: for a wrong length, or a number that is not finite.
    """
    for vector in vectors:
        if len(vector) != dimension:
            raise ValueError(f"a vector has {len(vector)} numbers, the embedder says {dimension}")
        if not all(map(math.isfinite, array("f", vector))):  # in its stored form
            raise ValueError("a vector has numbers that are not finite")


def _unpacked(vector: bytes) -> list[float]:
    return array("f", vector).tolist()


def _key(item: str | Picture) -> str:
    """The SHA-256 of an item; no text begins with the byte that is put before a picture."""
    if isinstance(item, str):
        return hashlib.sha256(item.encode()).hexdigest()
    digest = hashlib.sha256(b"\xff")
    digest.update(item.data)
    return digest.hexdigest()
