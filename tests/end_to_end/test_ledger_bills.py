"""The ledger of usage against the bill of the service, to the token and the cent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import paid_plugin
import pytest
from vr_kernel import Price, Usage
from vr_plugin_models import plugin as models
from vr_testing import (
    FakeAnthropic,
    FakeGemini,
    FakeOllama,
    FakeOpenAI,
    Fault,
    TrialKernel,
    open_kernel,
)
from waiting import until

FAMILIES: Mapping[str, tuple[type[Any], str]] = {
    "gemini": (FakeGemini, "gemini-3.8-flash"),
    "openai_compatible": (FakeOpenAI, "own-model"),
    "anthropic": (FakeAnthropic, "claude-own"),
    "ollama": (FakeOllama, "qwen3"),
}
PRICE = {"input": 0.7, "output": 3.1, "cached": 0.07}
AT_ONCE = 8
TOKENS = ("input_tokens", "output_tokens", "thinking_tokens", "cached_tokens")
CENT = 0.01
GIVEN_UP = "Give up"


def is_given_up(request: Any) -> bool:
    return GIVEN_UP in request.text


def is_asked(service: Any, words: str) -> bool:
    return any(words in request.text for request in service.requests)


@asynccontextmanager
async def asking(family: str, service: Any) -> AsyncIterator[TrialKernel]:
    """A kernel that asks one family, which has an own price."""
    name = f"{family}/{FAMILIES[family][1]}"
    own = f"plugins.models.{family}"
    address = {f"{own}_base_url": service.url, f"{own}_api_key": "a-key"}
    given: dict[str, object] = {
        "kernel.http.allowed_hosts": [service.url.split("/")[2]],
        "models.default": [name],
        "models.prices": {name: PRICE},
        "models.retry_base_delay_s": 0.001,
        "models.concurrency": AT_ONCE,
    }
    variables = {}
    if family == "gemini":
        address = {}
        variables = {"GEMINI_API_KEY": "a-key", "GOOGLE_GEMINI_BASE_URL": service.url}
    plugins = {"models": models, "paid": paid_plugin}
    async with open_kernel(plugins, settings={**given, **address}, variables=variables) as kernel:
        yield kernel


async def call(kernel: TrialKernel, service: Any, number: int, chance: Random) -> None:
    """One call of one of several kinds: whole, in a shape, streamed, found again, or given up."""
    question = f"{number} {'word ' * chance.randint(0, 60)}?"
    tool = chance.choice(["paid_ask", "paid_shape", "paid_stream", "paid_once", "given up"])
    if tool == "paid_once":
        await kernel.run(tool, {"question": f"{number % 20}?"})
    elif tool != "given up":
        await kernel.run(tool, {"question": question})
    else:
        words = f"{GIVEN_UP} {number}?"
        running = asyncio.create_task(kernel.run("paid_ask", {"question": words}))
        await until(lambda: running.done() or is_asked(service, words))
        running.cancel()
        await asyncio.wait({running})


@pytest.mark.parametrize(
    "calls",
    [75, pytest.param(2_500, marks=[pytest.mark.slow, pytest.mark.timeout(900)])],
    ids=["some", "many"],
)
@pytest.mark.parametrize("family", FAMILIES)
async def test_the_ledger_is_the_bill(family: str, calls: int) -> None:
    """With retries, calls that are given up, streams, corrections, and results found again."""
    if family == "anthropic":
        pytest.importorskip("anthropic")
    chance = Random(calls)
    with FAMILIES[family][0]() as service:
        service.fail(Fault.hang(), when=is_given_up, times=None)
        for fault in (Fault.status(503), Fault.throttled(0.001), Fault.invalid_json()):
            service.fail(fault, rate=0.05)
        async with asking(family, service) as kernel:
            slots = asyncio.Semaphore(AT_ONCE)

            async def one(number: int) -> None:
                async with slots:
                    await call(kernel, service, number, chance)

            await asyncio.gather(*(one(number) for number in range(calls)))
            report = (await kernel.call("infra_usage", by="provider")).rows
        (row,) = report
        bill: Usage = service.bill
        assert [getattr(row, name) for name in TOKENS] == [getattr(bill, name) for name in TOKENS]
        assert row.calls == bill.calls
        assert row.cost_usd == pytest.approx(Price(**PRICE).cost(bill), abs=CENT / 10)
        assert row.attempts > row.calls > calls / 2
