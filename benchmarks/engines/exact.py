"""The same fusion without any short cut: what the answers of our store are held against."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np  # noqa: TID253 - this module is for a process of its own
from vr_plugin_knowledge.matching.fusion import CANDIDATES, fuse
from vr_plugin_knowledge.matching.terms import split_terms

from benchmarks.engines.driving import SINGLE, WARM
from benchmarks.engines.samples import Samples

ALPHA = 0.5
TIE = 1e-3
"""Words that most texts hold weigh a millionth, which the store leaves out."""


def fused_exactly(file: Path, size: int, rounds: int) -> Iterator[dict[int, float]]:
    """Scores of rows by question: SQLite's own ranking, and all inner products."""
    samples = Samples(size + SINGLE)
    with closing(sqlite3.connect(file)) as connection:
        keys = {item: int(key) for item, key in connection.execute("SELECT id, key FROM item")}
        for question in samples.questions(WARM + rounds):
            terms = split_terms(question.text)
            words = _by_word(connection, terms)
            scores = samples.vectors @ question.vector
            nearest = np.argsort(-scores)[:CANDIDATES]
            meanings = {int(row): float(scores[row]) for row in nearest}
            yield fuse(
                {keys[item]: score for item, score in words.items()},
                meanings,
                alpha=ALPHA,
                whole=_whole(connection, terms, len(keys)),
            )


def recall_of(answer: Sequence[int], truth: Mapping[int, float]) -> float:
    """The share of the best that an answer holds; of equal scores either is right."""
    wanted = sorted(truth.values(), reverse=True)[: len(answer)]
    right = [row for row in answer if truth.get(row, 0.0) >= wanted[-1] - TIE]
    return len(right) / len(answer)


def _by_word(connection: sqlite3.Connection, terms: list[str]) -> dict[int, float]:
    rows = connection.execute(
        "SELECT rowid, rank FROM body WHERE body MATCH ? ORDER BY rank LIMIT ?",
        (" OR ".join(f'"{term}"' for term in terms), CANDIDATES),
    )
    return {item: -rank for item, rank in rows}


def _whole(connection: sqlite3.Connection, terms: list[str], total: int) -> float:
    def weight(term: str) -> float:
        sql = "SELECT count(*) FROM body WHERE body MATCH ?"
        (holders,) = connection.execute(sql, (f'"{term}"',)).fetchone()
        return max(1e-6, math.log((total - holders + 0.5) / (holders + 0.5)))

    return sum(map(weight, terms))
