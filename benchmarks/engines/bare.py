"""The least that a search costs: SQLite's full text or filter, one product, ten rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np  # noqa: TID253 - this module is for a process of its own
from vr_plugin_knowledge.matching.fusion import CANDIDATES
from vr_plugin_knowledge.matching.terms import split_terms

from benchmarks.engines.driving import SINGLE, TOP, WARM, timed
from benchmarks.engines.samples import STOP_WORDS, Question, Samples, group_of


class Bare:
    """One thread, one connection, all vectors in one array; nothing is checked, fused or awaited.

    Stop words are left out of a question that has others: the store leads by rare words, and
    SQLite takes far longer for all.
    """

    def __init__(self, connection: sqlite3.Connection, samples: Samples) -> None:
        self._connection = connection
        self._vectors = np.ascontiguousarray(samples.vectors, np.float32)
        self._common = set(STOP_WORDS.split())
        sql = "SELECT scope, min(id) FROM item"
        self._scope, self._first = connection.execute(sql).fetchone()

    def ask(self, question: Question) -> list[object]:
        """Candidates by words and by vector, and ten rows read."""
        terms = split_terms(question.text)
        rare = [term for term in terms if term not in self._common] or terms
        by_words = self._connection.execute(
            "SELECT rowid FROM body WHERE body MATCH ? ORDER BY rank LIMIT ?",
            (" OR ".join(f'"{term}"' for term in rare), CANDIDATES),
        ).fetchall()
        nearest = _highest(np.vecdot(self._vectors, question.vector), CANDIDATES)
        return [*self._read([item for (item,) in by_words[:TOP]]), nearest]

    def ask_within(self, question: Question, group: str) -> list[object]:
        """The nearest rows of a group, read."""
        sql = "SELECT item FROM facet WHERE scope = ? AND field = 'group' AND value = ?"
        found = self._connection.execute(sql, (self._scope, group)).fetchall()
        items = np.array(found, np.int64).ravel()
        scores = np.vecdot(self._vectors[items - self._first], question.vector)
        return self._read(items[_highest(scores, TOP)].tolist())

    def _read(self, items: Sequence[int]) -> list[object]:
        sql = f"SELECT fields FROM item WHERE id IN ({','.join('?' * len(items))})"
        return [json.loads(fields) for (fields,) in self._connection.execute(sql, items)]


def bare_costs(file: Path, size: int, rounds: int) -> dict[str, float]:
    """Milliseconds of a question, medians, over the file of a store of so many samples."""
    samples = Samples(size + SINGLE)
    questions = samples.questions(WARM + rounds)
    with closing(sqlite3.connect(file)) as connection:
        bare = Bare(connection, samples)
        filtered, _ = timed(questions, lambda q: bare.ask_within(q, group_of(3)))
        both, _ = timed(questions, bare.ask)
    return {"bare_filtered_ms": filtered, "bare_hybrid_ms": both}


def _highest(scores: np.ndarray, count: int) -> np.ndarray:
    picked = np.argpartition(-scores, count)[:count]
    return picked[np.argsort(-scores[picked])]
