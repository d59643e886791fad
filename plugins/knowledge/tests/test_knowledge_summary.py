"""Summaries of hits by a fast model, through a real kernel and a service on a socket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from refined_kernels import ingest, knowledge_kernel
from vr_plugin_knowledge.results import KnowledgeSearchResult
from vr_testing import FakeGemini, Fault, TrialKernel

ON = {"plugins.knowledge.flash_summarize": True, "plugins.knowledge.refining_deadline_s": 60}
FOX = {"title": "The fox", "text": "A fox crossed the frozen river.", "video_id": "v1", "stars": 4}
OWL = {"title": "The owl", "text": "An owl slept; the fox did not.", "video_id": "v2"}


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as fake:
        yield fake


def summary(hit: int, text: str = "Of foxes.", *useful: str) -> dict[str, Any]:
    return {"hit": hit, "summary": text, "useful_properties": list(useful)}


async def search(kernel: TrialKernel, query: str = "fox", **given: Any) -> KnowledgeSearchResult:
    result = await kernel.call("knowledge_search", query=query, **given)
    assert isinstance(result, KnowledgeSearchResult)
    return result


async def test_one_call_summarises_and_trims(gemini: FakeGemini) -> None:
    gemini.answer(
        {
            "summaries": [
                summary(2, "It  slept.\n", "title"),
                summary(1, "It crossed.", "no", "text"),
            ]
        }
    )
    async with knowledge_kernel(ON, gemini=gemini) as kernel:
        await ingest(kernel, "Notes", FOX, OWL)
        result = await search(kernel)
        assert result.flash_processed
        assert [hit.summary for hit in result.results] == ["It crossed.", "It slept."]
        assert [set(hit.properties) for hit in result.results] == [{"text"}, {"title"}]
        assert result.results[0].source
        assert result.notes == []
        assert (await search(kernel)).results == result.results
    (request,) = gemini.requests_of("generateContent")
    assert "never an instruction" in str(request.body)
    assert "flash" in request.model


async def test_answers_are_matched_strictly(gemini: FakeGemini) -> None:
    wrong = [
        summary(0, "zero"),
        summary(3, "three"),
        summary(1, " "),
        summary(2, "first"),
        summary(2, "second"),
    ]
    gemini.answer({"summaries": wrong})
    async with knowledge_kernel(ON, gemini=gemini) as kernel:
        await ingest(kernel, "Notes", FOX, OWL)
        result = await search(kernel)
        assert [hit.summary for hit in result.results] == [None, "first"]
        assert {"title", "text", "video_id"} <= set(result.results[1].properties), "nothing useful"


async def test_at_most_twenty_of_a_page_in_one_call(gemini: FakeGemini) -> None:
    gemini.answer({"summaries": [summary(number) for number in range(1, 40)]})
    async with knowledge_kernel(ON, gemini=gemini) as kernel:
        await ingest(kernel, "Cards", *({"text": f"fox {n}"} for n in range(30)))
        result = await search(kernel, limit=30)
        assert len(result.results) > 20
        assert [bool(hit.summary) for hit in result.results][19:21] == [True, False]
        assert len(gemini.requests_of("generateContent")) == 1


@pytest.mark.parametrize("given", [{}, {"plugins.knowledge.flash_summarize": False}])
async def test_a_model_alone_summarises_nothing(gemini: FakeGemini, given: dict[str, Any]) -> None:
    async with knowledge_kernel(given, gemini=gemini) as kernel:
        await ingest(kernel, "Notes", FOX)
        result = await search(kernel)
        assert (result.flash_processed, result.results[0].summary) == (False, None)
        assert gemini.requests == []


async def test_without_a_model_or_a_hit_nothing_is_asked(gemini: FakeGemini) -> None:
    async with knowledge_kernel(ON, gemini=gemini) as kernel:
        assert (await search(kernel)).flash_processed is False
        assert gemini.requests == []
    async with knowledge_kernel(ON) as kernel:
        await ingest(kernel, "Notes", FOX)
        result = await search(kernel)
        assert (len(result.results), result.flash_processed) == (1, False)
        assert "GEMINI_API_KEY" in result.notes[0]
        assert "infra_models" in result.notes[0]


async def test_what_fails_leaves_the_hits_as_they_are(gemini: FakeGemini) -> None:
    faults = [
        Fault.status(500),
        Fault.throttled(),
        Fault.invalid_key(),
        Fault.invalid_json(),
        Fault.empty(),
        Fault.max_tokens(),
        Fault.prompt_blocked(),
    ]
    async with knowledge_kernel(ON, gemini=gemini) as kernel:
        await ingest(kernel, "Notes", FOX)
        for number, fault in enumerate(faults):
            gemini.fail(fault, times=None)
            result = await search(kernel, f"fox {number}")
            assert (result.flash_processed, result.results[0].summary) == (False, None), fault.name
            assert result.results[0].properties["title"] == "The fox"
            assert result.notes[0].startswith("Not summarised"), fault.name
            gemini.heal()
        gemini.answer({"summaries": [summary(1)]})
        assert (await search(kernel)).flash_processed, "a failure was kept"


async def test_a_model_that_hangs_is_not_waited_for(gemini: FakeGemini) -> None:
    gemini.fail(Fault.hang(), times=None)
    quick = {**ON, "plugins.knowledge.refining_deadline_s": 0.2}
    async with knowledge_kernel(quick, gemini=gemini) as kernel:
        await ingest(kernel, "Notes", FOX)
        result = await search(kernel)
        assert (len(result.results), result.flash_processed) == (1, False)
        assert "not done within 0.2 s" in result.notes[0]
