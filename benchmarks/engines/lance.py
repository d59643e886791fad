"""LanceDB with a full-text index and flat (exact) vectors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa

from benchmarks.engines.driving import SINGLE, TOP, drive, report
from benchmarks.engines.samples import DIMENSION, Samples, group_of


class Lance:
    """One table."""

    hybrid = True

    def __init__(self, folder: Path, size: int) -> None:
        os.environ["LANCE_LOG"] = "error"
        self._last = size + SINGLE
        self._table: Any = None
        self._database = lancedb.connect(folder)

    def add(self, samples: Samples, first: int, count: int, *, singly: bool) -> None:
        """Add rows, then index their words and merge what single rows left in pieces."""
        for start in range(first, first + count, 1 if singly else count):
            rows = _rows(samples, start, 1 if singly else count)
            if self._table is None:
                self._table = self._database.create_table("rows", rows, mode="overwrite")
            else:
                self._table.add(rows)
        if first + count == self._last:
            self._table.create_fts_index("text", replace=True)
            self._table.optimize()

    def vector(self, vector: Any, group: str | None) -> list[int]:
        """The nearest rows; the filter goes first."""
        search = self._table.search(vector)
        if group:
            search = search.where(f"grp = '{group}'", prefilter=True)
        return [row["id"] for row in search.limit(TOP).to_list()]

    def both(self, text: str, vector: Any) -> list[int]:
        """LanceDB's own fusion."""
        search = self._table.search(query_type="hybrid").vector(vector).text(text)
        return [row["id"] for row in search.limit(TOP).to_list()]


def _rows(samples: Samples, first: int, count: int) -> Any:
    values = samples.vectors[first : first + count].astype("float32").ravel()
    numbers = list(range(first, first + count))
    return pa.table(
        {
            "id": pa.array(numbers),
            "text": samples.texts[first : first + count],
            "grp": [group_of(number) for number in numbers],
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(values), DIMENSION),
        }
    )


if __name__ == "__main__":
    report(lambda folder, size, rounds: drive(Lance(folder, size), size, rounds))
