"""Vectors follow the text, whatever the embedder does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest
from knowledge_samples import (
    CARDS,
    Ledger,
    OpenStore,
    WordVectors,
    deliver,
    embed_words,
    quiet_log,
)
from vr_kernel import Code, Query, VrError
from vr_plugin_knowledge.embedded_store.backlog import next_size
from vr_plugin_knowledge.embedded_store.store import EmbeddedStore
from vr_plugin_knowledge.matching.fusion import CANDIDATES

FOX = Query("", embed_words("fox"), "semantic")


async def test_a_search_waits_for_the_vectors_of_what_came_before_it(
    open_store: OpenStore,
) -> None:
    ledger = Ledger()
    async with open_store(WordVectors()) as store:
        await store.apply([ledger.write("Cards", str(n), {"text": "fox"}) for n in range(100)])
        assert len(await store.search(Query("", embed_words("fox"), "semantic", limit=100))) == 100
        assert await store.pending_vectors() == 0


async def test_without_an_embedder_keywords_still_work(open_store: OpenStore) -> None:
    ledger = Ledger()
    vectors = WordVectors()
    vectors.installed = False
    async with open_store(vectors) as store:
        await store.apply([ledger.write("Cards", "a", {"text": "fox"})])
        await store.apply([ledger.write("Cards", "b", {"category": "nothing to embed"})])
        assert await store.pending_vectors() == 1
        assert len(await store.search(Query("fox", embed_words("fox")))) == 1
        assert await store.search(FOX) == []
        assert await store.near("Cards", "a", "default", 3) == []


async def test_what_was_missing_is_embedded_at_the_next_start(open_store: OpenStore) -> None:
    ledger = Ledger()
    absent = WordVectors()
    absent.installed = False
    async with open_store(absent) as store:
        await store.apply([ledger.write("Cards", "a", {"text": "fox"})])
    async with open_store(WordVectors()) as store:
        assert len(await store.search(FOX)) == 1


async def test_vectors_of_another_embedder_are_never_mixed(open_store: OpenStore) -> None:
    ledger = Ledger()
    ledger.write("Cards", "a", {"text": "fox"})
    async with open_store(WordVectors("words-1")) as store:
        await deliver(store, ledger)
    away = WordVectors("words-2")
    away.outage = True
    async with open_store(away) as store:
        assert await store.search(FOX) == []
        assert await store.pending_vectors() == 1
    second = WordVectors("words-2")
    async with open_store(second) as store:
        assert len(await store.search(FOX)) == 1
        assert second.embedded == ["fox"]
    first = WordVectors("words-1")
    async with open_store(first) as store:
        assert len(await store.search(FOX)) == 1
        assert first.embedded == []


async def test_only_a_changed_text_is_embedded_anew(open_store: OpenStore) -> None:
    ledger = Ledger()
    vectors = WordVectors()
    async with open_store(vectors) as store:
        ledger.write("Cards", "a", {"text": "fox", "category": "one"})
        await deliver(store, ledger)
        ledger.write("Cards", "a", {"text": "fox", "category": "two"})
        await deliver(store, ledger)
        assert vectors.embedded == ["fox"]
        ledger.write("Cards", "a", {"text": "owl", "category": "two"})
        await deliver(store, ledger)
        assert vectors.embedded == ["fox", "owl"]
        hits = await store.search(Query("", embed_words("owl"), "semantic"))
        assert [round(hit.score, 5) for hit in hits] == [1.0]


async def test_one_text_that_cannot_be_embedded_does_not_hold_up_the_others(
    open_store: OpenStore,
) -> None:
    ledger = Ledger()
    vectors = WordVectors()
    vectors.refused = {"poison"}
    async with open_store(vectors) as store:
        texts = ["fox", "poison", "owl", "bear"]
        await store.apply([ledger.write("Cards", text, {"text": text}) for text in texts])
        hits = await store.search(Query("", embed_words("fox"), "semantic"))
        assert {hit.record.key for hit in hits} == {"fox", "owl", "bear"}
        assert await store.pending_vectors() == 1
    healed = WordVectors()
    async with open_store(healed) as store:
        while await store.pending_vectors():
            await store.search(FOX)  # which waits for them, but not for long
        assert len(await store.search(FOX)) == 4
        assert healed.embedded == ["poison"]


@pytest.mark.slow
async def test_an_outage_is_waited_out(open_store: OpenStore) -> None:
    ledger = Ledger()
    vectors = WordVectors()
    vectors.outage = True
    async with open_store(vectors) as store:
        await store.apply([ledger.write("Cards", "a", {"text": "fox"})])
        assert await store.search(FOX) == []
        vectors.outage = False
        await deliver(store, ledger)
        assert len(await store.search(FOX)) == 1


async def test_an_embedder_that_hangs_holds_up_neither_a_search_nor_the_close(
    store_path: Path,
) -> None:
    vectors = HangingVectors()
    store = EmbeddedStore(store_path, vectors, quiet_log(), vector_wait_s=0.01, close_grace_s=0.01)
    async with asyncio.timeout(30):
        await store.open([CARDS])
        await store.apply([Ledger().write("Cards", "a", {"text": "fox"})])
        await vectors.begun.wait()
        (hit,) = await store.search(Query("fox", mode="keyword"))
        assert await store.search(FOX) == []
        await store.aclose()
    assert hit.record.key == "a"


async def test_a_vector_of_another_length_is_refused(open_store: OpenStore) -> None:
    async with open_store(WordVectors()) as store:
        with pytest.raises(VrError) as refused:
            await store.search(Query("", [1.0, 0.0], "semantic"))
        assert refused.value.code is Code.INVALID_INPUT


async def test_a_text_that_changes_while_it_is_embedded_is_embedded_again(
    open_store: OpenStore,
) -> None:
    ledger = Ledger()
    vectors = ChangingVectors()
    async with open_store(vectors) as store:
        vectors.meanwhile = lambda: store.apply([ledger.write("Cards", "a", {"text": "owl"})])
        await store.apply([ledger.write("Cards", "a", {"text": "fox"})])
        await deliver(store, ledger)
        assert vectors.embedded == ["fox", "owl"]
        (hit,) = await store.search(Query("", embed_words("owl"), "semantic"))
        assert hit.score == pytest.approx(1.0, abs=1e-5)


async def test_what_another_store_deletes_takes_no_place_among_the_candidates(
    open_store: OpenStore,
) -> None:
    ledger = Ledger()
    async with open_store(WordVectors()) as reader, open_store(WordVectors()) as writer:
        for number in range(CANDIDATES + 20):
            ledger.write("Cards", f"near{number}", {"text": "fox"})
        ledger.write("Cards", "far", {"text": "fox owl bear lynx otter"})
        await deliver(reader, ledger)
        assert len(await reader.search(FOX)) == FOX.limit
        for number in range(CANDIDATES + 20):
            ledger.write("Cards", f"near{number}", None)
        await deliver(writer, ledger)
        assert [hit.record.key for hit in await reader.search(FOX)] == ["far"]


async def test_a_record_that_loses_its_text_is_not_found_by_it(open_store: OpenStore) -> None:
    ledger = Ledger()
    async with open_store(WordVectors()) as reader, open_store(WordVectors()) as writer:
        ledger.write("Cards", "a", {"text": "fox"})
        await deliver(reader, ledger)
        assert len(await reader.search(FOX)) == 1
        ledger.write("Cards", "a", {"category": "empty"})
        await deliver(writer, ledger)
        assert await reader.search(FOX) == []
        assert await reader.search(Query("fox", mode="keyword")) == []


class HangingVectors(WordVectors):
    """An embedder that never answers."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = asyncio.Event()

    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        self.begun.set()
        return await asyncio.get_running_loop().create_future()


class ChangingVectors(WordVectors):
    """An embedder during whose first call something happens."""

    meanwhile: Callable[[], Awaitable[None]] | None = None

    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        made = await super().embed_documents(texts)
        if self.meanwhile is not None:
            happening, self.meanwhile = self.meanwhile, None
            await happening()
        return made


@pytest.mark.parametrize(
    ("size", "count", "seconds", "following"),
    [(32, 32, 0.8, 32), (32, 32, 0.01, 512), (512, 512, 12.8, 32), (64, 3, 0.001, 64)],
)
def test_a_batch_is_about_half_a_second_of_work(
    size: int, count: int, seconds: float, following: int
) -> None:
    assert next_size(size, count, seconds) == following
