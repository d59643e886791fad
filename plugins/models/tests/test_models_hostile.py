"""Faults that a hostile service, or another program's environment, cannot cause."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from vr_kernel import Code, ModelProvider, VrError
from vr_plugin_models import plugin
from vr_testing import (
    FakeAnthropic,
    FakeOllama,
    FakeOpenAI,
    Fault,
    TrialKernel,
    open_kernel,
)

FAMILIES = {
    "openai_compatible": FakeOpenAI,
    "azure_openai": FakeOpenAI,
    "anthropic": FakeAnthropic,
    "ollama": FakeOllama,
}
OWN = "openai_compatible/own"
PRICE: dict[str, Any] = {"models.prices": {OWN: {"input": 1, "output": 1}}}
WHOLE = {"message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name == "anthropic":
        pytest.importorskip("anthropic")
    return name


@pytest.fixture
def openai() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as service:
        service.answer("Yes.", times=None)
        yield service


@asynccontextmanager
async def asking(name: str, service: Any, **settings: Any) -> AsyncIterator[TrialKernel]:
    """A kernel that asks one provider, at a fake service."""
    where = service.url.removesuffix("/v1") if name == "azure_openai" else service.url
    given = {
        "kernel.http.allowed_hosts": [service.url.split("/")[2]],
        "models.default": [f"{name}/own"],
        "models.attempts": 1,
        f"plugins.models.{name}_base_url": where,
        f"plugins.models.{name}_api_key": "key-of-the-user",
        **settings,
    }
    async with open_kernel({"models": plugin}, settings=given) as kernel:
        yield kernel


async def refusal(kernel: TrialKernel, **how: Any) -> VrError:
    with pytest.raises(VrError) as caught:
        await kernel.services.models.generate("Who?", **how)
    return caught.value


async def test_no_redirect_is_followed(family: str, openai: FakeOpenAI) -> None:
    with FAMILIES[family]() as service:
        service.fail(Fault.redirect(f"{openai.url}/chat/completions"), times=None)
        async with asking(family, service) as kernel:
            error = await refusal(kernel)
    assert (error.code, error.category) == (Code.UNAVAILABLE, "REDIRECTED")
    assert openai.requests == []


async def test_no_proxy_of_the_shell_sees_what_stays_here(
    family: str, openai: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(variable, openai.url.removesuffix("/v1"))
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
    with FAMILIES[family]() as service:
        service.answer("Yes.")
        async with asking(family, service) as kernel:
            assert (await kernel.services.models.generate("Who?")).text == "Yes."
    assert openai.requests == []


@pytest.mark.parametrize("name", ["openai", "anthropic"])
async def test_headers_of_the_environment_go_to_the_makers_alone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(name)
    monkeypatch.setenv(f"{name.upper()}_CUSTOM_HEADERS", "X-Team: of-the-company")
    monkeypatch.setenv("OPENAI_ORG_ID", "of-the-company")
    kind = FakeAnthropic if name == "anthropic" else FakeOpenAI
    with kind() as service:
        service.answer("Yes.")
        async with asking(name, service) as kernel:
            await kernel.services.models.generate("Who?")
        assert "of-the-company" not in str([dict(each.headers) for each in service.requests])


@pytest.mark.parametrize(
    "address", ["http://me:secret@127.0.0.1:9", "http://127.0.0.1:9/?k=secret"]
)
async def test_an_address_with_a_secret_is_refused_and_not_shown(address: str) -> None:
    settings = {"plugins.models.lmstudio_base_url": address, "plugins.models.lmstudio_model": "m"}
    async with open_kernel({"models": plugin}, settings=settings) as kernel:
        error = await refusal(kernel, model="lmstudio/m")
        assert error.category == "URL_NOT_ALLOWED"
        shown = (await kernel.call("infra_models")).model_dump_json()
    assert "secret" not in f"{error}{error.hint}{shown}"


async def test_a_key_that_can_be_none_is_blamed(openai: FakeOpenAI) -> None:
    own = {"plugins.models.openai_compatible_api_key": "sk-ключ"}
    async with asking("openai_compatible", openai, **own) as kernel:
        provider = kernel.services.providers.get(ModelProvider, "openai_compatible")
        with pytest.raises(VrError) as caught:
            provider.check()
    assert (caught.value.code, "ключ" in str(caught.value)) == (Code.AUTH, False)


async def test_a_tool_gives_no_agreement() -> None:
    """An assistant may choose another model; it does not decide who gets the user's data."""
    found = {"OPENAI_API_KEY": "key-of-another-program"}
    async with open_kernel({"models": plugin}, variables=found) as kernel:
        await kernel.call("infra_configure", model="openai/gpt-6-luna")
        assert (await refusal(kernel)).category == "PROVIDER_NOT_AGREED"


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 2**62, "completion_tokens": 1, "cost": 0},
        {"prompt_tokens": 2**64, "completion_tokens": 1},
        {"prompt_tokens": 9, "completion_tokens": 1, "cost": 1e308},
        {"prompt_tokens": 9, "completion_tokens": 1, "cost": 10**400},
        {"prompt_tokens": 9, "completion_tokens": 1, "cost": True},
    ],
)
async def test_usage_that_cannot_be_harms_no_earlier_row(
    openai: FakeOpenAI, usage: dict[str, Any]
) -> None:
    body = {"model": "own", "choices": [WHOLE], "usage": usage}
    async with asking("openai_compatible", openai, **PRICE) as kernel:
        ask = kernel.services.models.generate
        openai.fail(Fault.reshaped(body), times=2)
        paid = [(await ask("Who?")).usage.cost_usd for _ in range(3)]
        assert all(cost is not None and cost < 0.001 for cost in paid)
        total = (await kernel.call("infra_usage")).total
    assert total.calls >= 2  # the end of the last one may still be written
    assert 0 < total.cost_usd < 0.01


