"""The tools: what they give, record and refuse."""

from __future__ import annotations

import json
from typing import Any

import pytest
from corpus import PAPERS
from fake_search import FakeSearch
from searchkit import Desk, open_desk
from vr_kernel import Code, VrError

WORDS = "when swallows leave"


@pytest.fixture
async def desk(fake: FakeSearch) -> Any:
    async with open_desk(fake, "brave", "tavily", "exa") as opened:
        yield opened


async def refused(desk: Desk, tool: str, **arguments: Any) -> VrError:
    """The error of a call."""
    with pytest.raises(VrError) as caught:
        await desk.call(tool, **arguments)
    return caught.value


async def test_a_search_has_pages_and_is_recorded(desk: Desk) -> None:
    ran = await desk.kernel.record("web_search", query=WORDS, num_results=2, provider="tavily")
    found = ran.data
    assert found["providers"] == ["tavily"]
    assert found["response"].startswith("In short")
    assert [it["title"] for it in found["sources"]] == ["When swallows leave", "Swallows return"]
    assert found["sources"][0]["provider"] == "tavily"
    (record,) = ran.records
    assert record.kind == "WebSearchResults"
    assert record.fields["query"] == WORDS
    assert record.fields["response"] == found["response"]
    assert json.loads(record.fields["sources_json"]) == found["sources"]


async def test_every_search_is_a_record_of_its_own(desk: Desk) -> None:
    keys = set()
    for _ in range(2):
        ran = await desk.kernel.record("web_search", query=WORDS)
        keys |= {record.key for record in ran.records}
    assert len(keys) == 2
    assert desk.asked == ["brave", "brave"]  # nothing is cached


async def test_all_asks_every_ready_one(desk: Desk) -> None:
    found = await desk.call("web_search", query=WORDS, provider="all", num_results=3)
    assert found.providers == ["brave", "tavily", "exa"]
    assert sorted(desk.asked) == ["brave", "exa", "tavily"]
    assert [it.provider for it in found.sources] == ["brave, tavily, exa"] * 3
    assert found.usage.cost_usd == 0.005


@pytest.mark.parametrize(
    ("name", "near"),
    [("bravo", "'brave'"), ("web", "Known"), ("openalex", "Known"), ("al", "'all'")],
)
async def test_a_wrong_name_is_told_with_the_nearest(desk: Desk, name: str, near: str) -> None:
    error = await refused(desk, "web_search", query=WORDS, provider=name)
    assert error.code is Code.INVALID_INPUT
    assert near in error.hint
    assert not desk.asked


async def test_a_named_provider_tells_its_own_error(desk: Desk, fake: FakeSearch) -> None:
    fake.down_for("exa", status=429)
    error = await refused(desk, "web_search", query=WORDS, provider="Exa")
    assert (error.code, error.category) == (Code.QUOTA, "SEARCH_TOO_MANY")
    error = await refused(desk, "web_search", query=WORDS, provider="perplexity")
    assert (error.code, error.category) == (Code.AUTH, "SEARCH_NOT_SET_UP")


@pytest.mark.parametrize(
    "domain",
    ["birds.example", "https://www.birds.example/page?x", "*.birds.example", "Birds.Example."],
)
async def test_domains_are_taken_as_people_give_them(desk: Desk, domain: str) -> None:
    found = await desk.call("web_search", query=WORDS, domains=[domain])
    assert [it.title for it in found.sources] == ["When swallows leave"]


async def test_what_is_no_domain_is_refused(desk: Desk) -> None:
    for domains in (["no domain"], ["x"], [f"d{n}.example" for n in range(21)]):
        error = await refused(desk, "web_search", query=WORDS, domains=domains)
        assert error.code is Code.INVALID_INPUT
    assert not desk.asked


async def test_a_recency_narrows(desk: Desk) -> None:
    found = await desk.call("web_search", query=WORDS, recency="week")
    assert [it.title for it in found.sources] == ["When swallows leave"]
    assert found.sources[0].published


async def test_papers_are_found_and_recorded(desk: Desk) -> None:
    ran = await desk.kernel.record("paper_search", query="swallows routes loggers", limit=2)
    first = ran.data["papers"][0]
    assert first["title"] == "Swallows and their routes"
    assert first["authors"] == ["Ada Lovelace", "Grace Hopper"]
    assert (first["doi"], first["arxiv"]) == ("10.1234/swallow.1", "2106.15928")
    assert (first["retracted"], first["citations"]) == (False, 43)
    assert ran.data["providers"] == ["semantic_scholar", "openalex", "arxiv"]
    assert [record.kind for record in ran.records] == ["AcademicPapers"] * 2
    fields = ran.records[0].fields
    assert fields["abstract"].startswith("We follow swallows")
    assert (fields["open_access"], fields["retracted"]) == (True, False)
    assert fields["url"] == "https://arxiv.org/abs/2106.15928"


async def test_a_paper_has_one_record_however_it_was_found(desk: Desk) -> None:
    keys = set()
    for provider in ("openalex", "semantic_scholar", "arxiv"):
        ran = await desk.kernel.record("paper_search", query="swallows routes", provider=provider)
        keys |= {it.key for it in ran.records if "routes" in it.fields["title"]}
    assert len(keys) == 1


