"""Stems of words by SQLite's full-text search, so that both stores rank alike."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing

from vr_plugin_knowledge.matching.spelling import index_text

LONGEST_TERM = 200
"""Most characters of a word; longer ones are not words of a language."""


def stems_of_texts(texts: Sequence[str]) -> list[list[str]]:
    """The stems of texts to be indexed; see `stems_of`."""
    return stems_of([index_text(text) for text in texts])


def stems_of(texts: Sequence[str]) -> list[list[str]]:
    """The stems of each text, each as often as it occurs, in no particular order.

    They are made by SQLite itself, with the tokenizer of the embedded store (`schema.py`).
    """
    found: list[list[str]] = [[] for _ in texts]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE text USING fts5"
            " (words, content = '', tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        connection.execute("CREATE VIRTUAL TABLE stem USING fts5vocab (text, instance)")
        connection.executemany("INSERT INTO text (rowid, words) VALUES (?,?)", enumerate(texts))
        for number, term in connection.execute("SELECT doc, term FROM stem"):
            found[number].append(term[:LONGEST_TERM])
    return found
