"""Budgets: nothing is sent that could cost more than the user allows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from random import Random
from typing import Any

import pytest
from paid_work import paid_kernel
from vr_kernel import Code, Kernel
from vr_testing import FakeGemini, Fault

LONG = "The cat sat on the mat. " * 400
"""About 2,400 tokens."""
ASK = "paid_ask"
AT_ONCE = 8


def dollars(gemini: FakeGemini) -> float:
    """The bill of the service, delivered or not."""
    return gemini.bill.cost_usd or 0.0


async def ask(kernel: Kernel, question: str, **options: Any) -> Any:
    """Ask the model, as a call of the owner."""
    return await kernel.run(ASK, {"question": question}, **options)


def open_with(environ: dict[str, str], gemini: FakeGemini, **settings: Any) -> Any:
    """A kernel with settings of `[models]`."""
    own = {f"VR_MODELS__{name.upper()}": str(value) for name, value in settings.items()}
    return paid_kernel({**environ, **own}, gemini)


@pytest.mark.parametrize("budget", ["call_budget_usd", "day_budget_usd", "principal_budget_usd"])
async def test_what_could_pass_a_budget_is_not_sent(
    environ: dict[str, str], gemini: FakeGemini, budget: str
) -> None:
    """The error says what is left, which setting it is, and costs nothing."""
    async with open_with(environ, gemini, **{budget: 0.00001}) as kernel:
        error = (await ask(kernel, "Why?")).error
        assert (error.code, error.category) == (Code.BUDGET, "BUDGET_EXCEEDED")
        assert budget in error.hint
        assert "$0.00001 is left" in error.message
        assert (error.usage, gemini.requests) == (None, [])


async def test_a_budget_of_nothing_lets_nothing_through(
    environ: dict[str, str], gemini: FakeGemini
) -> None:
    async with open_with(environ, gemini, day_budget_usd=0) as kernel:
        error = (await ask(kernel, "Why?")).error
        assert error.category == "BUDGET_EXCEEDED"
        assert gemini.requests == []


async def test_the_end_of_a_budget_shortens_an_answer_before_it_stops(
    environ: dict[str, str], gemini: FakeGemini
) -> None:
    """The answer is limited to what is left, and when it is cut the error says why."""
    gemini.answer(LONG, times=None)
    async with open_with(environ, gemini, day_budget_usd=0.095) as kernel:
        outcomes = [await ask(kernel, f"Question {number}?") for number in range(9)]
        limits = [request.config.get("maxOutputTokens") for request in gemini.requests]
        assert any(outcome.error is None for outcome in outcomes)
        assert outcomes[-1].error.category == "BUDGET_EXCEEDED"
        assert all(limit >= 1024 for limit in limits)
        assert limits == sorted(limits, reverse=True)
        assert dollars(gemini) <= 0.095
        cut = next(it.error for it in outcomes if it.error is not None)
        assert cut.category == "REPLY_CUT_OFF"
        assert f"{limits[-1]:,} tokens" in cut.hint


async def test_cheaper_work_is_asked_for_near_the_end_and_not_cached(
    environ: dict[str, str], gemini: FakeGemini
) -> None:
    gemini.answer(LONG, times=None)
    async with open_with(environ, gemini, day_budget_usd=3, budget_ease_at=0.005) as kernel:
        first, second = [await kernel.run("paid_once", {"question": it}) for it in ("One?", "Two?")]
        assert [r.thinking_level for r in gemini.requests] == ["HIGH", "LOW"]
        assert not any("budget" in note for note in first.notes)
        assert any("[models] day_budget_usd" in note for note in second.notes)
        for question, cached in (("One?", True), ("Two?", False)):
            again = await kernel.run("paid_once", {"question": question})
            assert again.data["cached"] is cached


async def test_a_local_or_cheaper_model_goes_on(
    environ: dict[str, str], gemini: FakeGemini
) -> None:
    """The next model of the role answers when the first one costs too much."""
    models = "gemini/gemini-3.1-pro-preview,gemini/gemini-3.5-flash-lite"
    gemini.answer("Because.", times=None)
    async with open_with(environ, gemini, default=models, call_budget_usd=0.01) as kernel:
        outcome = await ask(kernel, "Why?")
        assert outcome.error is None
        assert [request.model for request in gemini.requests] == ["gemini-3.5-flash-lite"]


async def test_an_unknown_price_is_no_price(environ: dict[str, str], gemini: FakeGemini) -> None:
    """With a budget it is asked for; with a price of one's own the model answers."""
    settings: dict[str, Any] = {"default": "gemini/gemini-9", "day_budget_usd": 1}
    async with open_with(environ, gemini, **settings) as kernel:
        error = (await ask(kernel, "Why?")).error
        assert (error.code, error.category) == (Code.BUDGET, "PRICE_UNKNOWN")
        assert '"gemini/gemini-9"' in error.hint
        assert gemini.requests == []
    priced = {"VR_MODELS__PRICES": '{"gemini/gemini-9": {"input": 1, "output": 2}}'}
    async with open_with({**environ, **priced}, gemini, **settings) as kernel:
        assert (await ask(kernel, "Why?")).error is None


