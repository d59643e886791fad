"""Research within a budget: what it may cost, and what is left of it when that is little."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from researchkit import Desk, open_desk, wants
from scripted_model import OPENING, OUTPUT, UNKNOWN, ScriptedModel
from vr_kernel import Code
from vr_plugin_research.results.report import ResearchReport
from vr_testing import Answer, Fault, RecordedRequest

LONG = {"depth": 4, "sources": 12, "search_in": ["web"]}


def curious() -> ScriptedModel:
    """A model with a question that stays open, so that rounds follow each other."""
    return ScriptedModel(questions=[OUTPUT, OPENING, UNKNOWN])


async def spent(desk: Desk, **arguments: Any) -> tuple[ResearchReport, float]:
    """The whole report of a piece of research, and what the service charged for it."""
    before = desk.gemini.bill.cost_usd or 0.0
    found = await desk.record(**LONG, **arguments)
    assert found.error is None, found.error
    assert found.usage is not None
    paid = (desk.gemini.bill.cost_usd or 0.0) - before
    assert found.usage.cost_usd == pytest.approx(paid)
    return await desk.report(found.result.report_id), paid


@pytest.mark.parametrize("at_once", [1, 4])
async def test_half_of_the_cost_makes_a_report_of_fewer_rounds(
    tmp_path: Path, at_once: int
) -> None:
    async with open_desk(tmp_path / "a", model=curious(), concurrency=at_once) as desk:
        whole, cost = await spent(desk)
    async with open_desk(tmp_path / "b", model=curious(), concurrency=at_once) as desk:
        half, paid = await spent(desk, budget=cost / 2)
    assert paid <= cost / 2
    assert (whole.status, half.status) == ("done", "stopped")
    assert len(half.rounds) < len(whole.rounds) == 3
    assert 0 < len(half.sources) < len(whole.sources)
    assert half.executive_summary.startswith("The station runs")
    assert {each.source for each in half.findings[0].citations} <= {
        *range(1, len(half.sources) + 1)
    }
    assert [each.question for each in half.coverage] == [each.question for each in whole.coverage]
    assert UNKNOWN["question"] in half.not_established
    assert any("budget" in limit for limit in half.limits)


async def test_a_budget_below_the_first_request_pays_nothing(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        found = await desk.record(budget=0.0001)
        assert found.error is not None
        assert (found.error.code, found.error.category) == (Code.BUDGET, "BUDGET_EXCEEDED")
        assert desk.gemini.bill.calls == 0
        assert found.records == ()


async def test_no_budget_of_any_size_is_passed(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "whole", model=curious()) as desk:
        _, cost = await spent(desk)
    for part in (0.1, 0.2, 0.35):
        async with open_desk(tmp_path / str(part), model=curious()) as desk:
            found = await desk.record(**LONG, budget=cost * part)
            assert (desk.gemini.bill.cost_usd or 0.0) <= cost * part
            assert found.error is None or found.error.code is Code.BUDGET
            if found.error is None:
                assert found.result.status == "stopped"


@pytest.mark.parametrize("sources", [0, 2, None])
async def test_a_model_that_dies_ends_the_research_with_what_was_read(
    tmp_path: Path, sources: int | None
) -> None:
    """It dies after so many sources, or at the report; an equal call then pays for the rest."""
    model, writes = curious(), wants("executive_summary")

    def is_late(request: RecordedRequest) -> bool:
        return request.generates and (
            writes(request) if sources is None else len(model.read) >= sources
        )

    async with open_desk(tmp_path, model=model, concurrency=1) as desk:
        desk.gemini.fail(Fault.status(403), when=is_late, times=None)
        found = await desk.record(**LONG)
        if sources == 0:
            assert found.error is not None
            assert found.error.code is Code.AUTH
            assert found.records == ()
            return
        assert found.error is None
        report = await desk.report(found.result.report_id)
        assert report.status == "stopped"
        assert len(report.sources) == (sources or 9)
        assert report.findings
        assert report.executive_summary
        assert any("without a model" in limit for limit in report.limits)
        desk.gemini.heal()
        desk.gemini.answer(model.answer)
        desk.gemini.forget()
        again, _ = await spent(desk)
        assert again.status == "done"
        assert len(again.sources) == 9
        assert "questions" not in desk.asked
        assert desk.asked.count("findings") == (0 if sources is None else 9 - sources)
        assert desk.asked.count("executive_summary") == 1


@pytest.mark.parametrize(
    ("form", "finish"), [("executive_summary", "MAX_TOKENS"), ("queries", "SAFETY")]
)
async def test_an_answer_that_breaks_off_costs_that_answer_alone(
    tmp_path: Path, form: str, finish: str
) -> None:
    model = curious()
    async with open_desk(tmp_path, model=model) as desk:
        desk.gemini.heal()
        desk.gemini.answer(Answer('{"so', finish=finish), when=wants(form))
        desk.gemini.answer(model.answer)
        report, _ = await spent(desk)
    assert report.status == "stopped"
    assert report.findings
    assert any("ended early" in limit for limit in report.limits)
