"""Keyword search in languages other than English, and for parts of words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from knowledge_samples import Ledger, OpenStore, WordVectors
from vr_kernel import Filter, Query
from vr_plugin_knowledge.keywords import split_terms
from vr_plugin_knowledge.spelling import index_text

TEXTS = {
    "german": "Die Krankenversicherung zahlt die Behandlung; Müller wohnt in der Hauptstraße.",
    "chinese": "人工智能正在改变软件开发的方式",
    "chinese water": "这种水果含有很多水",
    "japanese": "東京タワーは赤い",
    "korean": "한국어문장을 검색합니다",
    "thai": "ภาษาไทยไม่มีช่องว่าง",
    "arabic": "يقرأ الطالب كِتَابًا في المكتبة الكبيرة",
    "hindi": "हिन्दी में लिखा गया पाठ",
    "vietnamese": "Việt Nam là một đất nước",
    "english": "A plain sentence about gardening.",
}


async def found(store: object, question: str, **more: object) -> list[str]:
    hits = await store.search(Query(question, mode="keyword", limit=20, **more))  # type: ignore[attr-defined]
    return [hit.record.key for hit in hits]


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("versicherung", "german"),
        ("KRANKENVERSICHERUNG", "german"),
        ("muller", "german"),
        ("Müller", "german"),
        ("mu\u0308ller", "german"),
        ("hauptstrasse", "german"),
        ("智能", "chinese"),
        ("软件开发", "chinese"),
        ("人工智能的方式", "chinese"),
        ("式", "chinese"),
        ("东", None),
        ("水", "chinese water"),
        ("タワー", "japanese"),
        ("ﾀﾜｰ", "japanese"),
        ("문장", "korean"),
        ("ไทย", "thai"),
        ("كتابا", "arabic"),
        ("مكتبة", "arabic"),
        ("المكتبه", "arabic"),
        ("हिन्दी", "hindi"),
        ("viet", "vietnamese"),
        ("garden", "english"),
        ("arden", "english"),
        ("xylophone", None),
    ],
)
async def test_a_text_is_found_by_words_of_its_language(
    open_store: OpenStore, question: str, key: str | None
) -> None:
    ledger = Ledger()
    async with open_store(WordVectors()) as store:
        await store.apply([ledger.write("Cards", k, {"text": t}) for k, t in TEXTS.items()])
        keys = await found(store, question)
    assert keys[:1] == ([key] if key else [])


async def test_parts_of_words_are_looked_for_only_where_no_word_is_found(
    open_store: OpenStore,
) -> None:
    ledger = Ledger()
    texts = {"whole": "a garden", "longer": "gardenia flowers", "both": "wineyards and gardenias"}
    async with open_store(WordVectors()) as store:
        await store.apply(
            [ledger.write("Cards", k, {"text": t, "category": k}) for k, t in texts.items()]
        )
        assert await found(store, "garden") == ["whole"]
        assert set(await found(store, "rdenia")) == {"longer", "both"}
        assert await found(store, "rdenia neyard") == ["both", "longer"]
        only = (Filter("category", "=", "longer"),)
        assert await found(store, "rdenia neyard", filters=only, kinds=("Cards",)) == ["longer"]


async def test_a_word_that_no_text_holds_is_looked_for_as_a_part_of_words(
    open_store: OpenStore,
) -> None:
    ledger = Ledger()
    texts = {"health": "Die Krankenversicherung zahlt", "rise": "Der Beitrag steigt", "no": "Regen"}
    async with open_store(WordVectors()) as store:
        await store.apply(
            [ledger.write("Cards", k, {"text": t, "category": k}) for k, t in texts.items()]
        )
        assert set(await found(store, "versicherung beitrag")) == {"health", "rise"}
        assert (await found(store, "versicherung zahlt beitrag"))[0] == "health"
        only = (Filter("category", "=", "health"),)
        assert await found(store, "versicherung beitrag", filters=only) == ["health"]


async def test_what_is_deleted_is_not_found_by_its_parts(open_store: OpenStore) -> None:
    ledger = Ledger()
    async with open_store(WordVectors()) as store:
        await store.apply([ledger.write("Cards", "a", {"text": "Krankenversicherung"})])
        await store.apply([ledger.write("Cards", "a", {"text": "Haus"})])
        assert await found(store, "versicherung") == []
        assert await found(store, "haus") == ["a"]


def test_english_is_indexed_as_it_is() -> None:
    text = "What is Kadane's algorithm? See v2.0, naïve café."
    assert index_text(text) == text


@given(st.text(alphabet="知识库水東京 ", min_size=1, max_size=12))
def test_every_part_of_a_run_is_among_its_words(text: str) -> None:
    words = index_text(text).split()
    for start in range(len(text)):
        for term in split_terms(text[start : start + 2]):
            assert any(word.startswith(term) for word in words)
