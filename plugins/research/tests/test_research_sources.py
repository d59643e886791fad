"""Sources that are gone, alike, recorded before, of one origin, or not found by any search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import archive_plugin
import pytest
from researchkit import ALL, open_desk
from scripted_model import ScriptedModel
from station_corpus import FIRST, OPENED, Shelf, document_of
from vr_kernel import Code, VrError, WebResult
from vr_plugin_research.results.report import ResearchReport

GONE = "https://gone.example/x"
ALONE: Mapping[str, Any] = {"depth": 1, "search_in": []}
KEPT = "/archive/kept.pdf"
TEXT = "The Severn Point station employed 140 people in its second year of work."
DOWN = VrError("The search is down.", Code.UNAVAILABLE, category="HTTP_FAILED", retryable=True)


async def test_sources_that_are_gone_are_named(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        one = await desk.research(documents=[GONE, ALL[0]], **ALONE)
        none = await desk.research(documents=[GONE, f"{GONE}y"], **ALONE)
        asked = desk.asked
    assert [each.source for each in one.sources] == [ALL[0]]
    assert [(it.source, it.code) for it in one.failures] == [(GONE, "NOT_FOUND")]
    assert len(none.failures) == 2
    assert (none.findings, none.sources) == ([], [])
    assert "Nothing" in none.executive_summary
    assert none.not_established == [each.question for each in none.coverage]
    assert asked.count("executive_summary") == 1


async def test_one_text_under_two_addresses_is_one_source(tmp_path: Path) -> None:
    copy = "https://copy.example/a"
    async with open_desk(tmp_path, shelf=Shelf(more={copy: document_of(0)})) as desk:
        report = await desk.research(documents=[copy, ALL[0], copy], **ALONE)
    assert [each.source for each in report.sources] == [copy]
    assert report.failures == []
    assert {each.source for claim in report.findings for each in claim.citations} == {1}
    assert {each.evidence_tier for each in report.findings} <= {"STRONG INDICATOR", "SPECULATION"}


async def test_equal_names_are_two_sources(tmp_path: Path) -> None:
    one, other = "https://a.example/report.pdf", "https://b.example/report.pdf"
    more = {one: document_of(1), other: replace(document_of(2), title=document_of(1).title)}
    async with open_desk(tmp_path, shelf=Shelf(more=more)) as desk:
        report = await desk.research(documents=[one, other], **ALONE)
    assert [each.source for each in report.sources] == [one, other]
    assert len({each.snapshot for each in report.sources}) == 2


class Agreeing(ScriptedModel):
    """A model that joins all findings into one claim, and is sure of it."""

    def answer(self, request: Any, word: str = "") -> Mapping[str, Any]:
        """The usual answer, with one claim."""
        answer = super().answer(request, word)
        if "claims" not in answer:
            return answer
        supports = [name for each in answer["claims"] for name in each["supports"]]
        one = {"claim": "It runs well.", "tier": "CONFIRMED", "confidence": 1.0}
        return {**answer, "claims": [{**one, "supports": supports}]}


async def sure(folder: Path, addresses: list[str], *numbers: int) -> ResearchReport:
    """A report in which all these documents say one thing, at these addresses."""
    found = zip(addresses, map(document_of, numbers), strict=True)
    more = {address: replace(each, source=address) for address, each in found}
    async with open_desk(folder, shelf=Shelf(more=more), model=Agreeing()) as desk:
        return await desk.research(documents=addresses, **ALONE)


async def test_pages_of_one_host_count_once(tmp_path: Path) -> None:
    one = await sure(tmp_path / "one", ["https://a.example/1", "https://www.a.example/2"], 0, 1)
    two = await sure(tmp_path / "two", ["https://a.example/1", "https://b.example/2"], 0, 1)
    assert (one.findings[0].evidence_tier, one.findings[0].confidence) == ("STRONG INDICATOR", 0.9)
    assert one.findings[0].notes == ["Only one origin says it."]
    assert [each.quality.independence for each in one.sources] == [1.0, 0.5]
    assert (two.findings[0].evidence_tier, two.findings[0].confidence) == ("CONFIRMED", 0.99)


class Found(Shelf):
    """A shelf whose search tells more of two results."""

    def results(self, query: str) -> list[WebResult]:
        """A paper that was withdrawn, and one that was cited a thousand times."""
        del query
        known = {"citations": 1_000.0}
        return [
            WebResult("Withdrawn", ALL[0], "It was.", details={"retracted": "yes"}),
            WebResult("Standard", ALL[1], "It is.", date(2016, 1, 1), details=known),
        ]


async def test_what_was_withdrawn_carries_nothing_and_quality_is_shown(tmp_path: Path) -> None:
    async with open_desk(tmp_path, shelf=Found()) as desk:
        report = await desk.research(depth=1, search_in=["web"])
    withdrawn, standard = sorted(report.sources, key=lambda each: each.source)
    assert (withdrawn.quality.retracted, withdrawn.quality.score) == (True, 0.0)
    assert standard.quality.authority == 1.0
    assert 0 < standard.quality.recency < 0.5
    assert withdrawn.quality.recency == 0.5
    for claim in report.findings:
        if {each.source for each in claim.supporting} == {withdrawn.number}:
            assert claim.evidence_tier in ("SPECULATION", "UNKNOWN")
            assert claim.confidence <= 0.4


class Papers(Shelf):
    """An index of papers, none of which can be had."""

    finds = frozenset({"papers"})

    def results(self, query: str) -> list[WebResult]:
        """Two papers of one publisher: one with an abstract, one without."""
        del query
        abstract = f"{TEXT} {FIRST} {OPENED} It is told in many words what was done there."
        return [
            WebResult("One", f"{GONE}/{name}", text, details={"doi": f"10.1/{name}", "pdf": name})
            for name, text in (("a", abstract), ("b", "Short."))
        ]


async def test_of_a_paper_that_cannot_be_had_its_abstract_is_read(tmp_path: Path) -> None:
    async with open_desk(tmp_path, shelf=Papers()) as desk:
        report = await desk.research(depth=1, search_in=["papers", "web"])
    assert [(each.kind, each.origin) for each in report.sources] == [("paper", "doi:10.1/a")]
    assert any("Only its abstract was read" in limit for limit in report.sources[0].limits)
    assert len(report.failures) == 1
    assert {each.place for it in report.findings for each in it.citations} == {"Abstract"}
    assert any("web" in limit for limit in report.limits)


async def test_without_any_search_what_is_recorded_is_used(tmp_path: Path) -> None:
    shelf = Shelf()
    shelf.search_error = DOWN
    async with open_desk(tmp_path, shelf=shelf, plugins={"archive": archive_plugin}) as desk:
        failed = await desk.record()
        assert failed.error is not None
        assert (failed.error.code, failed.error.category) == (
            Code.UNAVAILABLE,
            "SOURCES_UNAVAILABLE",
        )
        assert failed.records == ()
        assert "down" in failed.error.message
        await desk.kernel.call("archive_keep", source=KEPT, text=TEXT)
        denied = TEXT.replace("140", "900")
        await desk.kernel.call("archive_note", source=KEPT, claim=denied)
        # An earlier claim that rests on the same words of the same source is no other voice.
        other = TEXT.replace("140", "700")
        await desk.kernel.call("archive_note", source=KEPT, claim=other, quote=TEXT)
        report = await desk.research()
    assert [(each.source, each.kind) for each in report.sources] == [(KEPT, "record")]
    assert [it.quote for each in report.findings for it in each.citations] == [TEXT.rstrip(".")]
    assert any("The search is down." in each for each in report.limits)
    assert [each.claim_b for each in report.contradictions] == [denied]
    assert report.contradictions[0].report_b == "an-earlier-one"


@pytest.mark.parametrize("kind", ["DocumentPassages/", ""])
async def test_two_passages_of_a_document_are_one_origin(tmp_path: Path, kind: str) -> None:
    plugins = {"archive": archive_plugin}
    async with open_desk(tmp_path, model=Agreeing(), plugins=plugins) as desk:
        kept: list[Any] = [
            await desk.kernel.call("archive_keep", source=KEPT, text=text, page=page)
            for page, text in enumerate([TEXT, "The county paid for the whole of it."], 1)
        ]
        report = await desk.research(documents=[f"{kind}{each.id}" for each in kept], **ALONE)
    assert [(each.source, each.kind) for each in report.sources] == [(KEPT, "record")] * 2
    assert {each.page for claim in report.findings for each in claim.citations} == {1, 2}
    assert {each.evidence_tier for each in report.findings} == {"STRONG INDICATOR"}