async def test_choices_that_are_none_are_no_answer(openai: FakeOpenAI) -> None:
    openai.fail(Fault.reshaped({"model": "own", "choices": None}))
    async with asking("openai_compatible", openai) as kernel:
        assert (await refusal(kernel)).category == "REPLY_UNREADABLE"


async def test_the_price_of_the_user_holds_for_a_dated_name(openai: FakeOpenAI) -> None:
    model = "openai/computer-use-preview"
    own = {"models.default": [model], "models.prices": {model: {"input": 100}}}
    usage = {"prompt_tokens": 1_000, "completion_tokens": 1}
    dated = {"model": "computer-use-preview-2025-03-11", "choices": [WHOLE], "usage": usage}
    openai.fail(Fault.reshaped(dated))
    async with asking("openai", openai, **own) as kernel:
        reply = await kernel.services.models.generate("Who?")
    assert reply.usage.cost_usd == pytest.approx(0.1)


async def test_a_key_of_the_user_at_the_source_costs_what_it_costs_there(
    openai: FakeOpenAI,
) -> None:
    """OpenRouter charges nothing then, and tells what the maker of the model does."""
    usage = {
        "prompt_tokens": 9, "completion_tokens": 1, "cost": 0, "is_byok": True,
        "cost_details": {"upstream_inference_cost": 0.25},
    }  # fmt: skip
    openai.fail(Fault.reshaped({"model": "own", "choices": [WHOLE], "usage": usage}))
    async with asking("openrouter", openai) as kernel:
        assert (await kernel.services.models.generate("Who?")).usage.cost_usd == 0.25


async def test_with_a_budget_an_answer_has_an_end_that_is_sent(openai: FakeOpenAI) -> None:
    for budget in ({}, {"models.day_budget_usd": 1}):
        async with asking("openai_compatible", openai, **PRICE, **budget) as kernel:
            await kernel.services.models.generate("Who?")
    limits = [
        [each.body[name] for name in each.body if name.startswith("max_")]
        for each in openai.requests_of("chat.completions")
    ]
    assert limits == [[], [16_384]]


async def test_nothing_is_free_because_its_input_is(openai: FakeOpenAI) -> None:
    prices = {"models.prices": {OWN: {"input": 0, "cached": 1000}}, "models.day_budget_usd": 0}
    async with asking("openai_compatible", openai, **prices) as kernel:
        assert (await refusal(kernel)).category == "BUDGET_EXCEEDED"
    assert openai.requests == []