@pytest.mark.parametrize(
    "query",
    [
        "10.1234/swallow.1",
        "https://doi.org/10.1234/SWALLOW.1",
        "arXiv:2106.15928v3",
        "https://arxiv.org/pdf/2106.15928",
        PAPERS[0].openalex,
        PAPERS[0].s2,
    ],
)
async def test_an_identifier_gives_that_paper(desk: Desk, query: str) -> None:
    found = await desk.call("paper_search", query=query)
    (paper,) = found.papers
    assert paper.title == "Swallows and their routes"
    assert paper.abstract
    assert paper.pdf == "https://arxiv.org/pdf/2106.15928"


async def test_all_that_services_know_of_a_paper_is_joined(desk: Desk) -> None:
    (paper,) = (await desk.call("paper_search", query="10.1234/swallow.2")).papers
    assert paper.retracted  # which OpenAlex alone tells
    assert paper.citations == 4  # which Semantic Scholar counts
    assert paper.provider == "semantic_scholar, openalex"


async def test_an_unknown_paper_is_not_found(desk: Desk) -> None:
    error = await refused(desk, "paper_search", query="10.9999/nowhere")
    assert (error.code, error.category) == (Code.NOT_FOUND, "PAPER_UNKNOWN")
    assert error.hint


@pytest.mark.parametrize("provider", ["openalex", "semantic_scholar", "arxiv"])
async def test_papers_are_narrowed_down(desk: Desk, provider: str) -> None:
    async def titles(**more: Any) -> list[str]:
        found = await desk.call("paper_search", query="swallows", provider=provider, **more)
        return [paper.title for paper in found.papers]

    assert await titles(author="turing") == ["Do swallows sleep in flight?"]
    years = f"-{PAPERS[2].published.year}"
    assert await titles(year_range=years) == ["Swallows, a model"]
    assert await titles(year_range=str(PAPERS[1].published.year)) in (
        ["Do swallows sleep in flight?"],
        ["Do swallows sleep in flight?", "Swallows and their routes"],
    )


@pytest.mark.parametrize("provider", ["openalex", "semantic_scholar"])
async def test_fields_of_study_narrow(desk: Desk, provider: str) -> None:
    found = await desk.call(
        "paper_search", query="swallows", provider=provider, fields_of_study=["mathematics"]
    )
    assert [paper.title for paper in found.papers] == ["Swallows, a model"]


async def test_arxiv_says_which_fields_it_does_not_have(desk: Desk) -> None:
    asked = {"query": "swallows", "provider": "arxiv"}
    found = await desk.call("paper_search", **asked, fields_of_study=["Law"])
    assert (found.papers, found.notes) == ([], ["arXiv has no papers of Law."])
    await desk.call("paper_search", **asked, fields_of_study=["Computer Science", "Biology"])
    assert "(cat:cs.* OR cat:q-bio.*)" in desk.fake.requests[-1].text


@pytest.mark.parametrize(
    ("name", "value", "near"),
    [
        ("fields_of_study", ["Mathematic"], "Mathematics"),
        ("year_range", "soon", "2016-2020"),
        ("year_range", "2020-2010", "2016-2020"),
        ("provider", "openalx", "'openalex'"),
        ("provider", "brave", "Known"),
    ],
)
async def test_wrong_arguments_are_told(desk: Desk, name: str, value: Any, near: str) -> None:
    error = await refused(desk, "paper_search", query="swallows", **{name: value})
    assert error.code is Code.INVALID_INPUT
    assert near in error.hint
    assert not desk.asked


async def test_citations_are_listed_and_recorded(desk: Desk) -> None:
    ran = await desk.kernel.record("paper_citations", paper_id="10.1234/swallow.1")
    assert [paper["title"] for paper in ran.data["papers"]] == ["On storks"]
    assert ran.data["providers"] == ["semantic_scholar"]
    assert [record.kind for record in ran.records] == ["AcademicPapers"]


async def test_references_and_recommendations(desk: Desk) -> None:
    given = {"paper_id": "https://arxiv.org/abs/2106.15928"}
    found = await desk.call("paper_citations", **given, direction="references")
    assert {it.title for it in found.papers} == {it.title for it in PAPERS[1:3]}
    found = await desk.call("paper_citations", **given, direction="recommendations", limit=2)
    assert len(found.papers) == 2


@pytest.mark.parametrize("direction", ["citations", "references"])
async def test_openalex_is_asked_instead(desk: Desk, fake: FakeSearch, direction: str) -> None:
    fake.down_for("semantic_scholar", status=429)
    found = await desk.call("paper_citations", paper_id="10.1234/swallow.1", direction=direction)
    assert found.papers
    assert found.providers == ["openalex"]
    assert found.notes[0].startswith("semantic_scholar did not answer")


async def test_nobody_else_recommends(desk: Desk, fake: FakeSearch) -> None:
    fake.down_for("semantic_scholar", status=429)
    given = {"paper_id": "10.1234/swallow.1", "direction": "recommendations"}
    error = await refused(desk, "paper_citations", **given)
    assert error.code is Code.QUOTA
    assert desk.asked == ["semantic_scholar"]


async def test_an_id_of_openalex_is_translated(desk: Desk) -> None:
    found = await desk.call("paper_citations", paper_id=PAPERS[0].openalex)
    assert found.providers == ["semantic_scholar"]
    assert [it.title for it in found.papers] == ["On storks"]


async def test_an_unknown_paper_has_no_relations(desk: Desk) -> None:
    error = await refused(desk, "paper_citations", paper_id="10.9999/nowhere")
    assert (error.code, error.category) == (Code.NOT_FOUND, "PAPER_UNKNOWN")
    error = await refused(desk, "paper_citations", paper_id="a title of a paper")
    assert (error.code, error.category) == (Code.INVALID_INPUT, "PAPER_ID")
