"""The contracts of embedders, recognizers and rerankers notice those that do not keep them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from vr_kernel import (
    Code,
    Embedder,
    Picture,
    Provider,
    Purpose,
    Reranker,
    TextLine,
    TextRecognizer,
    VrError,
    hookimpl,
)
from vr_testing import (
    EmbedderContract,
    RerankerContract,
    TextRecognizerContract,
    WordEmbedder,
)
from vr_testing.contracts.recognizer import PAGE, blank_page, page

CARELESS = (AssertionError, OSError, RuntimeError, ValueError)
"""The end of a broken contract: its own error, or one that a provider let through."""
Vectors = list[list[float]]


class Nameless(WordEmbedder):
    def __init__(self) -> None:
        self.id = f"words-{random.random()}"


class Lengthy(WordEmbedder):
    async def embed(self, items: Sequence[str], purpose: Purpose) -> Vectors:
        return [[2 * v for v in vector] for vector in await super().embed(items, purpose)]


class Whole(WordEmbedder):
    """Its numbers are of another type, as numpy's are."""

    async def embed(self, items: Sequence[str], purpose: Purpose) -> Any:
        return [tuple(vector) for vector in await super().embed(items, purpose)]


class Never(WordEmbedder):
    async def embed(self, items: Sequence[str], purpose: Purpose) -> Vectors:
        if not items:
            raise ValueError("need at least one array to stack")
        return await super().embed(items, purpose)


class Unique(WordEmbedder):
    async def embed(self, items: Sequence[str], purpose: Purpose) -> Vectors:
        return await super().embed(list(dict.fromkeys(items)), purpose)


class Sorted(WordEmbedder):
    async def embed(self, items: Sequence[str], purpose: Purpose) -> Vectors:
        return await super().embed(sorted(items), purpose)


class Padded(WordEmbedder):
    """Neighbours in a batch change a vector."""

    async def embed(self, items: Sequence[str], purpose: Purpose) -> Vectors:
        longest = max(map(len, items), default=0)
        return await super().embed(
            [item + " pad" * (longest - len(item)) for item in items], purpose
        )


class Untrained(WordEmbedder):
    """Its directions are drawn anew by every instance."""

    def __init__(self) -> None:
        self.seed = str(random.random())

    async def embed(self, items: Sequence[str], purpose: Purpose) -> Vectors:
        return await super().embed([f"{item} {self.seed}" for item in items], purpose)


class Divided(WordEmbedder):
    """Questions have a space of their own."""

    async def embed(self, items: Sequence[str], purpose: Purpose) -> Vectors:
        vectors = await super().embed(items, purpose)
        return [[-v for v in vector] for vector in vectors] if purpose == "query" else vectors


class Empty(WordEmbedder):
    async def embed(self, items: Sequence[str], purpose: Purpose) -> Vectors:
        vectors = await super().embed(items, purpose)
        return [
            vector if item.strip() else [0.0] * self.dimension
            for item, vector in zip(items, vectors, strict=True)
        ]


class Shared(WordEmbedder):
    """A provider whose answers stand in the object, where the next call finds them."""

    async def embed(self, items: Sequence[str], purpose: Purpose) -> Vectors:
        self.items = list(items)
        await asyncio.sleep(0)
        return await super().embed(self.items[: len(items)], purpose)


