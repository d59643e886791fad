"""One claim held against sources of every kind: texts, addresses, files, records."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import archive_plugin
import pytest
from researchkit import ALL, Desk, open_desk, wants
from scripted_model import ScriptedModel
from station_corpus import FIRST, SECOND, TextFiles, address_of
from vr_kernel import Code, VrError
from vr_plugin_research.results.assessment import EvidenceAssessment
from vr_testing import Fault

KEPT = "/archive/kept.pdf"
TEXT = "The Severn Point station employed 140 people in its second year of work."
CLAIM = "The Severn Point station employed 140 people."
GONE = "https://gone.example/x"
NO_RECORD = "DocumentPassages/00000000-0000-0000-0000-000000000000"


class Torn(ScriptedModel):
    """A model for which every other source contradicts the claim."""

    def answer(self, request: Any, word: str = "") -> Mapping[str, Any]:
        """The usual answer with another stance."""
        answer = super().answer(request, word)
        if "findings" in answer and len(self.read) % 2 == 0:
            against = [{**each, "stance": "contradicts"} for each in answer["findings"]]
            return {"findings": against}
        return answer


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    plugins = {"archive": archive_plugin, "files": TextFiles()}
    async with open_desk(tmp_path, model=Torn(), plugins=plugins, concurrency=1) as opened:
        yield opened


async def assess(desk: Desk, *sources: str, **more: Any) -> EvidenceAssessment:
    asked = {"claim": CLAIM, "sources": [*sources], **more}
    found: Any = await desk.kernel.call("research_assess_evidence", **asked)
    return EvidenceAssessment.model_validate(found.model_dump())


async def test_sources_of_every_kind_are_read(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "report.txt"
    file.write_text(f"{TEXT} It was counted.")
    passage: Any = await desk.kernel.call("archive_keep", source=KEPT, text=TEXT)
    derived: Any = await desk.kernel.call("archive_note", source=KEPT, claim="It employed nobody.")
    kinds = {
        f"{TEXT} It is said.": "text",
        ALL[0]: "web",
        str(file): "document",
        passage.id: "record",
    }
    found = await assess(desk, *kinds)
    assert found.failures == []
    assert [each.kind for each in found.sources] == [*kinds.values()]
    quotes = [*found.supporting, *found.contradicting]
    assert {each.source for each in quotes if each.status == "verified"} == {1, 2, 3, 4}
    assert {each.source for each in found.contradicting} == {2, 4}
    assert (found.tier, found.confidence) == ("STRONG INDICATOR", 0.9)
    assert "contradicts" in found.reasoning
    origin = await assess(desk, derived.id)
    assert [(each.source, each.kind) for each in origin.sources] == [(KEPT, "record")]
    quotes = [*origin.supporting, *origin.contradicting]
    assert [each.quote for each in quotes] == [TEXT.rstrip(".")]


async def test_what_cannot_be_read_is_told_and_paid_for_by_nobody(desk: Desk) -> None:
    lost: Any = await desk.kernel.call("archive_note", source="", claim="It is wonderful.")
    before = len(desk.asked)
    unread = [GONE, NO_RECORD, lost.id, "no-such-file.txt", "nosuchfolder", ".."]
    with pytest.raises(VrError) as caught:
        await assess(desk, *unread)
    assert caught.value.category == "SOURCES_UNAVAILABLE"
    assert len(desk.asked) == before
    found = await assess(desk, *unread, TEXT)
    categories = [each.category for each in found.failures]
    assert categories[:3] == ["HTTP_NOT_FOUND", "RECORD_UNKNOWN", "SOURCE_DERIVED"]
    assert len(found.failures) == len(unread)


async def test_invented_quotes_carry_nothing(tmp_path: Path) -> None:
    class Liar(ScriptedModel):
        def answer(self, request: Any, word: str = "") -> Mapping[str, Any]:
            """Only inventions."""
            answer = super().answer(request, word)
            if "findings" not in answer:
                return answer
            lies = [it for it in answer["findings"] if it["quote"] in self.invented]
            return {"findings": lies}

    async with open_desk(tmp_path, model=Liar()) as desk:
        found = await assess(desk, *ALL[:3])
        assert desk.asked == ["findings"] * 3
    assert (found.tier, found.confidence) == ("UNKNOWN", 0.0)
    assert found.score.not_found == found.score.quotes == 6


async def test_a_source_that_the_model_fails_at_costs_that_source(desk: Desk) -> None:
    bad = wants("findings")
    desk.gemini.fail(
        Fault.status(400), when=lambda it: bad(it) and "turbine" in it.text, times=None
    )
    found = await assess(desk, ALL[0], ALL[1])
    assert [each.source for each in found.failures] == [ALL[0]]
    assert {each.source for each in (*found.supporting, *found.contradicting)} == {2}
    with pytest.raises(VrError):
        await assess(desk, ALL[0], context="alone")


async def test_two_sources_that_disagree_are_both_shown(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        found = await assess(
            desk, address_of(3), address_of(7), claim=FIRST, engine="local", context="of 2021"
        )
        assert desk.gemini.requests == []
    assert found.engine == "local"
    assert FIRST in {f"{each.quote.rstrip('.')}." for each in found.supporting}
    assert SECOND in {f"{each.quote.rstrip('.')}." for each in found.contradicting}
    assert [each.cited > 0 for each in found.sources] == [True, True]
    assert any("No language model" in each for each in found.limits)
    assert found.tier in ("INFERENCE", "SPECULATION")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"sources": []}, Code.INVALID_INPUT),
        ({"sources": [" "]}, Code.INVALID_INPUT),
        ({"claim": "\u200b"}, Code.INVALID_INPUT),
        ({"claim": "so " * 5_000}, Code.TOO_LARGE),
        ({"sources": [TEXT] * 101}, Code.TOO_LARGE),
    ],
)
async def test_what_cannot_be_assessed_is_refused(
    desk: Desk, arguments: dict[str, Any], code: Code
) -> None:
    asked = {"claim": CLAIM, "sources": [TEXT], **arguments}
    found = await desk.record("research_assess_evidence", **asked)
    assert found.error is not None
    assert found.error.code is code
    assert desk.gemini.requests == []


async def test_the_finding_is_recorded_with_its_quotes(desk: Desk) -> None:
    found = await desk.record("research_assess_evidence", claim=CLAIM, sources=[TEXT, ALL[0]])
    assert [each.kind for each in found.records] == ["ResearchFindings"]
    fields = found.records[0].fields or {}
    assert fields["claim"] == CLAIM
    assert fields["evidence_tier"] == found.result.tier
    assert TEXT.rstrip(".") in fields["citations_json"]
