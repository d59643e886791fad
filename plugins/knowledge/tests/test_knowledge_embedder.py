"""Embeddings by a service: the contract of embedders, and what becomes of a changed model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

import pytest
from refined_kernels import have_vectors, ingest, knowledge_kernel
from vr_kernel import Code, Embedder, VrError
from vr_plugin_knowledge import plugin as knowledge
from vr_plugin_knowledge.results import KnowledgeSearchResult
from vr_testing import EmbedderContract, FakeGemini, Fault, open_kernel

GEMINI = {"store.embedder": "gemini", "plugins.knowledge.embedding_dimension": 256}


class TestGeminiEmbedder(EmbedderContract):
    plugins: ClassVar = {"knowledge": knowledge}
    provider = "gemini"

    @asynccontextmanager
    async def opened(self, folder: Path | None = None) -> AsyncIterator[Embedder]:
        with FakeGemini() as fake:
            variables = {"GEMINI_API_KEY": "any", "GOOGLE_GEMINI_BASE_URL": fake.url}
            async with open_kernel(
                self.plugins, settings=GEMINI, variables=variables, folder=folder
            ) as kernel:
                yield kernel.services.providers.get(Embedder, self.provider)


async def test_batches_purposes_and_what_it_is_called() -> None:
    with FakeGemini() as fake:
        async with knowledge_kernel(GEMINI, gemini=fake) as kernel:
            embedder = kernel.services.providers.get(Embedder)
            assert embedder.id == "gemini/gemini-embedding-2@256"
            assert len(await embedder.embed([f"text {n}" for n in range(230)], "document")) == 230
            await embedder.embed(["a question"], "query")
        requests = fake.requests_of("batchEmbedContents")
        assert [len(request.body["requests"]) for request in requests] == [100, 100, 30, 1]
        assert "task: search result | query: a question" in str(requests[-1].body)
        assert "title: none | text: text 1" in str(requests[0].body)


async def test_records_are_found_by_their_vectors() -> None:
    with FakeGemini() as fake:
        async with knowledge_kernel(GEMINI, gemini=fake) as kernel:
            await ingest(kernel, "Notes", {"text": "fox river"}, {"text": "violin drum"})
            await have_vectors(kernel)
            result = await kernel.call(
                "knowledge_search", query="river fox", search_type="semantic"
            )
            assert isinstance(result, KnowledgeSearchResult)
            assert result.results[0].properties["text"] == "fox river"
            assert result.notes == []


async def test_a_service_that_is_away_leaves_the_keywords() -> None:
    with FakeGemini() as fake:
        fake.fail(Fault.status(500), times=None)
        async with knowledge_kernel(GEMINI, gemini=fake) as kernel:
            await ingest(kernel, "Notes", {"text": "fox river"})
            result = await kernel.call("knowledge_search", query="fox")
            assert isinstance(result, KnowledgeSearchResult)
            assert len(result.results) == 1
            assert "keyword alone" in result.notes[0]


async def test_a_service_that_hangs_leaves_the_keywords() -> None:
    quick = {**GEMINI, "plugins.knowledge.refining_deadline_s": 0.05}
    with FakeGemini() as fake:
        async with knowledge_kernel(quick, gemini=fake) as kernel:
            await ingest(kernel, "Notes", {"text": "fox river"})
            await kernel.call("knowledge_search", query="river")
            fake.fail(Fault.hang(), times=None)
            result = await kernel.call("knowledge_search", query="fox")
            assert isinstance(result, KnowledgeSearchResult)
            assert len(result.results) == 1
            assert "keyword alone" in result.notes[0]


async def test_without_a_key_the_keywords_are_left_and_the_hint_says_why() -> None:
    async with knowledge_kernel(GEMINI) as kernel:
        await ingest(kernel, "Notes", {"text": "fox river"})
        result = await kernel.call("knowledge_search", query="fox")
        assert isinstance(result, KnowledgeSearchResult)
        assert len(result.results) == 1
        assert "GEMINI_API_KEY" in result.notes[0]


async def test_vectors_of_another_model_are_refused() -> None:
    with FakeGemini() as fake:
        async with knowledge_kernel(GEMINI, gemini=fake) as kernel:
            embedder = kernel.services.providers.get(Embedder)
            await embedder.embed(["one"], "query")
            kernel.services.models.roles.configuration.change(
                embedding=["gemini/gemini-embedding-001"]
            )
            with pytest.raises(VrError) as changed:
                await embedder.embed(["one"], "query")
            assert (changed.value.code, changed.value.category) == (
                Code.CONFLICT,
                "EMBEDDER_CHANGED",
            )
