"""The contract of embedders: tests that the tests of each embedder inherit."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from contextlib import suppress
from typing import ClassVar

from vr_kernel.generation import Purpose
from vr_kernel.items.acceptance import accepted_by
from vr_kernel.items.pictures import Picture
from vr_kernel.providers import Embedder

from vr_testing.contracts.outcomes import SOON_S
from vr_testing.contracts.pictures import patch, sees
from vr_testing.contracts.provider import ProviderContract, close

TOPICS = ("a cat sleeps on the mat", "the price of crude oil rose", "boil the rice in salt water")
ODD_TEXTS = {
    "nothing": "",
    "blank": " \n\t ",
    "control characters": "\x00\x07\x1b[0m",
    "pictures": "👩‍🔬🏳️‍🌈",
    "right to left": "שלום עולם",
    "no spaces": "日本語の文章です",
    "combined": "e\u0301\u200d\ufeff",
    "one long word": "a" * 20_000,
    "a long text": "all work and no play " * 2_000,
}


class EmbedderContract(ProviderContract[Embedder]):
    """The tests of `vr_kernel.Embedder`, for pytest with asyncio's auto mode.

    An embedder's tests subclass it once:

    ```python
    class TestMiniLm(EmbedderContract):
        plugins: ClassVar = {"embedder-minilm": plugin}
        provider = "minilm"
    ```

    Every test opens a kernel and an embedder of its own. A test can be overridden where an
    embedder has a reason to differ. One that accepts pictures is tested with them, too.
    """

    kind = Embedder
    tolerance: ClassVar[float] = 1e-3
    """Largest length of the difference between two vectors of one text."""

    async def test_it_says_what_it_is(self) -> None:
        """`id` names model and version, so it stays the same: vectors are kept by it."""
        async with self.opened() as embedder, self.opened() as another:
            assert embedder.id, "it has no id"
            assert embedder.id == another.id, "its id changes from one instance to the next"
            assert embedder.dimension > 0
            assert accepted_by(embedder)
            assert accepted_by(embedder) <= {"text", "image"}, embedder.accepts

    async def test_each_text_gets_a_vector_of_unit_length(self) -> None:
        """Lists of floats of length `dimension`, whatever the texts are for."""
        async with self.opened() as embedder:
            for purpose in ("document", "query"):
                vectors = await self.embed(embedder, TOPICS, purpose)
                for vector in vectors:
                    assert isinstance(vector, list), type(vector)
                    assert all(isinstance(value, float) for value in vector), type(vector[0])
                    assert abs(math.hypot(*vector) - 1) < self.tolerance, "no unit length"

    async def test_no_texts_give_no_vectors(self) -> None:
        """An empty list is not an error."""
        async with self.opened() as embedder:
            assert list(await embedder.embed([], "document")) == []

    async def test_order_is_kept_and_neighbours_do_not_matter(self) -> None:
        """Each text gets the vector that it gets alone; a repeated text gets it twice."""
        texts = [f"{topic} {number}" for number in range(7) for topic in TOPICS] + [TOPICS[0]] * 2
        async with self.opened() as embedder:
            together = await self.embed(embedder, texts)
            for place in (0, 1, 5, 20, 21, 22):
                (alone,) = await self.embed(embedder, [texts[place]])
                assert self.same(together[place], alone), f"text {place} has another vector alone"

    async def test_vectors_are_the_same_next_time(self) -> None:
        """A replay keeps old vectors next to new ones, so they have to be equal."""
        async with self.opened() as embedder:
            before = await self.embed(embedder, TOPICS)
        async with self.opened() as another:
            after = await self.embed(another, TOPICS)
        assert all(map(self.same, before, after)), "another instance gives other vectors"

    async def test_questions_and_documents_share_one_space(self) -> None:
        """A question in the words of a text is nearest to that text."""
        async with self.opened() as embedder:
            documents = await self.embed(embedder, TOPICS)
            questions = await self.embed(embedder, TOPICS, "query")
            for place, question in enumerate(questions):
                near = [_cosine(question, document) for document in documents]
                assert near.index(max(near)) == place, f"{TOPICS[place]!r}: {near}"

    async def test_texts_of_every_kind_are_embedded(self) -> None:
        """Empty, blank, odd or long: each gets a vector, with others and alone."""
        async with self.opened() as embedder:
            await self.embed(embedder, list(ODD_TEXTS.values()))
            for name, text in ODD_TEXTS.items():
                (vector,) = await self.embed(embedder, [text], "query")
                length = math.hypot(*vector)
                assert abs(length - 1) < self.tolerance, f"{name}: a vector of length {length}"

    async def test_pictures_share_the_space_of_texts(self) -> None:
        """Each picture gets a vector of its own, the same with texts around it and alone."""
        items: list[str | Picture] = [
            TOPICS[0],
            patch(255, 0, 0),
            TOPICS[1],
            patch(0, 0, 255),
            TOPICS[2],
        ]
        async with self.opened() as embedder:
            if not sees(embedder):
                return
            together = await self.embed(embedder, items)
            for place, item in enumerate(items):
                assert abs(math.hypot(*together[place]) - 1) < self.tolerance, "no unit length"
                (alone,) = await self.embed(embedder, [item])
                assert self.same(together[place], alone), f"item {place} has another vector alone"
            assert not self.same(together[1], together[3]), "two pictures have one vector"

    async def test_calls_at_the_same_time_get_their_own_vectors(self) -> None:
        """No call gets the vectors of another."""
        async with self.opened() as embedder:
            alone = [(await self.embed(embedder, [topic]))[0] for topic in TOPICS]
            calls = [self.embed(embedder, [topic]) for topic in TOPICS * 4]
            found = [vector for (vector,) in await asyncio.gather(*calls)]
            assert all(map(self.same, found, alone * 4)), "a call got another call's vectors"

    async def test_a_cancelled_call_leaves_it_usable(self) -> None:
        """The next call is answered."""
        async with self.opened() as embedder:
            (before,) = await self.embed(embedder, TOPICS[:1])
            work = asyncio.ensure_future(embedder.embed(list(TOPICS) * 30, "document"))
            await asyncio.sleep(0)
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work
            async with asyncio.timeout(SOON_S):
                (after,) = await self.embed(embedder, TOPICS[:1])
            assert self.same(before, after), "it gives other vectors after a cancelled call"

    async def test_closing_twice_is_harmless(self) -> None:
        """Used or not, it releases its resources once."""
        async with self.opened() as unused, self.opened() as used:
            await self.embed(used, TOPICS[:1])
            for embedder in (unused, used) * 2:
                await close(embedder)

    async def embed(
        self, embedder: Embedder, items: Sequence[str | Picture], purpose: Purpose = "document"
    ) -> list[list[float]]:
        """The vectors of items; asserts their number, and their length as declared."""
        vectors = await embedder.embed(items, purpose)
        assert len(vectors) == len(items), f"{len(vectors)} vectors for {len(items)} items"
        lengths = {len(vector) for vector in vectors}
        assert lengths == {embedder.dimension}, f"{lengths} numbers, not {embedder.dimension}"
        return vectors

    def same(self, one: Sequence[float], other: Sequence[float]) -> bool:
        """Check that two vectors are the same except for rounding."""
        return math.dist(one, other) <= self.tolerance


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))