class Locked(WordEmbedder):
    """Whoever is cancelled keeps the lock."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()

    async def embed(self, items: Sequence[str], purpose: Purpose) -> Vectors:
        async with asyncio.timeout(0.05):
            await self.lock.acquire()
        await asyncio.sleep(0)
        vectors = await super().embed(items, purpose)
        self.lock.release()
        return vectors


class Seeing(WordEmbedder):
    """Sees the bytes of a picture as words."""

    accepts = frozenset({"text", "image"})

    async def embed(self, items: Sequence[str | Picture], purpose: Purpose) -> Vectors:
        texts = [item if isinstance(item, str) else item.digest for item in items]
        return await super().embed(texts, purpose)


class Blind(Seeing):
    """Says that it sees, but gives each picture the same vector."""

    async def embed(self, items: Sequence[str | Picture], purpose: Purpose) -> Vectors:
        texts = [item if isinstance(item, str) else "picture" for item in items]
        return await super().embed(texts, purpose)


class Strict:
    """Something that minds being closed twice."""

    closed = False

    async def aclose(self) -> None:
        if self.closed:
            raise RuntimeError("closed already")
        self.closed = True


class StrictEmbedder(Strict, WordEmbedder):
    pass


class Reader:
    """Reads the sample page by heart; all else that begins like a picture is empty."""

    name = "reader"

    async def recognize(self, image: bytes) -> list[TextLine]:
        """The lines of the page."""
        if image in (page("png"), page("jpg")):
            return [TextLine(text, box, 0.9) for text, box in PAGE.items()]
        if image == blank_page():
            return []
        raise VrError("That is no picture.", Code.INVALID_INPUT)


class Climbing(Reader):
    async def recognize(self, image: bytes) -> list[TextLine]:
        return (await super().recognize(image))[::-1]


class Cornered(Reader):
    """Its boxes are left, top, right, bottom."""

    async def recognize(self, image: bytes) -> list[TextLine]:
        return [
            TextLine(line.text, (x, y, x + w, y + h), line.confidence)
            for line in await super().recognize(image)
            for x, y, w, h in [line.box]
        ]


class Percent(Reader):
    async def recognize(self, image: bytes) -> list[TextLine]:
        return [TextLine(line.text, line.box, 90) for line in await super().recognize(image)]


class Dreaming(Reader):
    async def recognize(self, image: bytes) -> list[TextLine]:
        return await super().recognize(image) or [TextLine("", (0, 0, 1, 1), 0.1)]


class Trusting(Reader):
    async def recognize(self, image: bytes) -> list[TextLine]:
        try:
            return await super().recognize(image)
        except VrError:
            return []


class Untyped(Reader):
    async def recognize(self, image: bytes) -> list[TextLine]:
        try:
            return await super().recognize(image)
        except VrError as error:
            raise OSError("cannot identify image file") from error


class Mixing(Reader):
    async def recognize(self, image: bytes) -> list[TextLine]:
        self.image = image
        await asyncio.sleep(0)
        return await super().recognize(self.image)


class Busy(Reader):
    def __init__(self) -> None:
        self.lock = asyncio.Lock()

    async def recognize(self, image: bytes) -> list[TextLine]:
        async with asyncio.timeout(0.05):
            await self.lock.acquire()
        await asyncio.sleep(0)
        lines = await super().recognize(image)
        self.lock.release()
        return lines


class StrictReader(Strict, Reader):
    pass


class Judge:
    """Goes by how many words of the question a text has."""

    name = "judge"

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """A share of words each."""
        words = query.split()
        return [float(sum(word in text.split() for word in words)) for text in texts]


class Renamed(Judge):
    def __init__(self) -> None:
        self.name = f"judge-{random.random()}"


class Ranking(Judge):
    """Gives the scores best first, as services send them."""

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        return sorted(await super().rerank(query, texts), reverse=True)


class Once(Judge):
    """Texts that come twice are one."""

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        scores = dict(zip(texts, await super().rerank(query, texts), strict=True))
        return [scores.pop(text, 0.0) for text in texts]


class Dividing(Judge):
    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        scores = await super().rerank(query, texts)
        return [
            score / len(text.split()) if text.split() else float("nan")
            for score, text in zip(scores, texts, strict=True)
        ]


class Forgetful(Judge):
    """The question stands in the object, where the next call finds it."""

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        self.query = query
        await asyncio.sleep(0)
        return await super().rerank(self.query, texts)


class Held(Judge):
    """Whoever is cancelled keeps the lock."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        async with asyncio.timeout(0.05):
            await self.lock.acquire()
        await asyncio.sleep(0)
        scores = await super().rerank(query, texts)
        self.lock.release()
        return scores


class Dazzled(Judge):
    """Says that it takes pictures, and skips them."""

    accepts = frozenset({"text", "image"})

    async def rerank(self, query: str, items: Sequence[str | Picture]) -> list[float]:
        return await super().rerank(query, [item for item in items if isinstance(item, str)])


class StrictJudge(Strict, Judge):
    pass


