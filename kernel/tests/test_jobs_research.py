"""Deep Research as a job: begun once, paid once, whatever happens to the process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from paid_work import paid_kernel
from vr_testing import FakeGemini, Fault

QUESTION = {"question": "Why?"}


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as fake:
        fake.answer("Because.")
        yield fake


async def test_a_research_is_paid_work(environ: dict[str, str], gemini: FakeGemini) -> None:
    async with paid_kernel(environ, gemini) as kernel:
        found = await kernel.call("paid_research", **QUESTION)
        report = await kernel.call("infra_usage", by="tool")
    assert found.text == "Because."
    assert found.usage == gemini.bill
    (row,) = report.rows
    assert (row.key, row.calls, row.output_tokens) == (
        "paid_research",
        1,
        gemini.bill.output_tokens,
    )


async def test_a_research_that_may_have_begun_may_be_paid(
    environ: dict[str, str], gemini: FakeGemini
) -> None:
    gemini.fail(Fault.lost())
    async with paid_kernel(environ, gemini) as kernel:
        outcome = await kernel.run("paid_research", QUESTION)
        total = (await kernel.call("infra_usage", by="tool")).total
    assert outcome.error is not None
    assert (outcome.error.category, outcome.usage) == ("NETWORK_ERROR", None)
    assert (total.calls, total.attempts, total.maybe_paid) == (0, 1, 1)


async def test_a_refused_research_is_free(environ: dict[str, str], gemini: FakeGemini) -> None:
    gemini.fail(Fault.status(503))
    async with paid_kernel(environ, gemini) as kernel:
        await kernel.run("paid_research", QUESTION)
        total = (await kernel.call("infra_usage", by="tool")).total
    assert (total.calls, total.attempts, total.maybe_paid) == (0, 1, 0)


async def test_an_interrupted_research_is_waited_for(
    environ: dict[str, str], gemini: FakeGemini
) -> None:
    gemini.background_polls = 1
    async with paid_kernel(environ, gemini) as kernel:
        running = kernel.start("paid_research", QUESTION)
        await asyncio.to_thread(gemini.wait, lambda: gemini.requests_of("interactions.get"))
        await kernel.detach(running)
    async with paid_kernel(environ, gemini) as kernel:
        job = await kernel.call("job_result", job_id=running.id)
    assert job.state == "done"
    assert job.result is not None
    assert job.result["text"] == "Because."
    assert len(gemini.requests_of("interactions.create")) == 1
