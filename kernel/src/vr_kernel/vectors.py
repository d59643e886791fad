"""Embeddings of texts, each computed once and kept beside the journal."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from array import array
from collections.abc import Sequence
from pathlib import Path
from struct import pack

from vr_kernel.database import Database
from vr_kernel.errors import VrError
from vr_kernel.providers import Embedder, Providers

PAGE_BYTES = 8192
"""A page holds five vectors of 384 numbers; SQLite's default of 4096 would waste a quarter."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vector (
    embedder TEXT NOT NULL, sha256 TEXT NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (embedder, sha256)
);
"""


class Vectors:
    """The configured embedder, with a memory: a replay of the journal embeds nothing anew."""

    def __init__(self, path: Path, providers: Providers) -> None:
        self._database = Database(path, _SCHEMA, disposable=True, page_bytes=PAGE_BYTES)
        self._providers = providers

    def available(self) -> bool:
        """Whether an embedder is installed."""
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

    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit-length vector a text, in order.

        Raises:
            VrError: UNAVAILABLE when no embedder is installed.
        """
        keys = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        known = await self._known(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            fresh = await self._embedder().embed(list(missing.values()), "document")
            made = dict(zip(missing, fresh, strict=True))
            await self._remember(made)
            known |= made
        return [known[key] for key in keys]

    async def embed_query(self, text: str) -> list[float]:
        """The vector of a question.

        Raises:
            VrError: UNAVAILABLE when no embedder is installed.
        """
        return (await self._embedder().embed([text], "query"))[0]

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _embedder(self) -> Embedder:
        return self._providers.get(Embedder)

    async def _known(self, keys: Sequence[str]) -> dict[str, list[float]]:
        embedder, size = self.embedder_id, array("f").itemsize * self.dimension

        def read(connection: sqlite3.Connection) -> dict[str, list[float]]:
            rows = connection.execute(
                "SELECT sha256, value FROM vector WHERE embedder = ?"
                " AND sha256 IN (SELECT value FROM json_each(?))",
                (embedder, json.dumps(keys)),
            )
            return {
                key: array("f", value).tolist()
                for key, value in rows
                if isinstance(value, bytes) and len(value) == size
            }

        try:
            return await self._database.read(read)
        except VrError:
            return {}

    async def _remember(self, vectors: dict[str, list[float]]) -> None:
        embedder = self.embedder_id
        rows = [(embedder, key, pack(f"{len(v)}f", *v)) for key, v in vectors.items()]

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR REPLACE INTO vector VALUES (?,?,?)", rows)

        try:
            await self._database.run(write)
        except VrError:
            return
