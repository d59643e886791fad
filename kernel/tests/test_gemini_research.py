"""Deep Research: begun once, found again, waited for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gemini_service import gemini_at, in_tokens
from vr_kernel import Code, VrError
from vr_testing import Answer, FakeGemini, Fault

KEYS = ["a", "b"]


@pytest.fixture
def fake() -> Iterator[FakeGemini]:
    with FakeGemini() as service:
        service.answer(Answer("Found.", thought="Hm.", sources=(("A", "https://a.org"),)))
        yield service


async def test_research_is_begun_polled_and_read(fake: FakeGemini, tmp_path: Path) -> None:
    fake.background_polls = 1
    told: list[str] = []
    async with gemini_at(fake.url, tmp_path) as gemini:
        reply = await gemini.deep_research("Why?", report=lambda _d, _t, words: told.append(words))
    assert (reply.text, [source.url for source in reply.sources]) == ("Found.", ["https://a.org"])
    assert reply.usage == in_tokens(fake.bill)
    assert len(told) == 1
    (begun,) = fake.requests_of("interactions.create")
    assert begun.body["background"] is True
    assert begun.body["agent"] == reply.model
    assert begun.body["input"] == "Why?"


async def test_research_that_was_begun_before_is_only_asked_for(
    fake: FakeGemini, tmp_path: Path
) -> None:
    fake.background_polls = 0
    async with gemini_at(fake.url, tmp_path, gemini_api_keys=KEYS) as gemini:
        started = await gemini.start_research("Why?")
    async with gemini_at(fake.url, tmp_path, gemini_api_keys=KEYS[::-1]) as gemini:
        reply = await gemini.research_result(started)
    assert reply.text == "Found."
    assert len(fake.requests_of("interactions.create")) == 1
    assert {request.api_key for request in fake.requests} == {"a"}, "it belongs to its key"
    assert not started.startswith("a/")


async def test_research_goes_on_while_it_cannot_be_asked_for(
    fake: FakeGemini, tmp_path: Path
) -> None:
    fake.background_polls = 0
    fake.fail(Fault.status(503), when=lambda request: request.action == "interactions.get")
    async with gemini_at(fake.url, tmp_path) as gemini:
        assert (await gemini.deep_research("Why?")).text == "Found."


async def test_research_without_a_result_says_what_it_cost(
    fake: FakeGemini, tmp_path: Path
) -> None:
    fake.heal()
    fake.background_polls = 0
    fake.answer(Answer("", thought="Hm."))
    async with gemini_at(fake.url, tmp_path) as gemini:
        with pytest.raises(VrError) as caught:
            await gemini.deep_research("Why?")
    assert (caught.value.category, caught.value.usage) == ("RESEARCH_FAILED", in_tokens(fake.bill))


async def test_unknown_research_is_not_found(fake: FakeGemini, tmp_path: Path) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini:
        with pytest.raises(VrError) as caught:
            await gemini.research_result("int-unknown")
    assert caught.value.code is Code.NOT_FOUND


async def test_refused_research_is_not_begun_again(fake: FakeGemini, tmp_path: Path) -> None:
    fake.fail(Fault.status(503))
    async with gemini_at(fake.url, tmp_path) as gemini:
        with pytest.raises(VrError) as caught:
            await gemini.start_research("Why?")
    assert caught.value.retryable
    assert len(fake.requests) == 1
