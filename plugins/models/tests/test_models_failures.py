"""Bad addresses, refused keys, unknown models, silent servers, and foreign answers."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from modelskit import provider_at
from vr_kernel import Code, ModelProvider, Request, Text, ThinkingLevel, Turn, VrError
from vr_plugin_models import plugin
from vr_plugin_models.catalogue.known_models import price_of, priced_at
from vr_plugin_models.catalogue.providers import PROVIDERS, TEMPLATES
from vr_plugin_models.openai_compatible.provider import OpenAIModels
from vr_testing import FakeOllama, FakeOpenAI, Fault, open_kernel
from vr_testing.ollama import OllamaRequest

UNLISTED = {"openrouter/openai/text-embedding-3-small"}
"""OpenRouter lists its models that make vectors apart; what it charged stands in its answers."""
SENTENCE = "The quick brown fox jumps over the lazy dog. "
LONG = SENTENCE * 2_000


@pytest.fixture
def service() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as made:
        yield made


def question(words: str = "Who?", thinking: ThinkingLevel | None = None) -> Request:
    return Request((Turn("user", (Text(words),)),), thinking=thinking)


async def failure(provider: ModelProvider, model: str = "m", words: str = "Who?") -> VrError:
    with pytest.raises(VrError) as caught:
        await provider.generate(model, question(words))
    return caught.value


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("http://10.0.0.7/v1", Code.NOT_ALLOWED),
        ("http://localhost:9/v1", Code.NOT_ALLOWED),
        ("https://me:secret-word@api.example/v1", Code.NOT_ALLOWED),
        ("ftp://api.example/v1", Code.NOT_ALLOWED),
        ("not an address", Code.INVALID_INPUT),
    ],
)
async def test_an_address_that_may_not_be_asked_is_refused(address: str, code: Code) -> None:
    settings = {
        "plugins.models.openai_base_url": address,
        "plugins.models.openai_api_key": "any",
        "models.default": ["openai/x"],
    }
    async with open_kernel({"models": plugin}, settings=settings) as kernel:
        with pytest.raises(VrError) as caught:
            await kernel.services.models.generate("Who?")
    assert caught.value.code is code
    assert "secret-word" not in f"{caught.value}{caught.value.hint}"


@asynccontextmanager
async def zai(
    coding: FakeOpenAI, normal: FakeOpenAI, plan: bool = True
) -> AsyncIterator[ModelProvider]:
    """The provider of the table's row, with its two addresses at fake services."""
    settings = {"plugins.models.zai_api_key": "any", "plugins.models.zai_coding_plan": plan}
    async with open_kernel({"models": plugin}, settings=settings) as kernel:
        found = kernel.services.providers.get(ModelProvider, "zai")
        assert isinstance(found, OpenAIModels)
        assert "/coding/" in found.endpoint.row.before
        row = replace(found.endpoint.row, before=coding.url, address=normal.url)
        provider = OpenAIModels(replace(found.endpoint, row=row))
        yield provider
        await provider.aclose()


@pytest.mark.parametrize(
    ("refusal", "plan", "asked"),
    [(None, True, (1, 0)), (401, True, (1, 1)), (429, True, (1, 1)), (None, False, (0, 1))],
)
async def test_the_coding_plan_is_asked_first_and_the_normal_address_after_its_refusal(
    service: FakeOpenAI, refusal: int | None, plan: bool, asked: tuple[int, int]
) -> None:
    with FakeOpenAI() as coding:
        if refusal is not None:
            coding.fail(Fault.status(refusal))
        async with zai(coding, service, plan) as provider:
            assert (await provider.generate("glm-5.1", question())).text
        assert (len(coding.requests), len(service.requests)) == asked


async def test_an_answer_that_the_coding_plan_lost_is_not_paid_again(service: FakeOpenAI) -> None:
    with FakeOpenAI() as coding:
        coding.fail(Fault.lost())
        async with zai(coding, service) as provider:
            assert (await failure(provider, "glm-5.1")).code is Code.UNAVAILABLE
        assert service.requests == []


