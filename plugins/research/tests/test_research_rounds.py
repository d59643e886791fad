"""Rounds of research: how they follow each other, and why the last one is the last."""

from __future__ import annotations

from pathlib import Path

from researchkit import ALL, open_desk
from scripted_model import OPENING, OUTPUT, UNKNOWN, ScriptedModel
from station_corpus import Shelf
from vr_kernel import Document, Locator, Segment

OPEN = [OUTPUT, OPENING, UNKNOWN]


async def test_a_round_without_news_is_the_last(tmp_path: Path) -> None:
    """All sources say the same, so the second round has nothing that the first had not."""
    shelf = Shelf(count=0)
    for number in range(12):
        address = f"https://same{number}.example/"
        known = "the survey" if number > 5 else "everybody"
        text = f"The Severn Point station opened in 1998 for {known}."
        segments = [Segment(text, Locator(page=1), address)]
        shelf.documents[address] = Document(address, "T", "text/plain", f"{number:064}", segments)
    model = ScriptedModel(questions=OPEN)
    async with open_desk(tmp_path, shelf=shelf, model=model, results_per_query=3) as desk:
        report = await desk.research(depth=5, sources=12, search_in=["web"])
    assert [each.novelty >= 0.2 for each in report.rounds] == [True, False]
    assert any("little new" in limit for limit in report.limits)
    assert report.status == "done"
    assert len(report.sources) < 12


async def test_rounds_go_on_while_a_question_is_open(tmp_path: Path) -> None:
    async with open_desk(tmp_path, model=ScriptedModel(questions=OPEN)) as desk:
        report = await desk.research(depth=3, sources=9, search_in=["web"])
    assert [each.number for each in report.rounds] == [1, 2, 3]
    assert sum(each.read for each in report.rounds) == len(report.sources) <= 9
    assert UNKNOWN["question"] in report.not_established
    covered = {each.question: each for each in report.coverage}
    assert covered[OUTPUT["question"]].established
    assert not covered[UNKNOWN["question"]].established
    searches = [each for row in report.rounds for each in row.queries]
    assert len({*searches}) == len(searches)
    assert {*desk.shelf.searches} == {*searches}


async def test_answered_questions_end_it(tmp_path: Path) -> None:
    async with open_desk(tmp_path, model=ScriptedModel(questions=[OUTPUT])) as desk:
        report = await desk.research(depth=5, sources=30, search_in=["web"])
    assert len(report.rounds) == 1
    assert any("Every question was answered" in limit for limit in report.limits)


async def test_progress_names_phases_sources_and_cost(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        found = await desk.record(depth=1, documents=ALL[:3], search_in=[])
    told = [each.message for each in found.progress]
    for word in ("Planning", "Round 1 of 1", "read 3 of 3 sources", "Writing", "$"):
        assert any(word in each for each in told), word
    done = [each.done for each in found.progress]
    assert done == sorted(done)
    assert all(each.total is not None and each.done <= each.total for each in found.progress)
