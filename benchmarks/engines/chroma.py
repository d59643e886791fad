"""Chroma as it comes, with the vectors given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings

from benchmarks.engines.driving import TOP, drive, report
from benchmarks.engines.samples import Samples, group_of


class Chroma:
    """One collection."""

    hybrid = False

    def __init__(self, folder: Path) -> None:
        client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
        self._rows = client.create_collection("rows", embedding_function=None)

    def add(self, samples: Samples, first: int, count: int, *, singly: bool) -> None:
        """Add rows."""
        step = 1 if singly else count
        for start in range(first, first + count, step):
            numbers = range(start, start + step)
            self._rows.add(
                ids=[str(number) for number in numbers],
                embeddings=samples.vectors[start : start + step],
                documents=samples.texts[start : start + step],
                metadatas=[{"group": group_of(number)} for number in numbers],
            )

    def vector(self, vector: Any, group: str | None) -> list[int]:
        """The nearest rows."""
        where: Any = {"group": group} if group else None
        found = self._rows.query(query_embeddings=[vector], n_results=TOP, where=where)
        return [int(number) for number in found["ids"][0]]

    def both(self, text: str, vector: Any) -> list[int]:
        """Nothing: Chroma does not rank by words."""
        del text, vector
        return []


if __name__ == "__main__":
    report(lambda folder, size, rounds: drive(Chroma(folder), size, rounds))
