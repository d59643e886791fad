"""Every fault at every family of services, as far as `ModelProviderContract` has it not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from modelskit import provider_at
from vr_kernel import Code, ModelProvider, Request, Text, Turn, VrError
from vr_plugin_models import plugin
from vr_testing import FakeAnthropic, FakeOllama, FakeOpenAI, Fault, TrialKernel, open_kernel
from vr_testing.contracts.outcomes import drained

pytest.importorskip("anthropic")

ASKED = ("chat", "messages", "chat.completions")
"""The actions by which a model is asked for words."""
OTHER = "meant-for-another-service"
KEY = "key-that-nobody-may-see"
QUESTION = Request((Turn("user", (Text("Tell me something. " * 20),)),))


@dataclass(frozen=True)
class Family:
    """A family: the provider that stands for it, its fake, and a model without a price."""

    provider: str
    fake: type[Any]
    model: str = "own-model"

    def url(self, service: Any) -> str:
        """The address that a user gives."""
        url: str = service.url
        return url.removesuffix("/v1") if self.provider == "azure_openai" else url

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[ModelProvider, Any]]:
        """The provider, and the fake service behind it."""
        with self.fake() as service:
            own = {"api_key": KEY, "model": self.model}
            async with provider_at(self.provider, self.url(service), **own) as provider:
                yield provider, service

    @asynccontextmanager
    async def asked(self, **models: object) -> AsyncIterator[tuple[TrialKernel, Any]]:
        """A kernel that asks the provider, and the fake service behind it."""
        with self.fake() as service:
            url = self.url(service)
            given = {
                "kernel.http.allowed_hosts": [url.split("/")[2]],
                f"plugins.models.{self.provider}_base_url": url,
                f"plugins.models.{self.provider}_api_key": KEY,
                "models.default": [f"{self.provider}/{self.model}"],
                **{f"models.{name}": value for name, value in models.items()},
            }
            async with open_kernel({"models": plugin}, settings=given) as kernel:
                yield kernel, service


FAMILIES = {
    "openai": Family("openai_compatible", FakeOpenAI),
    "azure": Family("azure_openai", FakeOpenAI),
    "anthropic": Family("anthropic_compatible", FakeAnthropic),
    "ollama": Family("ollama", FakeOllama),
}


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> Family:
    return FAMILIES[request.param]


def speaks(request: Any) -> bool:
    """True when a model is asked for words."""
    return bool(request.generates)


async def failure(provider: ModelProvider, model: str, *, streamed: bool = False) -> VrError:
    asked = drained(provider.stream(model, QUESTION)) if streamed else None
    with pytest.raises(VrError) as caught:
        await (asked or provider.generate(model, QUESTION))
    return caught.value


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504, 529])
async def test_a_service_at_fault_may_be_asked_again(family: Family, status: int) -> None:
    async with family.opened() as (provider, service):
        service.fail(Fault.status(status), when=speaks)
        error = await failure(provider, family.model)
    assert (error.code, error.category) == (Code.UNAVAILABLE, "SERVICE_ERROR")
    assert error.retryable
    assert error.usage is None


@pytest.mark.parametrize(("events", "category"), [(0, "SERVICE_ERROR"), (2, "REPLY_TRUNCATED")])
async def test_an_error_among_the_events_of_a_stream_may_be_tried_again(
    family: Family, events: int, category: str
) -> None:
    async with family.opened() as (provider, service):
        service.fail(Fault.in_stream(529 if family.fake is FakeAnthropic else 500, events))
        error = await failure(provider, family.model, streamed=True)
    assert (error.code, error.category, error.retryable) == (Code.UNAVAILABLE, category, True)


@pytest.mark.parametrize(
    ("status", "words", "code", "category"),
    [
        (400, "Filtered by content_filter.", Code.NOT_ALLOWED, "SAFETY_BLOCKED"),
        (400, "prompt is too long: 9 tokens > 8", Code.TOO_LARGE, "CONTEXT_EXCEEDED"),
        (400, "Your credit balance is too low.", Code.QUOTA, "API_QUOTA_EXCEEDED"),
        (429, "You exceeded your current quota.", Code.QUOTA, "API_QUOTA_EXCEEDED"),
        (413, "Request too large.", Code.TOO_LARGE, "TOO_LARGE"),
    ],
)
async def test_a_refusal_says_why_and_is_not_tried_again(
    family: Family, status: int, words: str, code: Code, category: str
) -> None:
    async with family.opened() as (provider, service):
        service.fail(Fault.status(status, words), when=speaks)
        error = await failure(provider, family.model)
        assert len(service.requests_of(*ASKED)) == 1
    assert (error.code, error.category, error.retryable) == (code, category, False)
    assert words.rstrip(".") in error.message


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_named_by_its_variable(family: Family, status: int) -> None:
    async with family.opened() as (provider, service):
        service.fail(Fault.status(status), when=speaks)
        error = await failure(provider, family.model)
    assert error.code is Code.AUTH
    assert f"{family.provider}_api_key".upper() in error.hint
    assert KEY not in f"{error}{error.hint}"


async def test_a_model_that_does_not_exist_is_answered_with_those_that_do(family: Family) -> None:
    async with family.opened() as (provider, service):
        service.models = {"own-model-2", "another"}
        error = await failure(provider, family.model)
    assert error.code is Code.NOT_FOUND
    assert "Did you mean 'own-model-2'" in error.hint
    assert "another" in error.hint


async def test_a_service_that_hangs_is_left_at_the_deadline(family: Family) -> None:
    async with family.asked(deadline_s=0.4) as (kernel, service):
        provider = kernel.services.providers.get(ModelProvider, family.provider)
        await provider.generate(family.model, QUESTION)  # without a deadline; imports the library
        service.fail(Fault.hang(), times=None)
        with pytest.raises(VrError) as caught:
            await kernel.services.models.generate("Who?")
        assert (caught.value.code, caught.value.category) == (Code.UNAVAILABLE, "DEADLINE_EXCEEDED")
        hung = service.requests_of(*ASKED)[1:]  # none, where the machine is too slow to ask in time
        await asyncio.to_thread(service.wait, lambda: service.cancelled == len(hung))


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("value", [None, [], {}, 7, "Four.", {"result": "Four."}, {"error": None}])
async def test_an_answer_in_another_shape_cannot_be_read(
    family: Family, value: object, streamed: bool
) -> None:
    async with family.opened() as (provider, service):
        service.fail(Fault.reshaped(value))
        error = await failure(provider, family.model, streamed=streamed)
    assert error.code is Code.UNAVAILABLE
    assert error.category in (
        {"REPLY_UNREADABLE", "REPLY_TRUNCATED"} if streamed else {"REPLY_UNREADABLE"}
    )
    assert error.retryable


@pytest.mark.parametrize("usage", ["missing", "foreign"])
async def test_usage_that_is_not_told_is_estimated_and_its_cost_is_not_guessed(
    family: Family, usage: str
) -> None:
    async with family.asked() as (kernel, service):
        service.usage = usage
        models = kernel.services.models
        whole = await models.generate("Tell me something. " * 20)
        pieces = [piece async for piece in models.stream("Tell me something. " * 20)]
        streamed = pieces[-1].reply
    assert streamed is not None
    for reply in (whole, streamed):
        assert reply.usage.calls == 1
        assert reply.usage.input_tokens > 40
        assert any("estimated" in note for note in reply.notes)
        assert reply.usage.cost_usd == (0.0 if family.provider == "ollama" else None)


async def test_a_temperature_is_sent_and_left_out_where_it_is_refused(family: Family) -> None:
    async with family.opened() as (provider, service):
        request = Request(QUESTION.turns, temperature=0.5)
        assert (await provider.generate(family.model, request)).text
        (sent,) = service.requests_of(*ASKED)
        assert (sent.field("options") or sent.body)["temperature"] == 0.5
        if family.provider == "ollama":  # it refuses no option
            return
        service.refused = {"temperature"}
        assert (await provider.generate(family.model, request)).text
        assert ["temperature" in each.body for each in service.requests_of(*ASKED)] == [
            True,
            True,
            False,
        ]


async def test_headers_and_tokens_for_another_service_are_not_sent(
    family: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDKs read them from the environment; they are for their own services alone."""
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        given = f"X-Team: {OTHER}\nAuthorization: Bearer {OTHER}\napi-key: {OTHER}"
        monkeypatch.setenv(name, given)
    for name in (
        "ANTHROPIC_AUTH_TOKEN",
        "AZURE_OPENAI_AD_TOKEN",
        "OPENAI_ADMIN_KEY",
        "OPENAI_ORG_ID",
    ):
        monkeypatch.setenv(name, OTHER)
    async with family.opened() as (provider, service):
        assert (await provider.generate(family.model, QUESTION)).text
        for request in service.requests:
            assert request.api_key == KEY
            assert not any(OTHER in value for value in request.headers.values())
