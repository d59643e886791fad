"""Plans: made, edited, approved, and followed."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from researchkit import ALL, TOPIC, Desk, open_desk
from scripted_model import OPENING, OUTPUT
from vr_kernel import Code
from vr_kernel.questions import Answer
from vr_plugin_research.analysts.asking import Asking
from vr_plugin_research.instructions import questions
from vr_testing import RecordedCall

SMALL: Mapping[str, Any] = {"depth": 1, "sources": 2, "search_in": ["web"]}
OWN = {"questions": [{"question": "Who pays for the sluice gates?", "queries": ["sluice gates"]}]}
NONSENSE: Mapping[str, Any] = {
    "no questions": {"questions": []},
    "blank questions": {"questions": [{"question": "  "}]},
    "no list": {"questions": 7},
    "numbers": {"questions": [1, 2]},
    "nested": {"questions": [{"question": {"question": "?"}}]},
    "many": {"questions": ["So?"] * 1_000},
    "a megabyte": {"questions": ["x" * 1_000_000]},
    "many searches": {"questions": [{"question": "So?", "queries": ["x"] * 10_000}]},
    "wrong scope": {**OWN, "scope": "galactic"},
    "no number": {**OWN, "rounds": "many"},
    "a misspelt name": {**OWN, "document": ["a.pdf"]},
    "a misspelt name in a question": {"questions": [{"question": "So?", "qeries": ["x"]}]},
    "a name of a file": "plan.json",
    "no object": "[1, 2]",
    "no JSON": "{so",
    "broken id": "../../plans",
    "a long id": "x" * 1_000_000,
}


async def planned(desk: Desk, **arguments: Any) -> RecordedCall:
    """A recorded call of `research_plan`."""
    found = await desk.record("research_plan", **arguments)
    assert found.error is None, found.error
    return found


async def test_a_plan_is_priced_recorded_and_followed(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        plan = (await planned(desk, scope="deep", available_agents=3)).result
        assert [each.question for each in plan.questions] == [
            OUTPUT["question"],
            OPENING["question"],
        ]
        assert plan.phases[0].tasks[0].task == "Search the web"
        assert plan.structured
        assert 0 < plan.cost_low_usd < plan.cost_high_usd
        desk.gemini.forget()
        report = await desk.research(plan=plan.plan_id, **SMALL)
        assert "questions" not in desk.asked
        assert [each.question for each in report.coverage] == [
            each.question for each in plan.questions
        ]
        assert desk.shelf.searches == [OUTPUT["queries"][0], OPENING["queries"][0]]


@pytest.mark.parametrize("form", [lambda plan: plan, json.dumps], ids=["object", "text"])
async def test_an_edited_plan_is_followed(tmp_path: Path, form: Callable[[Any], Any]) -> None:
    async with open_desk(tmp_path) as desk:
        plan = (await planned(desk)).data
        edited = {**plan, **OWN, "unknown": 1}
        report = await desk.research(plan=form(edited), **SMALL)
        assert [each.question for each in report.coverage] == ["Who pays for the sluice gates?"]
        assert desk.shelf.searches == ["sluice gates"]


async def test_nonsense_is_no_plan(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        for name, plan in NONSENSE.items():
            found = await desk.record(plan=plan)
            assert found.error is not None, name
            named = name in ("no object", "broken id", "a long id", "a name of a file")
            assert found.error.code is (Code.NOT_FOUND if named else Code.INVALID_INPUT), name
            assert found.error.category == ("PLAN_UNKNOWN" if named else "PLAN_INVALID"), name
            assert len(found.error.message) + len(found.error.hint) < 2_000, name
            assert found.records == ()
        assert desk.gemini.requests == []
        assert desk.shelf.searches == []


async def test_the_plan_of_another_is_unknown(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        made = await desk.kernel.run("research_plan", {"topic": TOPIC}, principal="ann")
        asked = {"topic": TOPIC, "plan": made.data["plan_id"], **SMALL}
        other = await desk.kernel.run("research_deep", asked, principal="bob")
        assert other.error is not None
        assert other.error.category == "PLAN_UNKNOWN"
        assert made.data["plan_id"] not in other.error.hint
        own = await desk.kernel.run("research_deep", asked, principal="ann")
        assert own.error is None


async def test_a_plan_without_form_keeps_what_was_paid(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        desk.gemini.heal()
        desk.gemini.answer("First search, then read, then write.")
        found = await planned(desk)
        plan = found.result
        assert (plan.structured, plan.text) == (False, "First search, then read, then write.")
        assert plan.limits
        assert [each.kind for each in found.records] == ["ResearchPlans"]
        followed = await desk.record(plan=plan.plan_id)
        assert followed.error is not None
        assert followed.error.category == "PLAN_INVALID"


def answering(**answer: Any) -> Callable[..., Awaitable[Any]]:
    """Somebody who answers every question so."""

    async def ask(_question: Any, *, paid: bool) -> Answer:
        del paid
        return Answer("accept", answer)

    return ask


async def approving(desk: Desk, what: str, **options: Any) -> Any:
    asked = {"topic": TOPIC, "approve": [what], **SMALL}
    return await desk.kernel.run("research_deep", asked, **options)


async def test_a_plan_that_nobody_approves_waits(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        for options in ({}, {"ask": answering(approve=False)}):
            found = await approving(desk, "plan", **options)
            assert found.error is None
            assert found.data["status"] == "waiting"
            assert (desk.shelf.searches, desk.shelf.loads) == ([], [])
            assert found.data["open_questions"] == [OUTPUT["question"], OPENING["question"]]
        report = await desk.research(plan=found.data["plan_id"], **SMALL)
        assert report.status == "done"
        assert desk.asked.count("questions") == 1


async def test_an_approved_plan_keeps_to_its_documents_and_places(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        asked = {"topic": TOPIC, "approve": ["plan"], "documents": [ALL[3]], "search_in": []}
        found = await desk.kernel.run("research_deep", asked)
        report = await desk.research(plan=found.data["plan_id"])
    assert [each.source for each in report.sources] == [ALL[3]]
    assert desk.shelf.searches == []


async def test_who_approves_may_ask_something_else(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        yes = await approving(desk, "plan", ask=answering(approve=True))
        assert yes.data["status"] == "done"
        mine = answering(approve=False, questions="Who pays for the sluice gates?\n\n")
        own = await approving(desk, "plan", ask=mine)
        report = await desk.report(own.data["report_id"])
    assert [each.question for each in report.coverage] == ["Who pays for the sluice gates?"]


async def test_spending_that_nobody_approves_is_not_begun(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        for options in ({}, {"ask": answering(approve=False)}):
            found = await approving(desk, "spend", **options)
            assert found.error is not None
            assert (found.error.code, found.error.category) == (Code.CANCELLED, "NOT_APPROVED")
            assert "$" in found.error.hint
        assert desk.gemini.requests == []
        yes = await approving(desk, "spend", ask=answering(approve=True))
        assert (yes.error, yes.data["status"]) == (None, "done")


async def test_another_version_of_a_task_is_another_question(tmp_path: Path) -> None:
    """An answer is kept by the version of its task: a new one asks again, the old one does not."""
    from types import SimpleNamespace

    from pydantic import BaseModel
    from vr_kernel import PAID, Call, hookimpl, tool

    class Said(BaseModel):
        count: int

    @tool(effects=PAID, long=True)
    async def trial_ask(call: Call, version: int) -> Said:
        """Ask for questions."""
        task = replace(questions.TASK, version=version)
        answer = await Asking(call).ask(task, ["Ask."])
        return Said(count=len(answer.questions))

    trial_ask.__annotations__.update(call=Call, version=int)
    trial_ask.__annotations__["return"] = Said
    plugin = SimpleNamespace(vr_tools=hookimpl(lambda: [trial_ask]))
    async with open_desk(tmp_path, plugins={"trial": plugin}) as desk:
        for version in (1, 2, 1, 2):
            await desk.kernel.call("trial_ask", version=version)
        assert desk.asked == ["questions"] * 2
