"""The contract of rerankers: tests that the tests of each reranker inherit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from math import isclose, isfinite

from vr_kernel.items.pictures import Picture
from vr_kernel.providers import Reranker

from vr_testing.contracts.embedder import ODD_TEXTS, TOPICS
from vr_testing.contracts.outcomes import SOON_S
from vr_testing.contracts.pictures import patch, sees
from vr_testing.contracts.provider import ProviderContract, close


class RerankerContract(ProviderContract[Reranker]):
    """The tests of `vr_kernel.Reranker`, for pytest with asyncio's auto mode.

    A reranker's tests subclass it once:

    ```python
    class TestJudge(RerankerContract):
        plugins: ClassVar = {"judge": plugin}
        provider = "judge"
    ```

    Every test opens a kernel and a reranker of its own. A test can be overridden where a reranker
    has a reason to differ. One that accepts pictures is tested with them, too.
    """

    kind = Reranker

    async def test_it_says_what_it_is(self) -> None:
        """`name` stays the same: scores are cached by it."""
        async with self.opened() as reranker, self.opened() as another:
            assert reranker.name, "it has no name"
            assert reranker.name == another.name, "its name changes from one instance to the next"

    async def test_the_text_that_answers_is_best_wherever_it_stands(self) -> None:
        """Scores come in the order of the texts, higher is better."""
        async with self.opened() as reranker:
            for turn in range(len(TOPICS)):
                texts = [*TOPICS[turn:], *TOPICS[:turn]]
                assert await self.best(reranker, TOPICS[0], texts) == TOPICS[0]

    async def test_a_text_that_comes_twice_is_scored_twice(self) -> None:
        """Both times with the same score."""
        async with self.opened() as reranker:
            scores = await self.rerank(reranker, TOPICS[0], [*TOPICS, TOPICS[0]])
            assert min(scores[0], scores[-1]) > max(scores[1:-1]), scores

    async def test_texts_of_every_kind_are_scored(self) -> None:
        """Empty, blank, odd or long: each gets a score, with others and alone."""
        async with self.opened() as reranker:
            await self.rerank(reranker, TOPICS[0], list(ODD_TEXTS.values()))
            for text in ODD_TEXTS.values():
                await self.rerank(reranker, TOPICS[0], [text])

    async def test_pictures_are_scored_among_texts(self) -> None:
        """Each gets a score, and the same one when it comes twice."""
        items: list[str | Picture] = [
            patch(255, 0, 0),
            TOPICS[0],
            patch(0, 0, 255),
            patch(255, 0, 0),
        ]
        async with self.opened() as reranker:
            if sees(reranker):
                scores = await self.rerank(reranker, TOPICS[0], items)
                assert isclose(scores[0], scores[-1], rel_tol=1e-3, abs_tol=1e-6), scores

    async def test_calls_at_the_same_time_get_their_own_scores(self) -> None:
        """No call gets the scores of another question."""
        async with self.opened() as reranker:
            calls = [self.best(reranker, topic, TOPICS) for topic in TOPICS * 4]
            assert await asyncio.gather(*calls) == [*TOPICS * 4]

    async def test_a_cancelled_call_leaves_it_usable(self) -> None:
        """The next call is answered."""
        async with self.opened() as reranker:
            work = asyncio.ensure_future(reranker.rerank(TOPICS[1], list(TOPICS) * 10))
            await asyncio.sleep(0)
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work
            async with asyncio.timeout(SOON_S):
                assert await self.best(reranker, TOPICS[0], TOPICS) == TOPICS[0]

    async def test_closing_twice_is_harmless(self) -> None:
        """Used or not, it releases its resources once."""
        async with self.opened() as unused, self.opened() as used:
            await self.rerank(used, TOPICS[0], TOPICS)
            for reranker in (unused, used) * 2:
                await close(reranker)

    async def best(self, reranker: Reranker, query: str, texts: Sequence[str]) -> str:
        """The text with the highest score."""
        scores = await self.rerank(reranker, query, texts)
        return texts[scores.index(max(scores))]

    async def rerank(
        self, reranker: Reranker, query: str, items: Sequence[str | Picture]
    ) -> list[float]:
        """The scores of items: finite floats, as many as there are items."""
        scores = await reranker.rerank(query, items)
        assert len(scores) == len(items), f"{len(scores)} scores for {len(items)} items"
        for score in scores:
            assert isinstance(score, float), type(score)
            assert isfinite(score), score
        return scores
