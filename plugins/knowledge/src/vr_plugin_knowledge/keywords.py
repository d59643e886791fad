"""Keyword search: what of a question is looked up, and the lookup itself."""

from __future__ import annotations

import math
import re
import sqlite3
from collections import Counter
from collections.abc import Sequence

from vr_plugin_knowledge.facets import Condition
from vr_plugin_knowledge.schema import scope_range

MAX_TERMS = 256
_WORD = re.compile(r"\w+")
# The least inverse document frequency that SQLite's bm25() gives a term (fts5_aux.c).
_LEAST_IDF = 1e-6
STOP_WORDS = frozenset(
    _WORD.findall(
        """a about above after again against all am an and any are as at be because been before
        being below between both but by can could did do does doing down during each few for from
        further had has have having he her here hers herself him himself his how i if in into is
        it its itself just me more most my myself no nor not now of off on once only or other our
        ours ourselves out over own same she should so some such than that the their theirs them
        themselves then there these they this those through to too under until up very was we were
        what when where which while who whom why will with would you your yours yourself
        yourselves"""
    )
)
"""English words that say nothing about what a question is after."""


def split_terms(text: str) -> list[str]:
    """The words of a question in order, repeated as given, without stop words.

    A question of stop words alone keeps them all. Repeated words count twice on purpose: on
    CACM and CISI that found more than each word once.
    """
    words = _WORD.findall(text)
    telling = [word for word in words if word.lower() not in STOP_WORDS]
    return (telling or words)[:MAX_TERMS]


def search_words(
    connection: sqlite3.Connection,
    terms: Sequence[str],
    scope: int,
    condition: Condition | None,
    limit: int,
) -> dict[int, float]:
    """BM25 scores of the best items of one scope that hold any of the terms."""
    if not terms:
        return {}
    # The plus keeps SQLite from looking every permitted item up in the full-text index.
    where = f" AND +rowid IN ({condition.sql})" if condition else ""
    rows = connection.execute(
        "SELECT rowid, rank FROM body WHERE body MATCH ? AND rowid BETWEEN ? AND ?"  # noqa: S608 - values are bound
        f"{where} ORDER BY rank LIMIT ?",
        (_expression(terms), *scope_range(scope), *(condition.values if condition else ()), limit),
    )
    return {item: -rank for item, rank in rows}


def whole_score(connection: sqlite3.Connection, terms: Sequence[str]) -> float:
    """The BM25 score of a text of average length that holds every term once.

    That is the sum of the terms' inverse document frequencies as SQLite's bm25() has them.
    """
    total = connection.execute("SELECT total(items) FROM scope").fetchone()[0]
    return sum(
        count * _inverse_frequency(total, _holders(connection, term))
        for term, count in Counter(terms).items()
    )


def _holders(connection: sqlite3.Connection, term: str) -> int:
    row = connection.execute("SELECT count(*) FROM body WHERE body MATCH ?", (_expression([term]),))
    return int(row.fetchone()[0])


def _inverse_frequency(total: float, holders: int) -> float:
    return max(_LEAST_IDF, math.log((total - holders + 0.5) / (holders + 0.5)))


def _expression(terms: Sequence[str]) -> str:
    # Quoted, a word is never an operator; a word has no quotes of its own.
    return " OR ".join(f'"{term}"' for term in terms)
