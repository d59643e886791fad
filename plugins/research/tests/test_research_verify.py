"""Reports that are checked again: by their kept texts without any network, or by the sources."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from researchkit import ALL, Desk, open_desk
from station_corpus import FIRST, address_of, document_of
from vr_kernel import Code, Document, VrError
from vr_plugin_research.results.claims import FOUND
from vr_plugin_research.results.report import ResearchReport
from vr_plugin_research.results.verification import Verification

GIVEN = [ALL[number] for number in (1, 3, 5, 7)]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path) as opened:
        yield opened


@pytest.fixture
async def report(desk: Desk) -> ResearchReport:
    return await desk.research(documents=GIVEN, depth=1, search_in=[])


async def verify(desk: Desk, report: ResearchReport, **more: Any) -> Verification:
    found: Any = await desk.kernel.call("research_verify", report_id=report.report_id, **more)
    return Verification.model_validate(found.model_dump())


def standing(report: ResearchReport, without: Collection[int] = ()) -> int:
    """The number of claims that a quote carries, where these sources are gone."""
    return sum(
        any(it.status in FOUND and it.source not in without for it in claim.supporting)
        for claim in report.findings
    )


def kept(desk: Desk, report: ResearchReport, number: int) -> Path:
    """The file with the text of a source."""
    source = report.source(number)
    assert source is not None
    name = source.snapshot.rpartition("/")[2]
    return desk.kernel.services.artifacts.find(name).path


async def test_every_check_is_made_again_without_a_network(
    desk: Desk, report: ResearchReport
) -> None:
    desk.gemini.forget()
    desk.shelf.loads.clear()
    desk.gemini.down = True
    found = await verify(desk, report)
    assert (desk.gemini.requests, desk.shelf.loads, desk.shelf.searches) == ([], [], [])
    assert found.stand == standing(report)
    assert found.claims == len(report.findings)
    assert found.score == report.score
    assert (found.changed_claims, found.changed_citations, found.limits) == ([], [], [])


@pytest.mark.parametrize("damage", ["deleted", "cut", "other text"])
async def test_a_kept_text_that_is_damaged_costs_its_own_checks_alone(
    desk: Desk, report: ResearchReport, damage: str
) -> None:
    path = kept(desk, report, 2)
    if damage == "deleted":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:100])
    else:
        path.write_bytes(kept(desk, report, 3).read_bytes())
    found = await verify(desk, report)
    mine = [
        (claim.id, each)
        for claim in report.findings
        for each in claim.citations
        if each.source == 2
    ]
    assert {(it.claim, it.quote) for it in found.changed_citations} == {
        (id_, each.quote) for id_, each in mine
    }
    assert {it.source for it in found.changed_citations} == {2}
    assert {it.now for it in found.changed_citations} == {"unchecked"}
    assert found.score.unchecked == len(mine)
    assert found.stand == standing(report, without={2})
    assert any("Source 2" in limit for limit in found.limits)


def rewritten(document: Document) -> Document:
    """The document as its author corrected it."""
    segments = [
        replace(each, text=each.text.replace("320 gigawatt", "299 gigawatt"))
        for each in document.segments
    ]
    digest = hashlib.sha256(str(segments).encode()).hexdigest()
    return replace(document, segments=segments, sha256=digest)


async def test_sources_that_changed_or_are_gone_are_named(
    desk: Desk, report: ResearchReport
) -> None:
    changed, gone = address_of(3), address_of(5)
    desk.shelf.documents[changed] = rewritten(document_of(3))
    del desk.shelf.documents[gone]
    found = await verify(desk, report, refresh=True)
    assert found.refreshed
    stale = [each for each in found.changed_claims if each.change == "stale"]
    assert [each.text for each in stale] == [FIRST]
    assert stale[0].tier_now in ("SPECULATION", "UNKNOWN")
    unchecked = {each.source for each in found.changed_citations if each.now == "unchecked"}
    assert unchecked == {number for number, each in enumerate(GIVEN, 1) if each == gone}
    assert any("is gone" in limit for limit in found.limits)
    assert found.stand == standing(report, without=unchecked) - len(stale)
    offline = await verify(desk, report)
    assert offline.stand == standing(report)


async def test_the_reading_of_a_model_is_not_asked_again(
    desk: Desk, report: ResearchReport
) -> None:
    calls = desk.gemini.bill.calls
    await verify(desk, report, refresh=True)
    assert desk.gemini.bill.calls == calls


@pytest.mark.parametrize("form", ["{}", "{:.8}", "ResearchReports/{}", " ResearchReports/{:.8} "])
async def test_a_report_is_found_by_its_id_as_lists_show_it(
    desk: Desk, report: ResearchReport, form: str
) -> None:
    found: Any = await desk.kernel.call("research_verify", report_id=form.format(report.report_id))
    assert found.report_id == report.report_id


@pytest.mark.parametrize("wrong", ["", "  ", "no-such-report", "x" * 100_000, "../../etc/passwd"])
async def test_an_unknown_report_is_named(desk: Desk, wrong: str) -> None:
    with pytest.raises(VrError) as caught:
        await desk.kernel.call("research_verify", report_id=wrong)
    assert (caught.value.code, caught.value.category) == (Code.NOT_FOUND, "REPORT_UNKNOWN")
    assert len(caught.value.message) < 1_000


async def test_a_report_belongs_to_its_principal(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        made = await desk.kernel.run(
            "research_deep",
            {"topic": "Severn Point", "documents": GIVEN[:2], "search_in": []},
            principal="ann",
        )
        assert made.error is None
        asked = {"report_id": made.data["report_id"]}
        for tool in ("research_verify", "research_export"):
            own = await desk.kernel.run(tool, {**asked, **_form(tool)}, principal="ann")
            assert own.error is None, own.error
            other = await desk.kernel.run(tool, {**asked, **_form(tool)}, principal="bob")
            assert other.error is not None
            assert other.error.category == "REPORT_UNKNOWN"
            assert asked["report_id"] not in other.error.hint


def _form(tool: str) -> dict[str, str]:
    return {"format": "json"} if tool == "research_export" else {}
