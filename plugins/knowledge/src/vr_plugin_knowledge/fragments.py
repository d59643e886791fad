"""Search for parts of words: for the words of a question that no text holds.

The words of all texts are looked through, not the texts: an index of every three letters would
take as long to write as the index of words, for a search that is seldom needed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from vr_plugin_knowledge.facets import Condition
from vr_plugin_knowledge.keywords import count_items, inverse_frequency
from vr_plugin_knowledge.schema import scope_range
from vr_plugin_knowledge.spelling import fold

SHORTEST = 3
"""A part of fewer letters stands in nearly every text."""
LONGEST_QUESTION = 16
"""Every word is compared with every part; of a long question the first so many are taken."""
_WORDS = (
    "SELECT part.value, term FROM vocabulary, json_each(?) AS part"
    " WHERE instr(term, part.value) > 0"
)
_HOLDERS = (
    "SELECT DISTINCT doc AS item FROM occurrence WHERE term IN (SELECT value FROM json_each(?))"
)


class Fragments:
    """The words of a question as parts of longer words, in one snapshot of the database.

    Args:
        connection: of a transaction that is open for reading.
        terms: the words.
    """

    def __init__(self, connection: sqlite3.Connection, terms: Sequence[str]) -> None:
        self._connection = connection
        parts = dict.fromkeys(fold(term) for term in terms)
        long = [part for part in parts if len(part) >= SHORTEST][:LONGEST_QUESTION]
        total = count_items(connection)
        self._holders = self._look(long)
        self._weights = {p: inverse_frequency(total, len(h)) for p, h in self._holders.items()}

    @property
    def whole(self) -> float:
        """The score of an item that holds every part."""
        return sum(self._weights.values())

    def best(self, scope: int, condition: Condition | None, limit: int) -> dict[int, float]:
        """The items of one scope that hold the most, and the rarest, parts."""
        low, high = scope_range(scope)
        permitted = self._permitted(condition)
        scores: dict[int, float] = {}
        for part, items in self._holders.items():
            for item in items:
                if low <= item <= high and (permitted is None or item in permitted):
                    scores[item] = scores.get(item, 0.0) + self._weights[part]
        best = sorted(scores, key=lambda item: (-scores[item], item))[:limit]
        return {item: scores[item] for item in best}

    def _look(self, parts: Sequence[str]) -> dict[str, list[int]]:
        """The items that hold each part, after one walk through all words."""
        words: dict[str, list[str]] = {part: [] for part in parts}
        for part, word in self._connection.execute(_WORDS, (json.dumps(parts),)) if parts else ():
            words[part].append(word)
        return {part: self._items(held) for part, held in words.items()}

    def _items(self, words: Sequence[str]) -> list[int]:
        return [item for (item,) in self._connection.execute(_HOLDERS, (json.dumps(words),))]

    def _permitted(self, condition: Condition | None) -> set[int] | None:
        if condition is None:
            return None
        return {item for (item,) in self._connection.execute(condition.sql, condition.values)}