EMBEDDERS: Sequence[tuple[type[WordEmbedder], str]] = [
    (Nameless, "test_it_says_what_it_is"),
    (Lengthy, "test_each_text_gets_a_vector_of_unit_length"),
    (Whole, "test_each_text_gets_a_vector_of_unit_length"),
    (Never, "test_no_texts_give_no_vectors"),
    (Unique, "test_order_is_kept_and_neighbours_do_not_matter"),
    (Sorted, "test_order_is_kept_and_neighbours_do_not_matter"),
    (Padded, "test_order_is_kept_and_neighbours_do_not_matter"),
    (Untrained, "test_vectors_are_the_same_next_time"),
    (Divided, "test_questions_and_documents_share_one_space"),
    (Empty, "test_texts_of_every_kind_are_embedded"),
    (Blind, "test_pictures_share_the_space_of_texts"),
    (Shared, "test_calls_at_the_same_time_get_their_own_vectors"),
    (Locked, "test_a_cancelled_call_leaves_it_usable"),
    (StrictEmbedder, "test_closing_twice_is_harmless"),
]
READERS: Sequence[tuple[type[Reader], str]] = [
    (Climbing, "test_lines_are_read_from_top_to_bottom"),
    (Cornered, "test_lines_are_where_the_text_is"),
    (Percent, "test_lines_are_where_the_text_is"),
    (Dreaming, "test_an_empty_page_has_no_lines"),
    (Trusting, "test_what_is_no_picture_is_refused"),
    (Untyped, "test_a_picture_too_large_to_read_is_refused_at_once"),
    (Mixing, "test_calls_at_the_same_time_get_their_own_lines"),
    (Busy, "test_a_cancelled_call_leaves_it_usable"),
    (StrictReader, "test_closing_twice_is_harmless"),
]
JUDGES: Sequence[tuple[type[Judge], str]] = [
    (Renamed, "test_it_says_what_it_is"),
    (Ranking, "test_the_text_that_answers_is_best_wherever_it_stands"),
    (Once, "test_a_text_that_comes_twice_is_scored_twice"),
    (Dividing, "test_texts_of_every_kind_are_scored"),
    (Dazzled, "test_pictures_are_scored_among_texts"),
    (Forgetful, "test_calls_at_the_same_time_get_their_own_scores"),
    (Held, "test_a_cancelled_call_leaves_it_usable"),
    (StrictJudge, "test_closing_twice_is_harmless"),
]
PROTOCOLS: dict[type, Any] = {
    EmbedderContract: Embedder,
    RerankerContract: Reranker,
    TextRecognizerContract: TextRecognizer,
}
BROKEN = [
    *((EmbedderContract, kind, test) for kind, test in EMBEDDERS),
    *((TextRecognizerContract, kind, test) for kind, test in READERS),
    *((RerankerContract, kind, test) for kind, test in JUDGES),
]


def contract(base: Any, build: type) -> Any:
    """The contract of a provider, as its plugin's tests have it."""

    @hookimpl
    def vr_providers() -> list[Provider[Any]]:
        return [Provider(PROTOCOLS[base], "ours", lambda _services: build())]

    names = {"plugins": {"ours": SimpleNamespace(vr_providers=vr_providers)}, "provider": "ours"}
    return type("Contract", (base,), names)()


@pytest.mark.parametrize(("base", "kind", "test"), BROKEN)
async def test_a_careless_provider_fails(base: type, kind: type, test: str) -> None:
    with pytest.raises(CARELESS):
        await getattr(contract(base, kind), test)()


@pytest.mark.parametrize("test", sorted({test for _, test in READERS}))
async def test_a_sound_recognizer_passes_the_same(test: str) -> None:
    await getattr(contract(TextRecognizerContract, Reader), test)()


@pytest.mark.parametrize("test", sorted({test for _, test in JUDGES}))
async def test_a_sound_reranker_passes_the_same(test: str) -> None:
    await getattr(contract(RerankerContract, Judge), test)()


async def test_an_embedder_that_sees_passes() -> None:
    await contract(EmbedderContract, Seeing).test_pictures_share_the_space_of_texts()
    await contract(EmbedderContract, Seeing).test_it_says_what_it_is()


@pytest.mark.parametrize("base", PROTOCOLS)
def test_every_promise_has_a_careless_provider(base: type) -> None:
    tests = {name for name in dir(base) if name.startswith("test_")}
    assert tests == {test for its_base, _, test in BROKEN if its_base is base}
