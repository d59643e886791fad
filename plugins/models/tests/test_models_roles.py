"""The models that are asked: order, fallback, agreement, and models on this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from vr_kernel import Code, VrError
from vr_kernel.diagnosis.language_models import (
    agreed_providers,
    known_models,
    usable_addresses,
)
from vr_kernel.models import model_services
from vr_plugin_models import plugin
from vr_testing import FakeGemini, FakeOllama, FakeOpenAI, Fault, TrialKernel, open_kernel
from waiting import until

HASTY = {"models.attempts": 1}


@pytest.fixture
def first() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as service:
        service.answer("first")
        yield service


@pytest.fixture
def second() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as service:
        service.answer("second")
        yield service


@asynccontextmanager
async def asking(
    services: Mapping[str, Any], variables: Mapping[str, str] | None = None, **settings: object
) -> AsyncIterator[TrialKernel]:
    """A kernel whose providers are at fake services, each with a key in the configuration."""
    given: dict[str, object] = {
        "kernel.http.allowed_hosts": [each.url.split("/")[2] for each in services.values()]
    }
    for name, service in services.items():
        given |= {f"plugins.models.{name}_base_url": service.url}
        if name not in (variables or {}):
            given |= {f"plugins.models.{name}_api_key": f"key-of-{name}"}
    given |= {key.replace("__", "."): value for key, value in settings.items()}
    environ = {f"{name.upper()}_API_KEY": key for name, key in (variables or {}).items()}
    plugins = {"models": plugin}
    async with open_kernel(plugins, settings={**HASTY, **given}, variables=environ) as kernel:
        yield kernel


async def said(kernel: TrialKernel, **how: Any) -> str:
    return (await kernel.services.models.generate("Who?", **how)).text


async def providers(kernel: TrialKernel) -> list[Any]:
    found: list[Any] = (await kernel.call("infra_models")).providers
    return found


async def refusal(kernel: TrialKernel, **how: Any) -> VrError:
    with pytest.raises(VrError) as caught:
        await said(kernel, **how)
    return caught.value


async def test_order_is_as_configured_and_the_first_comes_back(
    first: FakeOpenAI, second: FakeOpenAI
) -> None:
    order = ["openai/a", "groq/b"]
    async with asking({"openai": first, "groq": second}, models__default=order) as kernel:
        assert await said(kernel) == "first"
        first.fail(Fault.status(503), times=1)
        reply = await kernel.services.models.generate("Who?")
        assert (reply.text, reply.model) == ("second", "groq/b")
        assert "openai/a did not answer" in reply.notes[0]
        assert await said(kernel) == "first"
        assert [len(each.requests_of("chat.completions")) for each in (first, second)] == [3, 1]


@pytest.mark.parametrize("order", [[], ["groq", "openai"]])
async def test_a_provider_whose_address_is_refused_is_passed_over(
    first: FakeOpenAI, order: list[str]
) -> None:
    """It is no reason to ask nobody; where nobody else is there, the reason is told."""
    refused = {"plugins__models__groq_base_url": "http://10.0.0.5:8080/v1"}
    refused |= {"plugins__models__groq_api_key": "key-of-groq"}
    async with asking({"openai": first}, models__default=order, **refused) as kernel:
        assert await said(kernel) == "first"
    async with asking({}, models__default=["groq"], **refused) as kernel:
        error = await refusal(kernel)
        assert error.code is Code.NOT_ALLOWED
        allowing = 'add "10.0.0.5:8080" to allowed_hosts in [kernel.http]'
        told = {state.problem for state in await providers(kernel)} - {""}
        told |= {service.problem for service in model_services(kernel)} - {""}
        assert told == {error.told}
        assert allowing in error.told
        found = usable_addresses(kernel.services.models.roles)
        assert (found.level, allowing in found.fix) == ("warning", True)


@pytest.mark.parametrize(
    ("name", "local"), [("openai_compatible", True), ("litellm", False), ("vllm", True)]
)
async def test_a_service_on_this_machine_needs_its_address_alone(
    first: FakeOpenAI, name: str, local: bool
) -> None:
    """A proxy passes requests on, so that they do not stay here."""
    settings = {f"plugins.models.{name}_base_url": first.url, f"plugins.models.{name}_model": "m"}
    async with open_kernel({"models": plugin}, settings={**HASTY, **settings}) as kernel:
        assert await said(kernel) == "first"
        assert [it.local for it in await providers(kernel) if it.name == name] == [local]
    here = {**HASTY, **settings, "models.local_only": True}
    async with open_kernel({"models": plugin}, settings=here) as kernel:
        if local:
            assert await said(kernel) == "first"
        else:
            assert (await refusal(kernel)).category == "LOCAL_ONLY"


@pytest.mark.slow
async def test_a_provider_that_fails_for_long_is_left_alone_until_it_heals(
    first: FakeOpenAI,
) -> None:
    """Meanwhile the next one answers, of another family."""
    with FakeOllama() as other:
        other.answer("second", times=None)
        order = ["openai/a", "ollama/b"]
        services = {"openai": first, "ollama": other}
        async with asking(services, models__default=order) as kernel:
            first.fail(Fault.status(503), times=None)
            assert [await said(kernel) for _ in range(9)] == ["second"] * 9
            assert len(first.requests_of("chat.completions")) == 5
            first.heal()
            first.answer("first", times=None)

            async def is_back() -> bool:
                return await said(kernel) == "first"

            await until(is_back)
            assert [await said(kernel) for _ in range(3)] == ["first"] * 3


async def test_fallback_model_comes_before_the_next_provider(
    first: FakeOpenAI, second: FakeOpenAI
) -> None:
    first.models = {"good"}
    own = {"plugins__models__openai_fallback_model": "good"}
    order = ["openai/gone", "groq/b"]
    async with asking({"openai": first, "groq": second}, models__default=order, **own) as kernel:
        reply = await kernel.services.models.generate("Who?")
        assert (reply.text, reply.model) == ("first", "openai/good")
        assert second.requests == []


async def test_auto_walks_the_hierarchy(first: FakeOpenAI, second: FakeOpenAI) -> None:
    services = {"openai": first, "groq": second}
    async with asking(services) as kernel:
        assert kernel.services.models.names("default")[0].startswith("groq/")
    async with asking(services, models__hierarchy="openai,groq") as kernel:
        names = kernel.services.models.names("default")
        assert [name.partition("/")[0] for name in names] == ["openai", "openai", "groq", "groq"]
    async with asking(services, models__hierarchy="opnai") as kernel:
        error = await refusal(kernel)
        assert (error.code, "Did you mean 'openai'" in error.hint) == (Code.INVALID_INPUT, True)


async def test_a_small_window_is_not_overfilled(first: FakeOpenAI, second: FakeOpenAI) -> None:
    order = ["openai_compatible/small", "groq/openai/gpt-oss-120b"]
    own = {"plugins__models__openai_compatible_context_window": 1_000}
    services = {"openai_compatible": first, "groq": second}
    async with asking(services, models__default=order, **own) as kernel:
        reply = await kernel.services.models.generate("word " * 5_000)
        assert reply.text == "second"
        assert first.requests == []
        error = await refusal(kernel, model="openai_compatible/small", system="word " * 5_000)
        assert (error.code, error.category) == (Code.TOO_LARGE, "CONTEXT_EXCEEDED")


FOUND = {"OPENAI_API_KEY": "key-of-another-program"}


async def test_no_limit_stops_what_costs_nothing(first: FakeOpenAI) -> None:
    """Not even one that is passed already; but a server elsewhere has no price."""
    with FakeOllama() as ollama:
        ollama.answer("here")
        both = {"openai": first, "ollama": ollama}
        settings = {"models__default": "openai/gpt-4o-mini,ollama/qwen3"}
        async with asking(both, **settings) as kernel:
            assert await said(kernel) == "first"
            kernel.services.models.roles.configuration.change(day_budget_usd=0)
            assert await said(kernel) == "here"
    away = {"plugins.models.vllm_base_url": "https://gpu.example.com/v1"}
    async with open_kernel({"models": plugin}, settings=away) as kernel:
        assert kernel.services.models.roles.named("vllm/m").price("m") is None


@pytest.mark.parametrize("name", ["ollama", "vllm", "openai_compatible"])
async def test_what_a_server_here_passes_on_does_not_stay_here(
    first: FakeOpenAI, name: str
) -> None:
    with FakeOllama() as ollama:
        address = ollama.url if name == "ollama" else first.url
        settings = {
            f"plugins.models.{name}_base_url": address,
            f"plugins.models.{name}_model": "kimi:1t-cloud",
            "models.local_only": True,
        }
        async with open_kernel({"models": plugin}, settings={**HASTY, **settings}) as kernel:
            assert (await refusal(kernel)).category == "LOCAL_ONLY"
        assert [*first.requests, *ollama.requests] == []


@pytest.mark.parametrize(
    ("name", "variables"),
    [
        ("ollama", {"OLLAMA_HOST": "http://ai"}),
        ("vllm", {"VLLM_BASE_URL": "http://gpubox/v1"}),
        ("ollama", {"OLLAMA_HOST": "http://gpu.lan"}),
        ("gemini", {"GEMINI_API_KEY": "a-key", "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9"}),
    ],
)
async def test_a_name_of_the_network_or_a_proxy_is_not_this_machine(
    name: str, variables: Mapping[str, str]
) -> None:
    here = {f"plugins.models.{it}_model": "m" for it in ("ollama", "vllm")}
    here |= {"models.local_only": "true"}
    async with open_kernel({"models": plugin}, settings=here, variables=variables) as kernel:
        (state,) = [it for it in await providers(kernel) if it.name == name]
        assert (state.used, state.local) == (False, False)


async def test_a_declined_server_of_this_machine_is_not_asked() -> None:
    with FakeOllama() as ollama:
        settings = {"plugins.models.ollama_base_url": ollama.url, "models.declined": ["ollama"]}
        settings |= {"plugins.models.ollama_model": "qwen3"}
        async with open_kernel({"models": plugin}, settings=settings) as kernel:
            await refusal(kernel)
        assert ollama.requests == []


@pytest.mark.parametrize("entry", ["nonsense", "grok", "grok/x"])
async def test_an_entry_that_names_nothing_is_told(first: FakeOpenAI, entry: str) -> None:
    async with asking({"openai": first}, models__default=[entry, "openai"]) as kernel:
        outcome = await kernel.run("infra_models", {})
        assert any(repr(entry) in note for note in outcome.notes)
        found = known_models(kernel.services.models.roles)
        assert (found.level, entry in found.what) == ("fault", True)
        assert (await refusal(kernel)).code is Code.INVALID_INPUT


async def test_a_variable_of_this_program_agrees() -> None:
    own = {"VR_PLUGINS__MODELS__GROQ_API_KEY": "key-for-this-program"}
    async with open_kernel({"models": plugin}, variables=own) as kernel:
        assert [it.name for it in await providers(kernel) if it.used and it.ready] == ["groq"]


async def test_a_key_that_lies_in_the_environment_is_not_used() -> None:
    async with open_kernel({"models": plugin}, variables=FOUND) as kernel:
        for how in ({}, {"model": "openai/gpt-6-luna"}):
            error = await refusal(kernel, **how)
            assert error.category in ("API_PERMISSION_DENIED", "PROVIDER_NOT_AGREED")
            assert "key-of-another-program" not in f"{error}{error.hint}"
        assert error.category == "PROVIDER_NOT_AGREED"
        assert "OPENAI_API_KEY" in error.hint
        report = await kernel.call("infra_models")
        state = next(it for it in report.providers if it.name == "openai")
        assert (state.ready, state.used) == (True, False)
        found = agreed_providers(kernel.services.models.roles)
        assert (found.level, "OPENAI_API_KEY" in found.what) == ("warning", True)


@pytest.mark.parametrize(
    "settings",
    [
        {"models.agreed": ["openai"]},
        {"models.default": ["openai/x"]},
        {"models.vision": ["openai"]},
        {"models.hierarchy": ["openai"]},
        {"models.provider": "openai"},
        {"plugins.models.openai_api_key": "key-in-the-configuration"},
    ],
)
async def test_who_is_named_or_configured_is_agreed_to(settings: Mapping[str, object]) -> None:
    async with open_kernel({"models": plugin}, settings=settings, variables=FOUND) as kernel:
        assert kernel.services.models.names("vision")[0].startswith("openai/")


async def test_local_only_keeps_all_here(first: FakeOpenAI) -> None:
    with FakeGemini() as gemini, FakeOllama() as ollama:
        ollama.answer("here")
        settings = {
            "models.local_only": True,
            "models.default": ["gemini/gemini-3.8-flash", "ollama/qwen"],
            "plugins.models.ollama_base_url": ollama.url,
        }
        variables = {"GEMINI_API_KEY": "any"}
        async with open_kernel(
            {"models": plugin}, settings={**HASTY, **settings}, variables=variables
        ) as kernel:
            reply = await kernel.services.models.generate("Who?")
            assert (reply.text, reply.usage.cost_usd) == ("here", 0.0)
            for elsewhere in ("gemini/gemini-3.8-flash", "ollama/gpt-oss:120b-cloud"):
                error = await refusal(kernel, model=elsewhere)
                assert (error.category, elsewhere in error.message) == ("LOCAL_ONLY", True)
        assert gemini.requests == []
        assert len(ollama.requests_of("chat")) == 1
    assert first.requests == []


async def test_a_model_that_ollama_passes_on_has_no_known_price() -> None:
    with FakeOllama() as ollama:
        ollama.answer("there")
        settings = {"plugins.models.ollama_base_url": ollama.url}
        async with open_kernel({"models": plugin}, settings=settings) as kernel:
            reply = await kernel.services.models.generate("Who?", model="ollama/kimi-k2:cloud")
            assert (reply.text, reply.usage.cost_usd) == ("there", None)


async def test_an_address_that_lies_in_the_environment_is_not_asked() -> None:
    """The user's own key would go to it."""
    own = {"plugins.models.openai_api_key": "key-of-the-user"}
    found = {"OPENAI_BASE_URL": "https://proxy.example.com"}
    model = "openai/gpt-6-luna"
    async with open_kernel({"models": plugin}, settings=own, variables=found) as kernel:
        error = await refusal(kernel, model=model)
        assert (error.category, "OPENAI_BASE_URL" in error.hint) == ("PROVIDER_NOT_AGREED", True)
    agreed = {**own, "models.agreed": ["openai"]}
    async with open_kernel({"models": plugin}, settings=agreed, variables=found) as kernel:
        assert kernel.services.models.names("default")[0].startswith("openai/")


