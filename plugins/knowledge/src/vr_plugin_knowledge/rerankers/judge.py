"""The language model as a judge of search results."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field
from vr_kernel import Code, Picture, Services, VrError, texts_of

from vr_plugin_knowledge.envelopes import DATA_RULE, enclose

JUDGED_CHARS = 800
"""Most characters of each text; a hundred texts are then about 20,000 tokens."""
LEAST_CHARS = 80
CHARS_PER_TOKEN = 3
"""Fewer than most texts have: it is better to cut one than to be refused."""
PART = 0.5
"""Part of the model's window that all texts may fill."""
_SYSTEM = (
    "You judge how well each passage answers a question: 1 answers it fully, 0.5 is about the"
    " same matter, 0 has nothing to do with it. Give every passage one score. " + DATA_RULE
)


class _Score(BaseModel):
    passage: int
    score: float = Field(ge=0, le=1)


class _Judgement(BaseModel):
    scores: list[_Score]


class ModelJudge:
    """A `Reranker` that asks the language model of the role `judge`, once for all texts."""

    def __init__(self, services: Services) -> None:
        self._models = services.models
        self.name = "/".join(["model", *self._models.suggested("judge")[:1]])

    async def rerank(self, query: str, items: Sequence[str | Picture]) -> list[float]:
        """Score each text from 0 to 1, in order; a text that the model skips has 0.

        Raises:
            VrError: what the model raises; UNAVAILABLE, category REPLY_INVALID, for scores of
                other passages.
        """
        texts = texts_of(self.name, items)
        chars = self._chars(len(texts))
        passages = [
            {"passage": number, "text": text[:chars]} for number, text in enumerate(texts, start=1)
        ]
        said = f"Question: {query}\n\n{enclose(passages)}"
        judged = await self._models.generate_structured(
            said, _Judgement, role="judge", system=_SYSTEM, thinking="low"
        )
        scores: dict[int, float] = {}
        for entry in judged.value.scores:
            scores.setdefault(entry.passage, entry.score)
        if not all(1 <= number <= len(texts) for number in scores) or not scores:
            raise VrError(
                "The model judged passages that it was not given.",
                Code.UNAVAILABLE,
                category="REPLY_INVALID",
                hint="Set another model: [models] judge = ['provider/model'].",
            )
        return [scores.get(number, 0.0) for number in range(1, len(texts) + 1)]

    def _chars(self, count: int) -> int:
        """Most characters of each of so many texts, by the window of the model."""
        window = self._models.info("judge").context
        fitting = int(window * PART) * CHARS_PER_TOKEN // max(count, 1)
        return max(LEAST_CHARS, min(JUDGED_CHARS, fitting)) if window else JUDGED_CHARS
