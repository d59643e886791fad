"""Leaving out what cannot enter the list changes nothing about the list."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vr_plugin_knowledge.embedded_store.conditions import Condition
from vr_plugin_knowledge.embedded_store.keywords import Keywords
from vr_plugin_knowledge.embedded_store.schema import prepare, scope_range

# Rare to common: each word stands in every so many texts.
EVERY = {"ant": 97, "bee": 41, "cod": 17, "doe": 9, "elk": 5, "fly": 3, "gnu": 2, "hen": 1}
TEXTS = 1200
SCOPE = 1


@pytest.fixture(scope="module")
def connection() -> sqlite3.Connection:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        prepare(made)
        made.execute("INSERT INTO scope VALUES (1, 'default', 'Notes', 0, ?, ?)", (TEXTS, TEXTS))
        low, _ = scope_range(SCOPE)
        made.executemany(
            "INSERT INTO body (rowid, words) VALUES (?, ?)",
            [(low + number, text_of(number)) for number in range(1, TEXTS + 1)],
        )
        yield made


def text_of(number: int) -> str:
    words = [w for w, every in EVERY.items() if number % every == 0 for _ in range(1 + number % 3)]
    return " ".join([*words, *["filler"] * (number % 23), f"n{number}"])


def plain(connection: sqlite3.Connection, terms: list[str], where: str, limit: int) -> list[float]:
    rows = connection.execute(
        f"SELECT rank FROM body WHERE body MATCH ? AND {where} ORDER BY rank LIMIT ?",
        (" OR ".join(terms), limit),
    )
    return [-rank for (rank,) in rows]


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.sampled_from(sorted(EVERY)), min_size=1, max_size=5),
    st.sampled_from([1, 10, 100]),
    st.sampled_from([None, 2, 7]),
)
def test_scores_are_those_of_a_plain_search(
    connection: sqlite3.Connection, terms: list[str], limit: int, every: int | None
) -> None:
    low, _ = scope_range(SCOPE)
    where = f"(rowid - {low}) % {every or 1} = 0"
    only = Condition(f"SELECT rowid AS item FROM body WHERE {where}", ()) if every else None
    found = Keywords(connection, terms).best(SCOPE, only, limit)
    expected = plain(connection, terms, where, limit)
    assert len(found) == len(expected)
    # A word that most texts hold weighs a millionth.
    assert sorted(found.values(), reverse=True) == pytest.approx(expected, abs=1e-4)