@pytest.mark.parametrize(
    ("address", "used"),
    [
        ("https://ollama.example.com", False),
        ("https://203.0.113.7:11434", False),
        ("127.0.0.1:11434", True),
        ("http://gpu.lan:11434", True),
        ("http://192.168.1.20:11434", True),
    ],
)
async def test_a_server_elsewhere_is_not_local_because_ollama_runs_there(
    address: str, used: bool
) -> None:
    host = address.rsplit("://", maxsplit=1)[-1]
    own = {
        "kernel.http.allowed_hosts": [host, host.partition(":")[0]],
        "plugins.models.ollama_model": "qwen3",
    }
    found = {"OLLAMA_HOST": address}
    async with open_kernel({"models": plugin}, settings=own, variables=found) as kernel:
        report = await kernel.call("infra_models")
        state = next(it for it in report.providers if it.name == "ollama")
        assert (state.used, state.local) == (used, used)


async def test_providers_keys_and_prices_are_told_but_no_key(first: FakeOpenAI) -> None:
    first.models = {"gpt-4o-mini"}
    async with asking({"openai": first}, models__default="openai/gpt-4o-mini") as kernel:
        report = await kernel.call("infra_models", probe=True)
        assert report.roles["default"] == ["openai/gpt-4o-mini"]
        prices = {it.model: (it.input_usd, it.output_usd) for it in report.models}
        assert prices["openai/gpt-4o-mini"] == (0.15, 0.6)
        asked = {it.name: it.probe for it in report.providers if it.probe}
        said_of = "answers; offers 1 model, but not text-embedding-3-small."
        assert asked == {"openai": said_of}
        assert "key-of-openai" not in report.model_dump_json()
        assert report.presets["openai-mini"] == "openai/gpt-4o-mini"
        assert await said(kernel, model="openai-mini") == "first"