async def test_a_server_that_is_not_running_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    async with provider_at("ollama", url, model="qwen") as provider:
        error = await failure(provider, "qwen")
    assert (error.code, error.category) == (Code.UNAVAILABLE, "SERVICE_UNREACHABLE")
    assert error.hint.startswith("Start it: ollama serve. ")
    assert url in error.hint


@pytest.mark.parametrize("pulled", [set(), {"qwen3:8b"}])
async def test_a_model_that_ollama_lacks_is_named_with_the_way_to_get_it(pulled: set[str]) -> None:
    with FakeOllama() as service:
        service.models = pulled
        async with provider_at("ollama", service.url, model="qwen3:4b") as provider:
            error = await failure(provider, "qwen3:4b")
    assert error.code is Code.NOT_FOUND
    assert error.hint.startswith("Get it: ollama pull qwen3:4b. ")
    assert all(name in error.hint for name in pulled)


@pytest.mark.parametrize(
    ("model", "thinking", "sent"),
    [
        ("qwen3:8b", "minimal", False),
        ("qwen3:8b", "low", True),
        ("qwen3:8b", "high", True),
        ("gpt-oss:20b", "minimal", "low"),
        ("gpt-oss:20b", "high", "high"),
        ("qwen3:8b", None, None),
    ],
)
async def test_a_model_of_ollama_is_told_to_think_as_it_understands(
    model: str, thinking: ThinkingLevel | None, sent: object
) -> None:
    with FakeOllama() as service:
        async with provider_at("ollama", service.url, model=model) as provider:
            assert (await provider.generate(model, question(thinking=thinking))).text
        assert [request.field("think") for request in service.requests_of("chat")] == [sent]


async def test_a_long_request_gets_its_context_at_ollama() -> None:
    with FakeOllama() as service:
        async with provider_at("ollama", service.url, model="qwen") as provider:
            await provider.generate("qwen", question())
            await provider.generate("qwen", question(LONG))
        short, long = [request.window for request in service.requests_of("chat")]
        assert (short, long) == (4_096, 32_768)


@pytest.mark.parametrize("sentences", [600, 900, 2_000])
async def test_a_request_that_ollama_cut_is_an_error_and_no_answer(sentences: int) -> None:
    seen: list[str] = []

    def answer(request: OllamaRequest) -> str:
        seen.append(request.text)
        return "About the rest."

    with FakeOllama() as service:
        service.ignores_window = True
        service.answer(answer)
        async with provider_at("ollama", service.url, model="qwen") as provider:
            error = await failure(provider, "qwen", f"Begin here. {SENTENCE * sentences}")
    assert (error.code, error.category) == (Code.UNAVAILABLE, "REQUEST_CUT")
    assert error.usage is not None
    assert error.usage.input_tokens == 4_096
    assert "Begin here." not in seen[0]
    assert "lazy dog" in seen[0]


async def test_a_request_that_just_fits_ollamas_own_context_is_answered() -> None:
    with FakeOllama() as service:
        service.ignores_window = True
        async with provider_at("ollama", service.url, model="qwen") as provider:
            reply = await provider.generate("qwen", question(SENTENCE * 360))
    assert 3_980 <= reply.usage.input_tokens <= 4_096


async def test_without_a_count_of_ollama_there_is_nothing_to_compare_and_a_note() -> None:
    with FakeOllama() as service:
        service.usage = "missing"
        async with provider_at("ollama", service.url, model="qwen") as provider:
            reply = await provider.generate("qwen", question(LONG))
    assert "estimated" in reply.notes[0]
    assert reply.usage.calls == 1
    assert reply.usage.input_tokens > 10_000


def test_every_model_of_the_table_has_a_price_or_is_known_to_have_none() -> None:
    unpriced = {"modalresearch", "zenmux", "ernie"}  # in no price list that can be installed
    named = [f"{row.name}/{model}" for row in PROVIDERS for model in _models(row)]
    for name in [*named, *TEMPLATES.values()]:
        provider, _, model = name.partition("/")
        known_to_have_none = provider in unpriced or name in UNLISTED
        assert (price_of(provider, model) is None) == known_to_have_none, name
    assert priced_at().year >= 2026


def _models(row: object) -> list[str]:
    names = ("model", "fallback", "small", "vision", "embedding")
    return [model for name in names if (model := getattr(row, name))]
