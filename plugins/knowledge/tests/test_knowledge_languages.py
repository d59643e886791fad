"""Keyword search in languages other than English, and for parts of words."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from knowledge_samples import CARDS, Ledger, OpenStore, WordVectors, quiet_log
from vr_kernel import Filter, Query
from vr_plugin_knowledge.embedded_store.fragments import MOST_PLACES
from vr_plugin_knowledge.embedded_store.schema import TOKENIZER
from vr_plugin_knowledge.embedded_store.store import EmbeddedStore
from vr_plugin_knowledge.embedded_store.vocabulary import FEW, unlisted
from vr_plugin_knowledge.matching.spelling import fold, index_text
from vr_plugin_knowledge.matching.terms import split_terms

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


SYLLABLES = st.sampled_from(["ver", "sich", "er", "ung", "kran", "ken", "haus", "ä", "ж", "-", "."])
MADE_UP = st.lists(SYLLABLES, min_size=1, max_size=5).map("".join)


@settings(deadline=None, max_examples=12)
@given(
    st.lists(st.lists(MADE_UP, max_size=6), min_size=1, max_size=12),
    st.lists(st.integers(0, 11), max_size=6),
    st.lists(MADE_UP, min_size=1, max_size=8),
)
async def test_parts_are_found_as_by_looking_through_all_words(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[list[str]],
    rewritten: list[int],
    questions: list[str],
) -> None:
    ledger, path = Ledger(), tmp_path_factory.mktemp("words") / "knowledge.db"
    store = EmbeddedStore(path, WordVectors(), quiet_log())
    await store.open([CARDS])
    held = {str(n): " ".join(words) for n, words in enumerate(texts)}
    await store.apply([ledger.write("Cards", k, {"text": t}) for k, t in held.items()])
    for n in rewritten:
        key = str(n % len(texts))
        held[key] = "" if n % 2 else f"{held[key]} haus{n}"
        await store.apply([ledger.write("Cards", key, {"text": held[key]} if held[key] else None)])
    terms = {key: terms_of(text) for key, text in held.items()}
    for question in questions:
        words = [fold(word) for word in split_terms(question)]
        if (
            len(words) == 1
            and len(words[0]) >= 3
            and not terms_of(question) & set().union(*terms.values())
        ):
            expected = {key for key, own in terms.items() if any(words[0] in term for term in own)}
            assert set(await found(store, question)) == expected
    await store.aclose()


def terms_of(text: str) -> set[str]:
    """The words of a text as the full-text index has them."""
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE VIRTUAL TABLE body USING fts5 (words, tokenize = '{TOKENIZER}')")
    connection.execute("CREATE VIRTUAL TABLE word USING fts5vocab (body, row)")
    connection.execute("INSERT INTO body VALUES (?)", (index_text(text),))
    terms = {term for (term,) in connection.execute("SELECT term FROM word")}
    connection.close()
    return terms


async def test_a_part_that_very_many_texts_hold_fills_the_list(open_store: OpenStore) -> None:
    ledger = Ledger()
    count = MOST_PLACES + 10
    texts = {str(n): {"text": f"gardenia{n % 7}", "category": str(n)} for n in range(count)}
    async with open_store(WordVectors()) as store:
        await store.apply([ledger.write("Notes", k, {"text": "gardenias"}) for k in texts])
        await store.apply([ledger.write("Cards", k, t) for k, t in texts.items()])
        assert len(await found(store, "rdenia", kinds=("Cards",))) == 20
        last = (Filter("category", "=", str(count - 1)),)
        assert await found(store, "rdenia", kinds=("Cards",), filters=last) == [str(count - 1)]


async def test_a_store_of_the_layout_before_gets_its_list_of_words(
    open_store: OpenStore, store_path: Path
) -> None:
    ledger = Ledger()
    async with open_store(WordVectors()) as store:
        await store.apply([ledger.write("Cards", "a", {"text": "Krankenversicherung"})])
    with closing(sqlite3.connect(store_path)) as connection:
        for table in ("term", "part"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("DELETE FROM state WHERE name <> 'cursor'")
        connection.execute("PRAGMA user_version = 2")
        connection.commit()
    async with open_store(WordVectors()) as store:
        assert await found(store, "versicherung") == ["a"]
        await store.apply([ledger.write("Cards", "b", {"text": "Versicherungen"})])
        assert set(await found(store, "sicherung")) == {"a", "b"}


async def test_the_terms_of_many_texts_are_listed_when_there_is_time(
    open_store: OpenStore, store_path: Path
) -> None:
    ledger = Ledger()
    async with open_store(WordVectors()) as store:
        many = [ledger.write("Cards", str(n), {"text": f"gardenia{n}"}) for n in range(FEW + 1)]
        await store.apply(many)
        await store.apply([ledger.write("Cards", "one", {"text": "Krankenversicherung"})])
        assert await found(store, "versicherung") == ["one"]
    with closing(sqlite3.connect(store_path)) as connection:
        assert unlisted(connection) == 0
    async with open_store(WordVectors()) as store:
        assert await found(store, "versicherung") == ["one"]
        assert len(await found(store, "rdenia")) == 20
        await store.apply([ledger.write("Cards", "two", {"text": "Versicherungen"})])
        assert set(await found(store, "sicherung")) == {"one", "two"}


async def test_the_words_of_what_is_forgotten_leave_the_file(
    open_store: OpenStore, store_path: Path
) -> None:
    ledger = Ledger()
    async with open_store(WordVectors()) as store:
        await store.apply([ledger.write("Cards", "a", {"text": "Geheimnis und Garten"})])
        await store.apply([ledger.write("Cards", "b", {"text": "Garten"})])
        await store.apply([ledger.write("Cards", "a", None)])
        assert await found(store, "arten") == ["b"]
    with closing(sqlite3.connect(store_path)) as connection:
        assert [t for (t,) in connection.execute("SELECT term FROM term")] == ["garten"]


def test_english_is_indexed_as_it_is() -> None:
    text = "What is Kadane's algorithm? See v2.0, naïve café."
    assert index_text(text) == text


@given(st.text(alphabet="知识库水東京 ", min_size=1, max_size=12))
def test_every_part_of_a_run_is_among_its_words(text: str) -> None:
    words = index_text(text).split()
    for start in range(len(text)):
        for term in split_terms(text[start : start + 2]):
            assert any(word.startswith(term) for word in words)
