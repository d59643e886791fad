"""Research without a model: it plans from headings, checks quotes, and says what it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from researchkit import ALL, open_desk
from station_corpus import FIRST, OPENED, REOPENED, SECOND, Shelf, document_of
from vr_kernel import Code, Heading, Locator
from vr_plugin_research.results.claims import FOUND

TOPIC = "Severn Point station electricity produced and commercial operation opened"


async def test_sources_speak_for_themselves(tmp_path: Path) -> None:
    shelf = Shelf()
    shelf.documents[ALL[3]] = replace(
        document_of(3),
        outline=[
            Heading("Severn Point electricity in the year 2021", 1, Locator(page=2)),
            Heading("A point of knitted woollen xylophone sheep", 1, Locator(page=2)),
            Heading("Acknowledgements", 1, Locator(page=3)),
        ],
    )
    async with open_desk(tmp_path, shelf=shelf, with_model=False) as desk:
        found = await desk.record(topic=TOPIC, documents=ALL, scope="comprehensive")
        assert found.error is None
        assert found.usage is None or found.usage.calls == 0
        report = await desk.report(found.result.report_id)
        assert desk.shelf.loads == [*dict.fromkeys(desk.shelf.loads)]
    assert (report.engine, report.models) == ("local", [])
    assert any("No language model was asked" in limit for limit in report.limits)
    assert [each.question for each in report.coverage] == [
        TOPIC,
        "Severn Point electricity in the year 2021",
    ]
    quotes = [each for claim in report.findings for each in claim.citations]
    assert quotes
    assert all(each.status in FOUND for each in quotes)
    said = {each.id: each.claim for each in report.findings}
    pairs = {frozenset({said[it.claim_a], said[it.claim_b]}) for it in report.contradictions}
    assert pairs == {frozenset({FIRST, SECOND}), frozenset({OPENED, REOPENED})}
    assert not any(
        {FIRST, SECOND} <= {f"{it.quote.rstrip('.')}." for it in claim.supporting}
        for claim in report.findings
    )


async def test_a_model_that_is_demanded_has_to_be_there(tmp_path: Path) -> None:
    async with open_desk(tmp_path, with_model=False) as desk:
        for tool, more in (
            ("research_deep", {}),
            ("research_plan", {}),
            ("research_document", {"instruction": "So?", "urls": ALL[:1]}),
            ("research_assess_evidence", {"claim": "So.", "sources": ALL[:1]}),
        ):
            found = await desk.record(tool, engine="model", **more)
            assert found.error is not None, tool
            assert found.error.code in (Code.AUTH, Code.UNAVAILABLE)
            assert found.error.category == "ENGINE_UNAVAILABLE"
            assert "engine='local'" in found.error.hint
        assert desk.shelf.loads == []


async def test_a_plan_without_a_model_is_free_and_can_be_followed(tmp_path: Path) -> None:
    async with open_desk(tmp_path, with_model=False) as desk:
        found = await desk.record("research_plan", topic=TOPIC)
        assert found.error is None
        plan = found.result
        assert (plan.engine, plan.cost_low_usd, plan.cost_high_usd) == ("local", None, None)
        assert [each.question for each in plan.questions] == [TOPIC]
        assert plan.limits
        report = await desk.research(topic=TOPIC, plan=plan.plan_id, depth=1, sources=3)
    assert len(report.sources) == 3
    assert desk.shelf.searches == [TOPIC]
