"""Attempts to pass for evidence: copies, short quotes, turned sentences, forged records."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from researchkit import ALL, open_desk
from scripted_model import ScriptedModel
from station_corpus import Shelf
from vr_kernel import Code, Document, Locator, Passage, QuoteIndex, Segment, VrError, WebResult
from vr_plugin_research.engine.coverage import coverage_of
from vr_plugin_research.evidence.origins import origin_of
from vr_plugin_research.evidence.tiers import held_to
from vr_plugin_research.results.claims import TIERS, Citation, Claim
from vr_plugin_research.results.plan import PlanQuestion
from vr_plugin_research.results.sources import ReportSource, SourceQuality

SAYS = "Large studies say the new vaccine for adults is {} and effective."
ASKED = "Is the new vaccine for adults safe and effective in large studies?"


def page(address: str, text: str, title: str = "A page") -> Document:
    return Document(address, title, "text/plain", "", [Segment(text, Locator(page=1))])


async def local(folder: Path, *texts: str, topic: str = ASKED) -> Any:
    """The report of the local analyst about these texts, each at a host of its own."""
    addresses = [f"https://host{number}.example/a" for number in range(len(texts))]
    more = {address: page(address, text) for address, text in zip(addresses, texts, strict=True)}
    async with open_desk(folder, shelf=Shelf(count=0, more=more)) as desk:
        return await desk.research(
            topic=topic, documents=addresses, search_in=[], engine="local", depth=1
        )


@pytest.mark.parametrize("other", ["unsafe", "safe"])
async def test_neither_opposites_nor_copies_confirm(tmp_path: Path, other: str) -> None:
    texts = [SAYS.format("safe"), SAYS.format(other) + "\n"]
    report = await local(tmp_path, *texts)
    assert report.findings
    assert {claim.evidence_tier for claim in report.findings} == {"STRONG INDICATOR"}
    for claim in report.findings:
        assert len({each.quote for each in claim.supporting}) == 1


@pytest.mark.parametrize(
    "pair",
    [
        ("https://a.example/x", "https://a.example./y"),
        ("https://news.paper.example/x", "https://blog.paper.example/y"),
        ("https://m.paper.co.uk/x", "https://www2.paper.co.uk/y"),
        ("https://b\u00fccher.example/x", "https://xn--bcher-kva.example/y"),
        ("https://a\u3002example/x", "http://a.example:8080/y"),
        ("https://doi.org/10.1/abc", "https://doi.org/10.1/ABC"),
        ("https://arxiv.org/abs/2101.00001", "https://arxiv.org/pdf/2101.00001v2"),
    ],
)
def test_one_owner_is_one_origin(pair: tuple[str, str]) -> None:
    assert origin_of(pair[0]) == origin_of(pair[1])


def test_others_are_other_origins() -> None:
    addresses = ["https://one.github.io/", "https://two.github.io/", "https://a.example/", "/a/b"]
    assert len({origin_of(each) for each in addresses}) == len(addresses)
    assert origin_of("no/such/file.md") == "no/such/file.md"
    assert origin_of(os.path.relpath(__file__)) == origin_of(__file__)
    assert origin_of("https://arxiv.org/abs/2101.00001", {"doi": "10.1/a"}).startswith("arxiv:")


def claim_of(text: str, *quotes: str) -> Claim:
    citations = [
        Citation(source=number, quote=quote, status="verified")
        for number, quote in enumerate(quotes, 1)
    ]
    return Claim(
        id="C1", claim=text, evidence_tier="CONFIRMED", confidence=0.99, citations=citations
    )


def sources(count: int, *, retracted: bool = False) -> list[ReportSource]:
    quality = SourceQuality(retracted=retracted)
    return [
        ReportSource(number=n, title="t", source=f"s{n}", origin=f"o{n}", quality=quality)
        for n in range(1, count + 1)
    ]


def test_what_a_claim_may_be_by_its_quotes() -> None:
    apart = ("It made 320 gigawatt hours.", "In all, 320 gigawatt hours were made.")
    assert held_to(claim_of("It made 320 GWh.", *apart), sources(2)).evidence_tier == "CONFIRMED"
    copied = held_to(claim_of("It made 320 GWh.", apart[0], apart[0]), sources(2))
    assert copied.evidence_tier == "STRONG INDICATOR"
    invented = held_to(claim_of("It made 999 GWh.", *apart), sources(2))
    assert invented.evidence_tier == "INFERENCE"
    assert "number" in invented.notes[0]
    year = held_to(claim_of("It made 320 GWh in 2021.", *apart), sources(2))
    assert year.evidence_tier == "CONFIRMED"
    named = held_to(claim_of("The turbine T2 made 320 GWh.", *apart), sources(2))
    assert named.evidence_tier == "CONFIRMED"
    gone = held_to(claim_of("It made 320 GWh.", *apart), sources(2, retracted=True))
    assert TIERS.index(gone.evidence_tier) >= TIERS.index("SPECULATION")


@pytest.mark.parametrize(("confidence", "established"), [(0.49, False), (0.5, True)])
def test_a_claim_of_little_confidence_establishes_nothing(
    confidence: float, established: bool
) -> None:
    claim = claim_of("It made 320 GWh.", "It made 320 gigawatt hours.")
    weak = claim.model_copy(update={"section": "So?", "confidence": confidence})
    asked: Any = SimpleNamespace(questions=[PlanQuestion(question="So?")])
    (row,) = coverage_of(asked, [weak])
    assert (row.claims, row.established) == (1, established)


class Saying(ScriptedModel):
    """A model that always says one thing where it is asked for a form."""

    def __init__(self, form: str, said: Mapping[str, Any]) -> None:
        super().__init__()
        self._form, self._said = form, said

    def answer(self, request: Any, word: str = "") -> Mapping[str, Any]:
        """That thing; else the usual answer."""
        wanted = self._form in request.schema["properties"]
        return self._said if wanted else super().answer(request, word)


@pytest.mark.parametrize("quote", ["the", "of the", "", "a."])
async def test_a_quote_that_says_nothing_carries_nothing(tmp_path: Path, quote: str) -> None:
    finding = {"stance": "supports", "quote": quote, "place": "p. 1"}
    async with open_desk(tmp_path, model=Saying("findings", {"findings": [finding]})) as desk:
        found = await desk.kernel.call(
            "research_assess_evidence", claim="The station exploded.", sources=ALL[:2]
        )
    assert found.tier not in ("CONFIRMED", "STRONG INDICATOR")
    assert not [each for each in found.supporting if each.status == "verified"]


async def test_a_retraction_counts_for_every_form_of_a_paper(tmp_path: Path) -> None:
    given = "https://arxiv.org/abs/2101.00001"
    pdf = "https://arxiv.org/pdf/2101.00001"

    class Index(Shelf):
        finds = frozenset({"papers"})

        def results(self, query: str) -> list[WebResult]:
            told: dict[str, str | float] = {"retracted": "yes", "pdf": pdf, "doi": "10.1/a"}
            return [WebResult("The paper", given, "An abstract.", None, told)]

    text = "The station produced 320 gigawatt hours of electricity in the year."
    shelf = Index(count=0, more={given: page(given, text)})
    async with open_desk(tmp_path, shelf=shelf) as desk:
        report = await desk.research(
            topic="How many gigawatt hours did the station produce?",
            documents=[given],
            search_in=["papers"],
            engine="local",
            depth=1,
        )
    assert report.findings
    assert {each.quality.retracted for each in report.sources} == {True}
    assert {claim.evidence_tier for claim in report.findings} == {"SPECULATION"}


@pytest.mark.parametrize(
    "given",
    [
        "text:foo.txt",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "\\\\host\\share",
        "ResearchReports/../../x",
        "The station opened in 1998 report.pdf",
    ],
)
async def test_nothing_that_is_meant_as_a_place_becomes_a_text(tmp_path: Path, given: str) -> None:
    async with open_desk(tmp_path) as desk:
        report = await desk.research(documents=[given, ALL[0]], search_in=[], depth=1)
    assert [each.source for each in report.sources] == [ALL[0]]
    assert [each.source for each in report.failures] == [given]


async def test_half_characters_cost_nothing(tmp_path: Path) -> None:
    odd = "https://odd.example/a"
    document = page(odd, "The Severn Point station made \ud800 much in 2021.", "T\udc00")
    async with open_desk(tmp_path, shelf=Shelf(count=1, more={odd: document})) as desk:
        report = await desk.research(documents=[odd, ALL[0]], search_in=[], depth=1)
    assert len(report.sources) == 2
    json.dumps(report.model_dump()).encode()


async def test_a_faulty_search_costs_that_search(tmp_path: Path) -> None:
    class Faulty(Shelf):
        def results(self, query: str) -> list[WebResult]:
            raise ZeroDivisionError

    async with open_desk(tmp_path, shelf=Faulty()) as desk:
        report = await desk.research(documents=[ALL[0]], search_in=["web"], depth=1)
    assert len(report.sources) == 1
    assert any("failed" in limit for limit in report.limits)


async def test_results_that_cannot_be_judged_are_kept(tmp_path: Path) -> None:
    async with open_desk(tmp_path, model=Saying("results", {"nonsense": True})) as desk:
        report = await desk.research(search_in=["web"], depth=1, sources=3)
    assert len(report.sources) == 3


async def test_a_deeply_nested_plan_is_refused(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        found = await desk.record(plan='{"questions":' + "[" * 100_000)
    assert isinstance(found.error, VrError)
    assert (found.error.code, found.error.category) == (Code.INVALID_INPUT, "PLAN_INVALID")


def test_a_table_of_numbers_is_indexed_in_bounded_time() -> None:
    text = " ".join(str(number * 7 % 1_000) for number in range(20_000))
    begun = time.process_time()
    QuoteIndex([Passage(text, 0, 1)])
    assert time.process_time() - begun < 20, "it took hours when it was quadratic"