async def test_each_principal_has_a_budget(environ: dict[str, str], gemini: FakeGemini) -> None:
    gemini.answer(LONG, times=None)
    async with open_with(environ, gemini, principal_budget_usd=0.03) as kernel:
        while (await ask(kernel, f"Q{len(gemini.requests)}", principal="ann")).error is None:
            pass
        assert (await ask(kernel, "Why?", principal="bob")).error is None


async def test_a_hidden_answer_counts_with_the_most_it_can_have_cost(
    environ: dict[str, str], gemini: FakeGemini
) -> None:
    gemini.fail(Fault.lost(), times=None)
    async with open_with(environ, gemini, day_budget_usd=0.2, attempts=1) as kernel:
        while (outcome := await ask(kernel, "Why?")).error.code is not Code.BUDGET:
            pass
        assert outcome.error.category == "BUDGET_EXCEEDED"
        assert dollars(gemini) <= 0.2


async def spend(
    opened: Callable[[], AbstractAsyncContextManager[Kernel]], chance: Random
) -> list[Any]:
    """Call a tool with questions of random sizes, eight at once; returns the outcomes."""
    async with opened() as kernel:
        slots = asyncio.Semaphore(AT_ONCE)

        async def call(number: int) -> Any:
            async with slots:
                words = "word " * chance.randint(1, 300)
                return await ask(kernel, f"{number} {words}?")

        return await asyncio.gather(*(call(number) for number in range(chance.randint(4, 16))))


@pytest.mark.parametrize(
    "runs",
    [30, pytest.param(1_000, marks=[pytest.mark.slow, pytest.mark.timeout(1_200)])],
    ids=["some", "many"],
)
async def test_a_budget_is_never_passed(
    environ: dict[str, str], gemini: FakeGemini, tmp_path: Any, runs: int
) -> None:
    """With calls at once, retries, failures that hide an answer, and answers of any length."""
    chance = Random(runs)
    gemini.answer(lambda request: "word " * (len(request.text) * 7 % 4_000), times=None)
    gemini.fail(Fault.status(503), rate=0.1)
    gemini.fail(Fault.lost(), rate=0.05)
    stopped = 0
    for run in range(runs):
        name = chance.choice(["call_budget_usd", "day_budget_usd", "principal_budget_usd"])
        usd = round(chance.uniform(0.005, 0.4), 4)
        own = {**environ, "VR_STATE_DIR": str(tmp_path / f"state-{run}")}
        own["VR_CACHE_DIR"] = str(tmp_path / f"cache-{run}")
        before = dollars(gemini)
        outcomes = await spend(
            lambda own=own, name=name, usd=usd: open_with(  # type: ignore[misc]
                own, gemini, retry_base_delay_s=0.001, **{name: usd}
            ),
            chance,
        )
        errors = [outcome.error for outcome in outcomes if outcome.error is not None]
        stopped += any(error.code is Code.BUDGET for error in errors)
        spent = [outcome.usage.cost_usd for outcome in outcomes if outcome.usage is not None]
        if name == "call_budget_usd":
            assert max(spent, default=0.0) <= usd + 1e-9
        else:
            assert dollars(gemini) - before <= usd + 1e-9
    assert stopped > runs / 10
