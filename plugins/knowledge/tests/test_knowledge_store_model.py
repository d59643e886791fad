"""The store against a plain model: any records, updates, deletes and filters, two processes."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from knowledge_samples import (
    CARDS,
    NOTES,
    WORDS,
    Ledger,
    WordVectors,
    deliver,
    embed_words,
    quiet_log,
)
from vr_kernel import Filter, Query, RecordKind
from vr_kernel.stores import Store
from vr_plugin_knowledge.embedded_store.store import EmbeddedStore
from vr_testing import MemoryStore

Fields = Mapping[str, Any]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
KEYS = st.sampled_from([f"k{n}" for n in range(8)])
IDS = st.sampled_from(["v1", "v2", "v3", 'it\'s "v4"; --'])
DAYS = st.sampled_from([f"2026-0{month}-15T00:00:00.000000+00:00" for month in range(1, 8)])
NOTE = st.fixed_dictionaries(
    {},
    optional={
        "title": TEXTS,
        "text": TEXTS,
        "video_id": IDS,
        "tags": st.lists(st.sampled_from(WORDS[:6]), max_size=3),
        "stars": st.integers(-3, 3),
        "start": st.sampled_from([0.0, 1.5, 2.0, 90.25]),
        "done": st.booleans(),
        "due": DAYS,
    },
)
CARD = st.fixed_dictionaries({"text": TEXTS}, optional={"category": IDS})
WRITES = st.one_of(
    st.tuples(st.just("Notes"), KEYS, st.none() | NOTE, st.sampled_from(["default", "other"])),
    st.tuples(st.just("Cards"), KEYS, st.none() | CARD, st.just("default")),
)
STEPS = st.lists(st.tuples(WRITES, st.sampled_from(["", "", "first", "second"])), max_size=25)
FILTERS = st.lists(
    st.one_of(
        st.builds(Filter, st.just("video_id"), st.sampled_from(["=", "!="]), IDS),
        st.builds(Filter, st.just("video_id"), st.just("contains"), st.sampled_from(["v", "'s"])),
        st.builds(Filter, st.just("video_id"), st.just("in"), st.lists(IDS, max_size=3)),
        st.builds(
            Filter,
            st.just("stars"),
            st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
            st.integers(-3, 3),
        ),
        st.builds(
            Filter, st.just("start"), st.sampled_from(["=", "<", ">="]), st.sampled_from([1.5, 2])
        ),
        st.builds(Filter, st.just("tags"), st.just("contains"), st.sampled_from(WORDS[:6])),
        st.builds(Filter, st.just("done"), st.just("="), st.booleans()),
        st.builds(Filter, st.just("due"), st.sampled_from(["<=", ">"]), DAYS),
    ),
    max_size=2,
)
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda have, want: have == want,
    "<": lambda have, want: have < want,
    "<=": lambda have, want: have <= want,
    ">": lambda have, want: have > want,
    ">=": lambda have, want: have >= want,
    "in": lambda have, want: have in want,
    "contains": lambda have, want: want in have,
}


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def fulfils(fields: Fields, condition: Filter) -> bool:
    """The meaning of a filter, in plain code."""
    value = fields.get(condition.field)
    if condition.operator == "!=":
        return bool(value != condition.value)
    return value is not None and COMPARISONS[condition.operator](value, condition.value)


def matches(kind: RecordKind, ledger: Ledger, filters: list[Filter]) -> dict[str, Fields]:
    """The live records of a kind that fulfil all filters."""
    live = ledger.live(kind.name)
    return {key: f for key, f in live.items() if all(fulfils(f, item) for item in filters)}


async def check_keywords(
    store: Store, ledger: Ledger, words: list[str], filters: list[Filter]
) -> None:
    query = Query(
        " ".join(words), mode="keyword", kinds=("Notes",), filters=tuple(filters), limit=50
    )
    hits = await store.search(query)
    expected = {
        key
        for key, fields in matches(NOTES, ledger, filters).items()
        if set(words) & set(NOTES.search_text(fields).split())
    }
    assert {hit.record.key for hit in hits} == expected
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        plain = {k: v for k, v in hit.record.fields.items() if k != "created_at"}
        assert plain == ledger.live("Notes")[hit.record.key]


async def check_meanings(
    store: Store, ledger: Ledger, words: list[str], filters: list[Filter]
) -> None:
    vector = embed_words(" ".join(words))
    query = Query("", vector, "semantic", kinds=("Notes",), filters=tuple(filters), limit=5)
    hits = await store.search(query)
    similarities = {
        key: cosine(vector, embed_words(NOTES.vector_text(fields)))
        for key, fields in matches(NOTES, ledger, filters).items()
        if NOTES.vector_text(fields).strip()
    }
    best = sorted(similarities.values(), reverse=True)[:5]
    assert len(hits) == len(best)
    for hit, similarity in zip(hits, best, strict=True):
        assert abs(hit.score - similarity) < 1e-5
        assert abs(similarities[hit.record.key] - hit.score) < 1e-5


async def check_neighbours(store: Store, ledger: Ledger) -> None:
    vectors = {
        key: embed_words(NOTES.vector_text(fields))
        for key, fields in ledger.live("Notes").items()
        if NOTES.vector_text(fields).strip()
    }
    for key, vector in vectors.items():
        others = [cosine(vector, other) for name, other in vectors.items() if name != key]
        hits = await store.near("Notes", key, "default", 3)
        assert key not in {hit.record.key for hit in hits}
        for hit, similarity in zip(hits, sorted(others, reverse=True)[:3], strict=True):
            assert abs(hit.score - similarity) < 1e-5


async def check_counts(store: Store, ledger: Ledger) -> None:
    for kind in (NOTES, CARDS):
        for workspace in ("default", "other"):
            live = ledger.live(kind.name, workspace)
            assert await store.count(kind.name, workspace) == {"": len(live)}
    groups: dict[str, int] = {}
    for fields in ledger.live("Notes").values():
        for tag in set(fields.get("tags", [])):
            groups[tag] = groups.get(tag, 0) + 1
    assert await store.count("Notes", "default", "tags") == groups
    for number in range(8):
        record = await store.get("Notes", f"k{number}", "default")
        assert (record is not None) == (f"k{number}" in ledger.live("Notes"))


@settings(deadline=None, max_examples=15)
@given(STEPS, st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), FILTERS)
def test_two_stores_on_one_file_and_the_one_in_memory_agree_with_the_model(
    steps: list[tuple[tuple[str, str, Fields | None, str], str]],
    words: list[str],
    filters: list[Filter],
) -> None:
    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "knowledge.db"
            stores = {
                name: EmbeddedStore(path, WordVectors(), quiet_log())
                for name in ("first", "second")
            }
            ledger = Ledger()
            for store in stores.values():
                await store.open([NOTES, CARDS])
            for (kind, key, fields, workspace), driver in steps:
                ledger.write(kind, key, fields, workspace)
                if driver:
                    await deliver(stores[driver], ledger)
                    await check_meanings(stores[driver], ledger, words, filters)
            await asyncio.gather(*(deliver(store, ledger) for store in stores.values()))
            plain = MemoryStore(WordVectors())
            await plain.open([NOTES, CARDS])
            await deliver(plain, ledger)
            for store in (*stores.values(), plain):
                assert await store.cursor() == ledger.seq
                await check_keywords(store, ledger, words, filters)
                await check_meanings(store, ledger, words, filters)
                await check_counts(store, ledger)
                await check_neighbours(store, ledger)
            for store in stores.values():
                await store.aclose()

    asyncio.run(run())
