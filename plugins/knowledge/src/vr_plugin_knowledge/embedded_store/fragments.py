"""Searches for parts of words, for words of a question that no text holds."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from vr_plugin_knowledge.embedded_store.conditions import Condition
from vr_plugin_knowledge.embedded_store.keywords import any_of, count_items
from vr_plugin_knowledge.embedded_store.schema import scope_range
from vr_plugin_knowledge.embedded_store.vocabulary import terms_with
from vr_plugin_knowledge.matching.spelling import fold
from vr_plugin_knowledge.matching.terms import (
    LEAST_IDF,
    MOST_PARTS,
    SHORTEST_PART,
    inverse_frequency,
)

MOST_PLACES = 5000
"""A part in more places than this says little: it only fills the list."""
MOST_TERMS = 200
"""Most words with such a part that are looked up to fill the list."""
_HOLDERS = "SELECT doc FROM occurrence WHERE term IN (SELECT value FROM json_each(?)) LIMIT ?"


class Fragments:
    """The words of a question as parts of longer words, in one snapshot of the database.

    Args:
        connection: of a transaction that is open for reading.
        terms: the words of the question.
    """

    def __init__(self, connection: sqlite3.Connection, terms: Sequence[str]) -> None:
        self._connection = connection
        parts = dict.fromkeys(fold(term) for term in terms)
        long = [part for part in parts if len(part) >= SHORTEST_PART][:MOST_PARTS]
        total = count_items(connection)
        self._common: dict[str, Sequence[str]] = {}
        self._holders: dict[str, set[int]] = {}
        for part in long:
            self._look(part)
        self._weights = {p: inverse_frequency(total, len(h)) for p, h in self._holders.items()}

    @property
    def whole(self) -> float:
        """The score of an item that holds every part."""
        return sum(self._weights.values()) + LEAST_IDF * len(self._common)

    def best(self, scope: int, condition: Condition | None, limit: int) -> dict[int, float]:
        """The items of one scope that hold the most and the rarest parts."""
        low, high = scope_range(scope)
        permitted = self._permitted(condition)
        scores: dict[int, float] = {}
        for part, items in self._holders.items():
            for item in items:
                if low <= item <= high and (permitted is None or item in permitted):
                    scores[item] = scores.get(item, 0.0) + self._weights[part]
        for words in self._common.values() if len(scores) < limit else ():
            for item in self._filling(words, scope, condition, limit):
                scores[item] = scores.get(item, 0.0) + LEAST_IDF
        best = sorted(scores, key=lambda item: (-scores[item], item))[:limit]
        return {item: scores[item] for item in best}

    def _look(self, part: str) -> None:
        terms = terms_with(self._connection, part)
        places = self._connection.execute(_HOLDERS, (json.dumps(terms), MOST_PLACES + 1)).fetchall()
        if len(places) > MOST_PLACES:
            self._common[part] = terms[:MOST_TERMS]
        else:
            self._holders[part] = {item for (item,) in places}

    def _filling(
        self, terms: Sequence[str], scope: int, condition: Condition | None, limit: int
    ) -> list[int]:
        where = f" AND +rowid IN ({condition.sql})" if condition else ""
        bound = (any_of(terms), *scope_range(scope), *(condition.values if condition else ()))
        rows = self._connection.execute(
            f"SELECT rowid FROM body WHERE body MATCH ? AND rowid BETWEEN ? AND ?{where} LIMIT ?",  # noqa: S608 - values are bound
            (*bound, limit),
        )
        return [item for (item,) in rows]

    def _permitted(self, condition: Condition | None) -> set[int] | None:
        if condition is None:
            return None
        return {item for (item,) in self._connection.execute(condition.sql, condition.values)}
