"""Meaning and order of search results by models of each family, through the knowledge tools."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from vr_kernel import Code, Embedder, Picture, RecordField, RecordKind, VrError, hookimpl
from vr_plugin_knowledge import plugin as knowledge
from vr_plugin_models import plugin as models
from vr_testing import (
    EmbedderContract,
    FakeGemini,
    FakeOllama,
    FakeOpenAI,
    Fault,
    TrialKernel,
    open_kernel,
)
from waiting import until

FOX, DRUM = "fox river frozen dawn", "violin drum concert"
SMALL = "text-embedding-3-small"
PASSAGES = "Represent this sentence for searching relevant passages: "


@dataclass(frozen=True)
class Family:
    """A provider, a model that it embeds with, and what becomes of texts and questions."""

    provider: str
    service: type[Any]
    model: str
    dimension: int
    document: str = ""
    query: str = ""
    judge: str = "own-model"


FAMILIES = (
    Family(
        "gemini",
        FakeGemini,
        "gemini-embedding-2",
        768,
        "title: none | text: ",
        "task: search result | query: ",
        "gemini-3.8-flash",
    ),
    Family("openai", FakeOpenAI, SMALL, 768),
    Family("openai_compatible", FakeOpenAI, "intfloat/e5-large", 1024, "passage: ", "query: "),
    Family("ollama", FakeOllama, "nomic-embed-text", 768, "search_document: ", "search_query: "),
    Family("lmstudio", FakeOpenAI, "mxbai-embed-large", 1024, "", PASSAGES),
)


class Notes:
    """A plugin with one kind of records."""

    @hookimpl
    def vr_record_kinds(self) -> list[RecordKind]:
        text = RecordField("text", searchable=True, vectorised=True)
        return [RecordKind("Notes", "Notes of a person.", (text,), rerank="text")]


@pytest.fixture
def services() -> Iterator[Any]:
    """Starts fake services."""
    with ExitStack() as stack:
        yield lambda kind: stack.enter_context(kind())


def reached(name: str, service: Any) -> dict[str, object]:
    """The settings by which a provider is at a fake service."""
    if name == "gemini":
        return {"models.gemini_api_keys": ["any"], "models.gemini_base_url": service.url}
    own = f"plugins.models.{name}"
    return {f"{own}_base_url": service.url, f"{own}_api_key": "key-of-the-user"}


@asynccontextmanager
async def embedding(
    where: Mapping[str, Any],
    *named: str,
    folder: Path | None = None,
    **settings: object,
) -> AsyncIterator[TrialKernel]:
    """A kernel with providers at fake services, whose role `embedding` has the models named."""
    given: dict[str, object] = {
        "kernel.http.allowed_hosts": [each.url.split("/")[2] for each in where.values()],
        "models.embedding": list(named),
        "models.attempts": 1,
        "models.retry_base_delay_s": 0.01,
        "store.backend": "embedded",
        "store.embedder": "model",
        "plugins.knowledge.refining_deadline_s": 60,
    }
    for name, service in where.items():
        given |= reached(name, service)
    plugins = {"models": models, "knowledge": knowledge, "notes": Notes()}
    async with open_kernel(plugins, settings={**given, **settings}, folder=folder) as kernel:
        yield kernel


async def ingest(kernel: TrialKernel, *texts: str) -> None:
    properties = [{"text": text} for text in texts]
    await kernel.call("knowledge_ingest", collection="Notes", properties=properties)


async def search(kernel: TrialKernel, query: str, **given: Any) -> Any:
    async def have_vectors() -> bool:
        return not await kernel.services.store.pending_vectors()

    if given.get("search_type") == "semantic":  # a search waits for them, but not for long
        assert await kernel.services.store.catch_up(30) == 0
        await until(have_vectors)
    return await kernel.call("knowledge_search", query=query, **given)


def embedded(service: Any) -> list[list[str]]:
    """The texts of each request for vectors; asserts that a text has a content of its own."""
    found = []
    for request in service.requests:
        if request.action in {"embed", "embeddings"}:
            found.append([str(text) for text in request.inputs])
        elif request.action == "batchEmbedContents":
            parts = [each["content"]["parts"] for each in request.body["requests"]]
            assert {len(each) for each in parts} == {1}
            found.append([part["text"] for (part,) in parts])
    return found


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.provider)
async def test_each_family_finds_by_meaning(family: Family, services: Any) -> None:
    service = services(family.service)
    if family.dimension != 768:
        service.dimension = family.dimension
    name = f"{family.provider}/{family.model}"
    async with embedding({family.provider: service}, name) as kernel:
        await ingest(kernel, FOX, DRUM)
        found = await search(kernel, "river fox", search_type="semantic")
        assert found.results[0].properties["text"] == FOX
        assert (found.notes, found.embedder) == ([], f"{name}@{family.dimension}")
        by_words = await search(kernel, "fox", search_type="keyword")
        assert by_words.embedder is None
        spent: Any = await kernel.call("infra_usage", by="model")
        assert spent.total.input_tokens == service.bill.input_tokens > 0
    texts = [text for batch in embedded(service) for text in batch]
    assert sorted(texts) == sorted(
        [f"{family.document}{FOX}", f"{family.document}{DRUM}", f"{family.query}river fox"]
    )


async def test_the_vector_of_a_question_is_paid_by_its_call(services: Any) -> None:
    """Estimates count it, and the budget of a call is not that of all calls together."""
    service = services(FakeOpenAI)
    priced: dict[str, Any] = {
        "models.prices": {f"openai/{SMALL}": {"input": 5_000.0, "output": 0.0}},
        "models.call_budget_usd": 0.2,
    }
    async with embedding({"openai": service}, f"openai/{SMALL}", **priced) as kernel:
        await ingest(kernel, *(f"{FOX} {number}" for number in range(12)))
        await search(kernel, "once", search_type="semantic")
        before = len(embedded(service))
        told: Any = (await kernel.preview("knowledge_search", {"query": "river fox"})).result
        assert (told.models, told.requests) == ([f"openai/{SMALL}"], 1)
        assert len(embedded(service)) == before
        found = await search(kernel, "river fox", search_type="semantic")
        assert found.notes == []
        assert 0 < found.usage.cost_usd < 0.03
        spent: Any = await kernel.call("infra_usage", by="tool")
        assert {row.key: row.calls for row in spent.rows}["knowledge_search"] == 2
        assert spent.total.cost_usd > 0.2
        refused: Any = (await kernel.preview("knowledge_search", {"query": "fox " * 40})).result
        assert any("would not be asked" in note for note in refused.notes)


@pytest.mark.parametrize(
    ("provider", "texts", "items", "tokens"),
    [
        ("openai", ["a fox"] * 2_100, 2_048, 300_000),
        ("openai", ["all work and no play " * 350] * 200, 2_048, 300_000),
        ("mistral", ["a fox"] * 600, 512, 16_384),
        ("mistral", ["all work and no play " * 350] * 20, 512, 16_384),
        ("fireworks", ["a fox"] * 230, 100, 0),
    ],
)
async def test_requests_are_as_large_as_the_provider_takes(
    provider: str, texts: list[str], items: int, tokens: int, services: Any
) -> None:
    service = services(FakeOpenAI)
    service.embedded_items, service.embedded_tokens = items, tokens or 300_000
    service.dimension = 1024 if provider == "mistral" else 768
    model = {"openai": SMALL, "mistral": "mistral-embed", "fireworks": "nomic-embed-text-v1.5"}
    small: dict[str, Any] = {"plugins.knowledge.embedding_dimension": 32}
    named = [f"{text} {number}" for number, text in enumerate(texts)]
    async with embedding({provider: service}, f"{provider}/{model[provider]}", **small) as kernel:
        vectors = await kernel.services.vectors.embed_documents(named)
        assert len({tuple(each) for each in vectors}) == len(texts)
    sizes = [len(batch) for batch in embedded(service)]
    assert sum(sizes) == len(texts)
    if len(texts[0]) < 10:
        assert sizes == [items] * (len(texts) // items) + [len(texts) % items]
    else:
        assert len(sizes) == {"openai": 2, "mistral": 3}[provider]


async def test_what_was_paid_before_a_failure_is_not_paid_again(services: Any) -> None:
    service = services(FakeOpenAI)
    service.dimension = 768
    texts = [f"text {number}" for number in range(250)]
    service.fail(Fault.status(503), when=lambda request: "text 150" in request.text)
    async with embedding({"fireworks": service}, "fireworks/nomic-embed-text-v1.5") as kernel:
        with pytest.raises(VrError):
            await kernel.services.vectors.embed_documents(texts)
        assert len(await kernel.services.vectors.embed_documents(texts)) == 250
    assert [len(batch) for batch in embedded(service)] == [100, 100, 100, 50]
    assert service.bill.calls == 3


async def test_another_model_embeds_anew_and_nothing_is_mixed(
    tmp_path: Path, services: Any
) -> None:
    service = services(FakeOpenAI)
    for model in (SMALL, "text-embedding-3-large"):
        async with embedding({"openai": service}, f"openai/{model}", folder=tmp_path) as kernel:
            if model == SMALL:
                await ingest(kernel, FOX, DRUM)
            found = await search(kernel, "river fox", search_type="semantic")
            assert found.results[0].properties["text"] == FOX
            assert found.embedder == f"openai/{model}@768"
            asked = [each for each in service.requests if each.action == "embeddings"]
            own = [each for each in asked if each.model == model]
            assert sum(len(each.inputs) for each in own) == 3


async def test_a_failed_provider_is_replaced_by_the_same_model_alone(services: Any) -> None:
    first, second, third = services(FakeOpenAI), services(FakeOpenAI), services(FakeOllama)
    first.fail(Fault.status(503), times=None)
    where = {"openai": first, "openrouter": second, "ollama": third}
    same, other = f"openrouter/openai/{SMALL}", "ollama/nomic-embed-text"
    async with embedding(where, f"openai/{SMALL}", other, same) as kernel:
        await ingest(kernel, FOX, DRUM)
        found = await search(kernel, "river fox", search_type="semantic")
        assert found.results[0].properties["text"] == FOX
        assert found.embedder == f"openai/{SMALL}@768"
        spent: Any = await kernel.call("infra_usage", by="provider")
        assert {row.key for row in spent.rows if row.calls} == {"openrouter"}
    assert {request.model for request in second.requests} == {f"openai/{SMALL}"}
    assert not third.requests


async def test_vectors_of_another_model_are_no_replacement(services: Any) -> None:
    first, other = services(FakeOpenAI), services(FakeOllama)
    first.fail(Fault.status(503), times=None)
    where = {"openai": first, "ollama": other}
    async with embedding(where, f"openai/{SMALL}", "ollama/nomic-embed-text") as kernel:
        await ingest(kernel, FOX, DRUM)
        found = await search(kernel, "fox")
        assert [hit.properties["text"] for hit in found.results] == [FOX]
        assert found.embedder is None
        assert found.notes[0].startswith("Found by keyword alone.")
    assert not other.requests


async def test_a_length_that_is_not_known_is_asked_for(tmp_path: Path, services: Any) -> None:
    service = services(FakeOpenAI)
    service.dimension = 96
    where, name = {"openai_compatible": service}, "openai_compatible/own-vectors"
    async with embedding(where, name, folder=tmp_path) as kernel:
        await ingest(kernel, FOX, DRUM)
        for _ in range(2):
            found = await search(kernel, "fox")
            assert len(found.results) == 1
            assert "embedding_dimension = 96" in found.notes[0]
    assert service.bill.calls <= 2, "paid again for what cannot be used"
    right: dict[str, Any] = {"plugins.knowledge.embedding_dimension": 96}
    async with embedding(where, name, folder=tmp_path, **right) as kernel:
        found = await search(kernel, "river fox", search_type="semantic")
        assert found.results[0].properties["text"] == FOX
        assert (found.embedder, found.notes) == (f"{name}@96", [])


async def test_a_long_text_is_cut_to_what_the_model_reads(services: Any) -> None:
    service = services(FakeOllama)
    service.dimension = 1024
    async with embedding({"ollama": service}, "ollama/mxbai-embed-large") as kernel:
        await kernel.services.vectors.embed_documents(["all work and no play " * 400, " \n"])
    ((long, blank),) = embedded(service)
    assert 1_000 < len(long) < 2_100
    assert blank == "-"


async def test_pictures_are_refused_by_models_of_texts(services: Any) -> None:
    service = services(FakeOpenAI)
    async with embedding({"openai": service}, f"openai/{SMALL}") as kernel:
        with pytest.raises(VrError, match="does not take pictures") as caught:
            await kernel.services.vectors.embed_documents([Picture(PIXEL)])
        assert (caught.value.code, caught.value.category) == (
            Code.UNSUPPORTED,
            "MEDIA_UNSUPPORTED",
        )
    assert not service.requests


PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c6360000000020001e221bc330000000049454e44ae426082"
)


def judged(request: Any) -> dict[str, Any]:
    """The judgement of a model that likes owls."""
    lines = request.text.split("<records>\n")[1].split("\n</records>")[0].split("\n")
    passages = [json.loads(line) for line in lines]
    return {
        "scores": [
            {"passage": each["passage"], "score": 0.9 if "owl" in each["text"] else 0.1}
            for each in passages
        ]
    }


@pytest.mark.parametrize("family", FAMILIES[:4], ids=lambda family: family.provider)
async def test_a_model_of_each_family_judges_the_hits(family: Family, services: Any) -> None:
    service = services(family.service)
    service.answer(judged)
    judge = f"{family.provider}/{family.judge}"
    own: dict[str, Any] = {
        "store.embedder": "words",
        "models.judge": [judge],
        "plugins.knowledge.reranker_provider": "model",
    }
    async with embedding({family.provider: service}, **own) as kernel:
        await ingest(kernel, "fox fox fox", "fox and owl in the forest", "fox den")
        plain = await search(kernel, "fox", search_type="keyword", limit=3)
        assert plain.results[0].properties["text"] == "fox and owl in the forest"
        assert plain.reranker == f"model/{judge}"
        assert plain.usage.calls == 1
        assert plain.usage.input_tokens == service.bill.input_tokens > 0
        service.heal()
        service.answer({"scores": [{"passage": 9, "score": 1}]})
        broken = await search(kernel, "fox den", search_type="keyword")
        assert broken.results[0].properties["text"] == "fox den"
        assert (broken.reranked, broken.reranker) == (False, None)
        assert broken.notes[0].startswith("Not reranked.")
    assert sum(request.generates for request in service.requests) == 2


async def test_a_judge_with_a_small_window_reads_less_of_each_hit(services: Any) -> None:
    service = services(FakeOpenAI)
    service.answer(judged)
    service.context = 4_000
    own: dict[str, Any] = {
        "store.embedder": "words",
        "models.judge": ["openai_compatible/own-model"],
        "plugins.models.openai_compatible_context_window": 4_000,
        "plugins.knowledge.reranker_provider": "model",
    }
    async with embedding({"openai_compatible": service}, **own) as kernel:
        await ingest(kernel, *(f"fox {number} " + "snow " * 200 for number in range(40)))
        found = await search(kernel, "fox", search_type="keyword", limit=40)
        assert (found.reranked, found.notes) == (True, [])


class TestOpenAIModel(EmbedderContract):
    """The contract of embedders, kept by a model whose vectors are shortened."""

    plugins: ClassVar = {"models": models, "knowledge": knowledge}
    provider = "model"
    family: ClassVar = FAMILIES[1]

    @asynccontextmanager
    async def opened(self, folder: Path | None = None) -> AsyncIterator[Embedder]:
        """The embedder at a service of its own."""
        name = f"{self.family.provider}/{self.family.model}"
        with self.family.service() as service:
            async with embedding({self.family.provider: service}, name, folder=folder) as kernel:
                yield kernel.services.providers.get(Embedder, self.provider)


class TestOllamaModel(TestOpenAIModel):
    """Kept by a model on this machine, which is told in words what a text is for."""

    family = FAMILIES[3]
