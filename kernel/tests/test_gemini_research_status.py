"""Deep Research in pieces: looked at, cancelled, asked about; in the ledger once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from gemini_service import MODEL, gemini_at, in_tokens
from pydantic import BaseModel
from vr_kernel import CALLS_OUT, PAID, Call, Code, VrError, hookimpl, tool
from vr_kernel.gemini.research_status import status_of
from vr_testing import Answer, FakeGemini, Fault, open_kernel

STEP = "model_output"
FOUND = Answer("Found.", thought="Hm.", sources=(("A", "https://a.org"),))


@pytest.fixture
def fake() -> Iterator[FakeGemini]:
    with FakeGemini() as service:
        service.background_polls = 0
        service.answer(FOUND)
        yield service


def said(*texts: str, kind: str = STEP) -> dict[str, Any]:
    return {"type": kind, "content": [{"type": "text", "text": text} for text in texts]}


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ({"steps": [said("Intermediate analysis"), said("Final report")]}, "Final report"),
        (
            {"steps": [said("Intermediate"), {"type": "thought"}, said("Final ", "report")]},
            "Final report",
        ),
        ({"steps": [said("Final report"), {"type": "google_search_call"}]}, "Final report"),
        ({"steps": [said("Final report"), {"type": STEP}, 4, said("")]}, "Final report"),
        (
            {"outputs": said("Intermediate analysis", "Final report")["content"]},
            "Final report",
        ),
        (
            {
                "outputs": [
                    *said("Draft", "Final ")["content"],
                    {"type": "image"},
                    *said("report")["content"],
                ]
            },
            "Final report",
        ),
        ({"outputs": [*said("A\x1b[31mB\u200b")["content"], {"type": "thought"}]}, "AB"),
    ],
)
def test_only_the_last_answer_is_the_result(found: dict[str, Any], text: str) -> None:
    assert status_of({"status": "completed", **found}).text == text


@pytest.mark.parametrize(
    ("word", "state", "answers"),
    [
        ("queued", "in_progress", False),
        ("in_progress", "in_progress", False),
        ("completed", "completed", True),
        ("incomplete", "incomplete", True),
        ("budget_exceeded", "incomplete", True),
        ("cancelled", "cancelled", False),
        ("failed", "failed", False),
        ("requires_action", "failed", False),
        ("a new word", "failed", False),
    ],
)
def test_every_word_of_the_service_is_a_state(word: str, state: str, answers: bool) -> None:
    status = status_of({"status": word, "steps": [said("Half.")]})
    assert (status.state, status.answers) == (state, answers)
    assert status.has_ended == (state != "in_progress")
    assert bool(status.problem) == (state in ("failed", "incomplete"))


def test_a_problem_repeats_no_key() -> None:
    told = {"status": "failed", "errors": [{"message": "key a-key\x1b[1m\nis bad"}, {}]}
    assert status_of(told, "a-key").problem == "key [key] is bad"
    assert status_of({"status": "failed", "error": {"message": "Bad."}}).problem == "Bad."
    assert status_of({"status": "failed", "error": "Bad."}).problem == "Bad."


async def test_a_research_is_looked_at_without_waiting(fake: FakeGemini, tmp_path: Path) -> None:
    fake.background_polls = 1
    async with gemini_at(fake.url, tmp_path) as gemini:
        started = await gemini.start_research("Why?")
        assert (await gemini.research_status(started)).state == "in_progress"
        status = await gemini.research_status(started)
    assert (status.state, status.text, status.sources[0].url) == (
        "completed",
        "Found.",
        "https://a.org",
    )
    assert status.usage == in_tokens(fake.bill)


async def test_a_research_is_cancelled_by_its_key(fake: FakeGemini, tmp_path: Path) -> None:
    fake.own_files_only = True
    fake.background_polls = 9
    async with gemini_at(fake.url, tmp_path, gemini_api_keys=["a", "b"]) as gemini:
        started = [await gemini.start_research("Why?") for _ in range(2)]
        stopped = [await gemini.cancel_research(each) for each in started]
        again = await gemini.cancel_research(started[0])
    assert [each.state for each in [*stopped, again]] == ["cancelled"] * 3
    assert [it.api_key for it in fake.requests_of("interactions.cancel")] == ["a", "b", "a"]
    assert fake.bill.calls == 0


async def test_a_research_that_has_ended_is_not_cancelled(fake: FakeGemini, tmp_path: Path) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini:
        started = await gemini.start_research("Why?")
        await gemini.research_status(started)
        status = await gemini.cancel_research(started)
        assert (status.state, status.text) == ("completed", "Found.")
        fake.fail(Fault.status(503))
        with pytest.raises(VrError) as caught:
            await gemini.cancel_research(started)
    assert caught.value.retryable


async def test_a_question_about_a_research_goes_to_the_model(
    fake: FakeGemini, tmp_path: Path
) -> None:
    fake.own_files_only = True
    keys = ["a", "b"]
    async with gemini_at(fake.url, tmp_path, gemini_api_keys=keys, gemini_model=MODEL) as gemini:
        await gemini.start_research("Another one")
        started = await gemini.start_research("Why?")
        await gemini.research_status(started)
        about = await gemini.start_research("And then?", previous=started)
        assert (await gemini.research_result(about)).model == MODEL
        by_agent = await gemini.start_research("More?", agent="an-agent", previous=about)
    _, first, second, third = fake.requests_of("interactions.create")
    assert {it.api_key for it in (first, second, third)} == {"b"}
    assert second.body["previous_interaction_id"] == started.rpartition("/")[2]
    assert (second.body["model"], "agent" in second.body) == (MODEL, False)
    assert third.body["agent"] == "an-agent"
    assert by_agent.partition("/")[0] == started.partition("/")[0]


async def test_a_forgotten_research_is_said_to_be(fake: FakeGemini, tmp_path: Path) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini:
        started = await gemini.start_research("Why?")
        fake.forget_interactions()
        for asking in (
            gemini.research_status(started),
            gemini.cancel_research(started),
            gemini.start_research("And?", previous=started),
            gemini.research_result(started),
        ):
            with pytest.raises(VrError) as caught:
                await asking
            assert (caught.value.code, caught.value.category) == (
                Code.NOT_FOUND,
                "RESEARCH_FORGOTTEN",
            )


class Told(BaseModel):
    """The state of a research, and what it cost."""

    state: str
    cost_usd: float | None = None


def plugin() -> Any:
    """Tools that do one thing each with a research."""
    started: list[str] = []

    @tool(effects=CALLS_OUT | PAID)
    async def probe_start(call: Call) -> Told:
        """Start one."""
        started.append(await call.services.gemini.start_research("Why?"))
        return Told(state="started")

    @tool(effects=CALLS_OUT)
    async def probe_look(call: Call) -> Told:
        """Look at it."""
        status = await call.services.gemini.research_status(started[-1])
        return Told(state=status.state, cost_usd=status.usage.cost_usd)

    @tool(effects=CALLS_OUT)
    async def probe_wait(call: Call) -> Told:
        """Wait for it."""
        reply = await call.services.gemini.research_result(started[-1])
        return Told(state="waited", cost_usd=reply.usage.cost_usd)

    @tool(effects=CALLS_OUT)
    async def probe_stop(call: Call) -> Told:
        """Cancel it."""
        status = await call.services.gemini.cancel_research(started[-1])
        return Told(state=status.state, cost_usd=status.usage.cost_usd)

    @hookimpl
    def vr_tools() -> list[Any]:
        return [probe_start, probe_look, probe_wait, probe_stop]

    return SimpleNamespace(vr_tools=vr_tools)


@pytest.fixture
async def kernel(fake: FakeGemini, tmp_path: Path) -> AsyncIterator[Any]:
    variables = {"GEMINI_API_KEY": "a-key", "GOOGLE_GEMINI_BASE_URL": fake.url}
    async with open_kernel({"probe": plugin()}, variables=variables, folder=tmp_path) as opened:
        yield opened


async def total(kernel: Any) -> Any:
    return (await kernel.call("infra_usage", by="model")).total


async def test_a_research_is_counted_once_however_often_it_is_asked_for(
    kernel: Any, fake: FakeGemini
) -> None:
    await kernel.call("probe_start")
    assert (await total(kernel)).calls == 0
    asked = await asyncio.gather(*(kernel.call("probe_look") for _ in range(5)))
    waited, stopped = await kernel.call("probe_wait"), await kernel.call("probe_stop")
    costs = {each.cost_usd for each in [*asked, waited, stopped]}
    assert costs == {fake.bill.cost_usd}
    counted = await total(kernel)
    assert (counted.calls, counted.cost_usd, counted.maybe_paid) == (1, fake.bill.cost_usd, 0)
    (row,) = [it for it in (await kernel.call("infra_usage", by="model")).rows if it.calls]
    assert row.key == "gemini/deep-research-preview-04-2026"


async def test_a_research_under_way_leaves_nothing_in_the_ledger(
    kernel: Any, fake: FakeGemini
) -> None:
    fake.background_polls = 3
    await kernel.call("probe_start")
    attempts = (await total(kernel)).attempts
    assert (await kernel.call("probe_look")).state == "in_progress"
    assert (await total(kernel)).attempts == attempts


async def test_a_failed_research_is_counted_once(kernel: Any, fake: FakeGemini) -> None:
    fake.background_ends = "failed"
    await kernel.call("probe_start")
    told = [await kernel.call("probe_look") for _ in range(2)]
    error = (await kernel.run("probe_wait", {})).error
    assert [(it.state, it.cost_usd) for it in told] == [("failed", fake.bill.cost_usd)] * 2
    assert error.category == "RESEARCH_FAILED"
    assert error.usage.cost_usd == fake.bill.cost_usd
    counted = await total(kernel)
    assert (counted.calls, counted.cost_usd) == (1, fake.bill.cost_usd)


async def test_a_cancelled_research_may_have_cost_something(kernel: Any, fake: FakeGemini) -> None:
    fake.background_polls = 9
    await kernel.call("probe_start")
    assert (await kernel.call("probe_stop")).state == "cancelled"
    assert (await kernel.call("probe_look")).state == "cancelled"
    counted = await total(kernel)
    assert (counted.calls, counted.maybe_paid) == (0, 1)


async def test_no_budget_stops_the_account_of_what_was_paid(
    fake: FakeGemini, tmp_path: Path
) -> None:
    variables = {"GEMINI_API_KEY": "a-key", "GOOGLE_GEMINI_BASE_URL": fake.url}
    probe = plugin()
    async with open_kernel({"probe": probe}, variables=variables, folder=tmp_path) as kernel:
        await kernel.call("probe_start")
    for cents in (0, 1):
        settings = {"models.day_budget_usd": cents / 100}
        given: Any = {"variables": variables, "folder": tmp_path, "settings": settings}
        async with open_kernel({"probe": probe}, **given) as kernel:
            assert (await kernel.call("probe_look")).cost_usd == fake.bill.cost_usd
            assert (await total(kernel)).calls == 1
