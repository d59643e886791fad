"""The rerankers that need no download keep what every reranker keeps."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fake_cohere import FakeCohere, serving_cohere, word_scores
from refined_kernels import knowledge_kernel
from vr_kernel import Reranker
from vr_testing import FakeGemini, RecordedRequest, RerankerContract


def judge(request: RecordedRequest) -> dict[str, Any]:
    """A model's judgement of the passages that it was sent: how many words they share."""
    question = request.text.split("Question: ")[1].split("\n\n<records>")[0]
    lines = request.text.split("<records>\n")[1].split("\n</records>")[0].split("\n")
    texts = [json.loads(line)["text"] for line in lines]
    scores = word_scores(question, texts)
    return {"scores": [{"passage": n, "score": score} for n, score in enumerate(scores, 1)]}


class TestCohere(RerankerContract):
    provider = "cohere"

    @pytest.fixture(autouse=True)
    async def cohere(self) -> AsyncIterator[None]:
        async with serving_cohere() as self.service:
            yield

    service: FakeCohere

    @asynccontextmanager
    async def opened(self, folder: Path | None = None) -> AsyncIterator[Reranker]:
        async with knowledge_kernel(self.service.settings, folder=folder) as kernel:
            yield kernel.services.providers.get(Reranker, self.provider)


class TestJudge(RerankerContract):
    provider = "model"
    service: FakeGemini

    @pytest.fixture(autouse=True)
    def gemini(self) -> Iterator[None]:
        with FakeGemini() as self.service:
            self.service.answer(judge)
            yield

    @asynccontextmanager
    async def opened(self, folder: Path | None = None) -> AsyncIterator[Reranker]:
        async with knowledge_kernel(gemini=self.service, folder=folder) as kernel:
            yield kernel.services.providers.get(Reranker, self.provider)
