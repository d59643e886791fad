"""Research about given documents: maps, findings, cross-references, and what failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from researchkit import ALL, Desk, open_desk, wants
from station_corpus import FIRST, SECOND, TextFiles, address_of
from vr_kernel import Code
from vr_plugin_research.results.documents import DocumentReport
from vr_testing import Fault

GONE = "https://gone.example/x"
TWO = [address_of(3), address_of(7)]


async def document(desk: Desk, *urls: str, **more: Any) -> DocumentReport:
    """The whole report of `research_document`, as it was recorded."""
    asked = {"instruction": "How much does it produce?", "urls": [*urls], **more}
    found = await desk.record("research_document", **asked)
    assert found.error is None, found.error
    report = await desk.report(found.result.report_id)
    assert isinstance(report, DocumentReport)
    return report


async def test_documents_are_mapped_read_compared_and_put_together(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        report = await document(desk, *TWO)
        assert sorted(desk.asked) == sorted(
            ["questions", *["findings"] * 2, *["key_claims"] * 2, "topics", "executive_summary"]
        )
    assert [each.source for each in report.documents] == [1, 2]
    assert [each.place for each in report.documents[0].sections] == ["p. 1", "p. 99"]
    assert [each.sources for each in report.cross_references] == [[1, 2]]
    assert report.score.not_found == 4
    said = {each.id: each.claim for each in report.findings}
    pairs = [{said[each.claim_a], said[each.claim_b]} for each in report.contradictions]
    assert pairs == [{FIRST, SECOND}]


async def test_a_quick_look_is_maps_alone(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        report = await document(desk, *TWO, scope="quick")
        assert {*desk.asked} == {"questions", "key_claims"}
    assert (report.findings, report.cross_references) == ([], [])
    assert "It reports" in report.executive_summary


async def test_one_document_is_compared_with_nothing(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        report = await document(desk, TWO[0], scope="comprehensive")
        assert "topics" not in desk.asked
    assert report.cross_references == []
    assert report.findings


async def test_files_and_addresses_of_one_name_stay_apart(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("a", "b")]
    for folder in folders:
        folder.mkdir()
        (folder / "report.txt").write_text(f"The Severn Point station has a part {folder.name}.")
    paths = [str(folder / "report.txt") for folder in folders]
    async with open_desk(tmp_path, plugins={"files": TextFiles()}) as desk:
        report = await document(desk, ALL[0], file_paths=paths)
        assert [each.source for each in report.sources] == [*paths, ALL[0]]
        assert len({each.snapshot for each in report.sources}) == 3
        quoted = {it.quote[-6:] for each in report.findings for it in each.citations}
        assert {"part a", "part b"} <= quoted


async def test_each_failure_has_its_reason(tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text(" \n")
    async with open_desk(tmp_path, plugins={"files": TextFiles()}) as desk:
        report = await document(desk, ALL[0], GONE, file_paths=[str(empty), "/etc/passwd.txt"])
        assert [each.source for each in report.sources] == [ALL[0]]
        told = {each.source: (each.code, each.category) for each in report.failures}
        assert told[GONE] == ("NOT_FOUND", "HTTP_NOT_FOUND")
        assert told[str(empty)] == ("UNSUPPORTED", "DOCUMENT_EMPTY")
        assert told["/etc/passwd.txt"][0] == "NOT_ALLOWED"
        before = len(desk.asked)
        none = await desk.record("research_document", instruction="So?", urls=[GONE, f"{GONE}y"])
        assert none.error is not None
        assert none.error.code is Code.NOT_FOUND
        assert f"{GONE}y" in none.error.message
        assert none.records == ()
        assert desk.asked[before:] in ([], ["questions"])


@pytest.mark.parametrize("form", ["key_claims", "topics", "executive_summary"])
async def test_a_phase_that_fails_costs_that_phase(tmp_path: Path, form: str) -> None:
    async with open_desk(tmp_path) as desk:
        desk.gemini.fail(Fault.status(403), when=wants(form), times=None)
        report = await document(desk, *TWO)
    assert len(report.findings) >= 10
    assert report.limits
    assert (report.documents[0].summary != "") == (form != "key_claims")
    assert (report.cross_references != []) == (form != "topics")
    assert (report.status == "stopped") == (form == "executive_summary")


async def test_without_a_model_documents_still_answer(tmp_path: Path) -> None:
    async with open_desk(tmp_path, with_model=False) as desk:
        report = await document(desk, *TWO, instruction="Severn Point station produced electricity")
    assert report.engine == "local"
    assert {FIRST, SECOND} <= {each.claim for each in report.findings}
    assert report.contradictions
    assert [each.title for each in report.documents] == [each.title for each in report.sources]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, Code.INVALID_INPUT),
        ({"urls": [ALL[0]] * 13}, Code.TOO_LARGE),
        ({"urls": [" "]}, Code.INVALID_INPUT),
        ({"urls": [ALL[0]], "instruction": " "}, Code.INVALID_INPUT),
    ],
)
async def test_what_cannot_be_read_is_refused(
    tmp_path: Path, arguments: dict[str, Any], code: Code
) -> None:
    async with open_desk(tmp_path) as desk:
        found = await desk.record("research_document", **{"instruction": "So?", **arguments})
        assert found.error is not None
        assert found.error.code is code
        assert desk.gemini.requests == []
