"""Gemini searches: what it is asked, its answer, and the pages that its links lead to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fake_search import FakeSearch
from searchkit import Desk, open_desk
from vr_kernel import Code, VrError
from vr_testing import FakeGemini, Fault
from vr_testing.service.answer import Answer
from vr_testing.service.errors import ServiceError
from vr_testing.service.faults import ServiceFault
from vr_testing.service.reply import HttpReply

WORDS = "when swallows leave"


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as running:
        yield running


@asynccontextmanager
async def at_desk(
    fake: FakeSearch, gemini: FakeGemini, *names: str, **more: object
) -> AsyncIterator[Desk]:
    """A kernel with Gemini, whose links stand at the fake's address."""
    settings: Mapping[str, object] = {
        "models.gemini_api_keys": "a-key",
        "models.gemini_base_url": gemini.url,
        "plugins.search.gemini_redirects": f"{fake.url}/redirect/",
        **more,
    }
    async with open_desk(fake, *names, settings=settings) as desk:
        yield desk


def grounded(*sources: tuple[str, str]) -> Answer:
    """An answer with sources."""
    return Answer("They leave in September.", sources=sources)


async def test_it_is_asked_to_search_with_the_fast_model(
    fake: FakeSearch, gemini: FakeGemini
) -> None:
    gemini.answer(grounded(("birds.example", "https://birds.example/leave")))
    async with at_desk(fake, gemini) as desk:
        found = await desk.call("web_search", query=WORDS, recency="week", num_results=3)
        model = desk.kernel.services.models.names("fast")[0]
    (request,) = gemini.requests_of("generateContent")
    assert request.has_tool("googleSearch")
    assert model == f"gemini/{request.model}"
    assert WORDS in request.text
    assert "within the last week" in request.text
    assert found.providers == ["gemini"]
    assert found.response == "They leave in September."
    assert found.sources[0].url == "https://birds.example/leave"
    assert found.usage.calls == 1
    assert any("tells no dates" in note for note in found.notes)


async def test_links_are_followed_to_their_pages(fake: FakeSearch, gemini: FakeGemini) -> None:
    page = f"{fake.url}/page/leave"
    moved = HttpReply(302, headers={"Location": page})
    fake.fail(ServiceFault("moved", instead=moved), when=lambda it: it.path == "/redirect/a")
    body = HttpReply(200, b"<html>leave</html>", headers={"Content-Type": "text/html"})
    fake.fail(ServiceFault("page", instead=body), when=lambda it: it.path == "/page/leave")
    links = [("one", f"{fake.url}/redirect/a"), ("two", f"{fake.url}/redirect/lost")]
    gemini.answer(grounded(*links, ("three", "https://birds.example/")))
    async with at_desk(fake, gemini) as desk:
        found = await desk.search("gemini", WORDS)
    assert [result.url for result in found.results] == [
        page,
        f"{fake.url}/redirect/lost",
        "https://birds.example/",
    ]
    assert found.notes == ("1 links of Gemini did not lead to their page.",)


async def test_links_are_left_alone_when_that_is_turned_off(
    fake: FakeSearch, gemini: FakeGemini
) -> None:
    gemini.answer(grounded(("one", f"{fake.url}/redirect/a")))
    async with at_desk(fake, gemini, **{"plugins.search.gemini_redirects": ""}) as desk:
        found = await desk.search("gemini", WORDS)
    assert found.results[0].url == f"{fake.url}/redirect/a"
    assert not fake.requests


async def test_a_failing_gemini_is_replaced(fake: FakeSearch, gemini: FakeGemini) -> None:
    gemini.fail(Fault.status(400), times=None)
    async with at_desk(fake, gemini, "tavily") as desk:
        found = await desk.call("web_search", query=WORDS)
    assert found.providers == ["tavily"]
    assert found.notes[0].startswith("gemini did not answer")


async def test_other_models_are_not_asked_to_search(fake: FakeSearch) -> None:
    async with open_desk(fake) as desk:
        with pytest.raises(VrError) as caught:
            await desk.search("gemini", WORDS)
    assert (caught.value.code, caught.value.category) == (Code.AUTH, "SEARCH_NOT_SET_UP")


async def test_an_estimate_asks_and_pays_nobody(fake: FakeSearch, gemini: FakeGemini) -> None:
    async with at_desk(fake, gemini, "brave") as desk:
        arguments: Any = {"query": WORDS}
        told = await desk.call("infra_estimate", tool="web_search", arguments=arguments)
        assert told.requests == 1
        for provider in ("brave", "all"):
            named = {**arguments, "provider": provider}
            await desk.call("infra_estimate", tool="web_search", arguments=named)
    assert not gemini.requests_of("generateContent")
    assert not fake.requests


async def test_sources_are_in_no_order_of_their_own(fake: FakeSearch, gemini: FakeGemini) -> None:
    fake.fail(ServiceFault("gone", error=lambda _request: ServiceError(404)), times=None)
    links = [(f"{n}", f"{fake.url}/redirect/{n}") for n in range(8)]
    gemini.answer(grounded(*links))
    async with at_desk(fake, gemini) as desk:
        found = await desk.search("gemini", WORDS, limit=5)
    assert [result.title for result in found.results] == ["0", "1", "2", "3", "4"]
