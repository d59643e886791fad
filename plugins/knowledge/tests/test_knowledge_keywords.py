"""Keyword search takes every question literally."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from knowledge_samples import CARDS, NOTES, Ledger, OpenStore, WordVectors, quiet_log
from vr_kernel import Query
from vr_plugin_knowledge.embedded_store.store import EmbeddedStore
from vr_plugin_knowledge.matching.terms import MAX_TERMS, split_terms


def test_stop_words_go_and_repetition_stays() -> None:
    assert split_terms("What is the fox, the FOX?") == ["fox", "FOX"]


def test_a_question_of_stop_words_keeps_them() -> None:
    assert split_terms("who is it") == ["who", "is", "it"]


def test_a_flood_of_words_is_bounded() -> None:
    assert len(split_terms("word " * 10_000)) == MAX_TERMS


async def keyword_hits(store: EmbeddedStore, text: str) -> set[str]:
    hits = await store.search(Query(text, mode="keyword", limit=50))
    assert all(hit.score > 0 for hit in hits)
    return {hit.record.key for hit in hits}


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("fox", {"plain"}),
        ("foxes", {"plain"}),
        ("FOX AND owl", {"plain", "operators"}),
        ("fox NOT owl", {"plain", "operators"}),
        ("NEAR(zebra, 7)", {"operators"}),
        ('"zebra*"', {"operators"}),
        ("words: zebra", {"operators"}),
        ("zeb*", {"operators"}),
        ("ze*", set()),
        ('"', set()),
        ("()", set()),
        ("", set()),
        ("^^^ ; DROP TABLE item; --", set()),
        ("naïve cafe", {"accents"}),
        ("知識", {"chinese"}),
        ("\x00fox\x00", {"plain"}),
        ("_ fox", {"plain"}),
        ("c++ 2.0", {"signs"}),
    ],
)
async def test_operators_and_signs_are_words_or_nothing(
    open_store: OpenStore, question: str, found: set[str]
) -> None:
    ledger = Ledger()
    texts = {
        "plain": "A fox crossed the river.",
        "operators": "zebra AND OR NOT NEAR owl",
        "accents": "A naive café",
        "chinese": "知識 は 力",
        "signs": "C++ 2.0 was there",
    }
    async with open_store(WordVectors()) as store:
        await store.apply([ledger.write("Cards", key, {"text": t}) for key, t in texts.items()])
        assert await keyword_hits(store, question) == found


@settings(max_examples=10)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=40))
def test_no_text_is_an_error(questions: list[str]) -> None:
    async def ask() -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = EmbeddedStore(Path(folder) / "k.db", WordVectors(), quiet_log())
            await store.open([NOTES, CARDS])
            ledger = Ledger()
            clean = [q.encode("utf-8", "replace").decode() for q in questions]
            await store.apply(
                [ledger.write("Cards", str(n), {"text": text}) for n, text in enumerate(clean)]
            )
            for text in clean:
                await keyword_hits(store, text)
            await store.aclose()

    asyncio.run(ask())
