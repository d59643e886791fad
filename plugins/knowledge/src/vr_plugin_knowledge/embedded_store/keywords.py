"""Keyword search in the full-text index."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Sequence

from vr_plugin_knowledge.embedded_store.conditions import Condition
from vr_plugin_knowledge.embedded_store.schema import scope_range
from vr_plugin_knowledge.matching.spelling import is_lone
from vr_plugin_knowledge.matching.terms import LEAST_IDF, inverse_frequency

MOST_REPEATED = 2.2
"""Largest factor by which bm25() multiplies a word's weight: its k1 + 1 (fts5_aux.c)."""
COUNTED = 16
"""Words that one statement looks up."""
FLOOD = 5000
"""Most items that are scored of those that hold only very common words."""


class Keywords:
    """The words of a question, weighted by their rarity in one snapshot of the database.

    Args:
        connection: of a transaction that is open for reading.
        terms: the words, repeated as often as they count.
    """

    def __init__(self, connection: sqlite3.Connection, terms: Sequence[str]) -> None:
        self._connection = connection
        counts = Counter(terms)
        total = count_items(connection)
        self._holders = dict(zip(counts, self._counts(list(counts)), strict=True))
        self._repeated = dict(counts)
        self._weights = {
            term: count * inverse_frequency(total, self._holders[term])
            for term, count in counts.items()
        }

    @property
    def weights(self) -> dict[str, float]:
        """The words, each with its weight."""
        return dict(self._weights)

    @property
    def lost(self) -> list[str]:
        """The words that no item holds."""
        return [term for term, holders in self._holders.items() if not holders]

    def whole(self, besides: Collection[str] = ()) -> float:
        """The BM25 score of a text of average length that holds every word once, except `besides`.

        That is the sum of the words' inverse document frequencies, as in SQLite's bm25().
        """
        return sum(weight for term, weight in self._weights.items() if term not in besides)

    def best(self, scope: int, condition: Condition | None, limit: int) -> dict[int, float]:
        """BM25 scores of the best items of one scope that hold any of the words.

        A word in more than half of all items has no weight; it only fills the list.
        """
        common = [t for t, n in self._repeated.items() if self._weights[t] <= n * LEAST_IDF]
        found = self._telling(scope, condition, limit)
        if common and len(found) < limit:
            more = self._scored(any_of(common), scope, condition, limit, among=FLOOD)
            missing = [item for item in more if item not in found]
            found |= {item: more[item] for item in missing[: limit - len(found)]}
        return found

    def _telling(self, scope: int, condition: Condition | None, limit: int) -> dict[int, float]:
        """The best items by the words that have a weight.

        Scoring takes most of the time. So only items with the rarest words are scored, by all
        words, as soon as the other words alone cannot lift an item into the list: MaxScore, H.
        Turtle, J. Flood, "Query Evaluation: Strategies and Optimizations", Information Processing &
        Management 31(6), 1995.
        """
        weights = {t: w for t, w in self._weights.items() if w > self._repeated[t] * LEAST_IDF}
        ranked = sorted(weights, key=lambda term: -weights[term])
        found: dict[int, float] = {}
        for count in range(1, len(ranked) + 1):
            leading, rest = ranked[:count], ranked[count:]
            others = MOST_REPEATED * sum(weights[term] for term in rest)
            # A text of average length with one leading word scores that word's weight.
            hopeless = weights[leading[-1]] < others
            if rest and (hopeless or sum(self._holders[term] for term in leading) < limit):
                continue
            found = self._led_by(leading, rest, scope, condition, limit)
            if len(found) == limit and min(found.values()) >= others:
                break
        return found

    def _led_by(
        self,
        leading: Sequence[str],
        rest: Sequence[str],
        scope: int,
        condition: Condition | None,
        limit: int,
    ) -> dict[int, float]:
        first, second = self._as_given(leading), self._as_given(rest)
        if not rest:
            return self._scored(any_of(first), scope, condition, limit)
        # The leading words are on both sides and count twice; so must the others.
        expression = f"({any_of(first)}) AND ({any_of([*first, *second, *second])})"
        twice = self._scored(expression, scope, condition, limit)
        return {item: score / 2 for item, score in twice.items()}

    def _as_given(self, terms: Sequence[str]) -> list[str]:
        return [term for term in terms for _ in range(self._repeated[term])]

    def _scored(
        self,
        expression: str,
        scope: int,
        condition: Condition | None,
        limit: int,
        among: int = -1,
    ) -> dict[int, float]:
        # The plus keeps SQLite from looking up every permitted item in the full-text index. FTS5's
        # own order by rank would also score items that the condition excludes.
        where = f" AND +rowid IN ({condition.sql})" if condition else ""
        rows = self._connection.execute(
            "SELECT item, score FROM (SELECT rowid AS item, bm25(body) AS score FROM body"  # noqa: S608 - values are bound
            f" WHERE body MATCH ? AND rowid BETWEEN ? AND ?{where} LIMIT ?)"
            " ORDER BY score LIMIT ?",
            (
                expression,
                *scope_range(scope),
                *(condition.values if condition else ()),
                among,
                limit,
            ),
        )
        return {item: -score for item, score in rows}

    def _counts(self, terms: Sequence[str]) -> list[int]:
        """Count the items that hold each word."""
        counts: list[int] = []
        for start in range(0, len(terms), COUNTED):
            # In one statement: starting one takes longer than counting most words.
            part = terms[start : start + COUNTED]
            sql = ",".join(["(SELECT count(*) FROM body WHERE body MATCH ?)"] * len(part))
            counts += self._connection.execute(
                f"SELECT {sql}", [any_of([t]) for t in part]
            ).fetchone()
        return counts


def count_items(connection: sqlite3.Connection) -> float:
    """Count the items of all kinds in all workspaces."""
    return float(connection.execute("SELECT total(items) FROM scope").fetchone()[0])


def any_of(terms: Sequence[str]) -> str:
    """The FTS5 expression for items that hold any of the words."""
    # A quoted word is never an operator; words contain no quotes.
    return " OR ".join(f'"{term}"{"*" if is_lone(term) else ""}' for term in terms)
