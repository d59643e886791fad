"""The words of a question that are looked up, and their weights."""

from __future__ import annotations

import math
import re

from vr_plugin_knowledge.matching.spelling import question_text

MAX_TERMS = 256
SHORTEST_PART = 3
"""Least letters of a part of a word; a shorter part is in nearly every text."""
MOST_PARTS = 16
"""Most words of a question that are searched as parts of others."""
_WORD = re.compile(r"\w+")
# The least inverse document frequency that SQLite's bm25() gives a term (fts5_aux.c).
LEAST_IDF = 1e-6
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
"""English stop words, which say nothing about the subject of a question."""


def split_terms(text: str) -> list[str]:
    """The words of a question in order, repeated as given, without stop words.

    A question of stop words alone keeps them all. Repeated words count twice on purpose: on CACM
    and CISI that found more than each word once. In scripts without spaces, every pair of
    characters counts as a word.
    """
    words = _WORD.findall(question_text(text))
    telling = [word for word in words if word.lower() not in STOP_WORDS]
    return (telling or words)[:MAX_TERMS]


def inverse_frequency(total: float, holders: int) -> float:
    """The weight of a word that `holders` of `total` items hold, as in SQLite's bm25()."""
    return max(LEAST_IDF, math.log((total - holders + 0.5) / (holders + 0.5)))
