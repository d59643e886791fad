"""The figures that the plugin promises, on the fixed corpus with the scripted model."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from researchkit import ALL, open_desk
from scripted_model import ScriptedModel
from station_corpus import COUNT, FIRST, OPENED, REOPENED, SECOND, Shelf
from vr_plugin_research.results.claims import FOUND, Citation, score_of
from vr_plugin_research.results.report import ResearchReport

MOST_REFUSED = 0.01
SOURCES = 20


def quotes_of(report: ResearchReport) -> list[Citation]:
    """All quotes that carry claims."""
    return [each for claim in report.findings for each in claim.supporting]


async def test_inventions_are_caught_places_corrected_and_contradictions_listed(
    tmp_path: Path,
) -> None:
    model = ScriptedModel()
    async with open_desk(tmp_path, model=model) as desk:
        report = await desk.research(scope="comprehensive", documents=ALL)
    assert len(report.sources) == COUNT
    quotes = quotes_of(report)
    assert len(quotes) == COUNT * 10
    refused = {each.quote for each in quotes if each.status == "not_found"}
    assert model.invented <= refused
    assert len(refused - model.invented) <= MOST_REFUSED * len(model.true | {*model.moved})
    moved = {each.quote.rstrip("."): each for each in quotes if each.status == "moved"}
    wanted = {line.rstrip("."): place for line, place in model.moved.items()}
    assert moved.keys() == wanted.keys()
    assert len(moved) == COUNT
    for quote, each in moved.items():
        if each.start is None:
            assert each.place == wanted[quote]
        else:
            assert each.place[:2] == wanted[quote][:2], (each.place, wanted[quote])
        assert each.original_place not in (None, each.place)
    said = {claim.id: claim.claim for claim in report.findings}
    pairs = {frozenset({said[it.claim_a], said[it.claim_b]}) for it in report.contradictions}
    assert pairs == {frozenset({FIRST, SECOND}), frozenset({OPENED, REOPENED})}
    assert {each.kind for each in report.contradictions} == {"number", "date"}


async def test_what_was_invented_carries_no_claim_and_reaches_no_model_again(
    tmp_path: Path,
) -> None:
    async with open_desk(tmp_path) as desk:
        report = await desk.research(scope="quick", sources=5, depth=1)
        written = "\n".join(desk.texts("executive_summary"))
    for claim in report.findings:
        if not any(each.status in FOUND for each in claim.supporting):
            assert claim.evidence_tier in ("SPECULATION", "UNKNOWN")
            assert claim.confidence <= 0.4
            assert claim.notes
    assert desk.model.invented
    assert not any(quote in written for quote in desk.model.invented)
    assert report.score == score_of(report.findings)
    assert report.score.not_found == len(desk.model.invented)


class Waves:
    """Holds sources back until as many are under way as may be, and lets them go together."""

    def __init__(self, at_once: int, count: int) -> None:
        self.waves = self.peak = 0
        self._at_once = at_once
        self._left = count
        self._waiting: list[asyncio.Future[None]] = []

    async def __call__(self, _address: str) -> None:
        mine = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        self.peak = max(self.peak, len(self._waiting))
        if len(self._waiting) == min(self._at_once, self._left):
            self.waves += 1
            self._left -= len(self._waiting)
            for each in self._waiting:
                each.set_result(None)
            self._waiting.clear()
        await asyncio.wait_for(mine, 60)


@pytest.mark.parametrize("at_once", [3, 8])
async def test_sources_are_read_as_many_at_once_as_may_be(tmp_path: Path, at_once: int) -> None:
    """As many waves as there must be: sources of one second each take no second more."""
    waves = Waves(at_once, SOURCES)
    shelf = Shelf(waves)
    async with open_desk(tmp_path, shelf=shelf, concurrency=at_once) as desk:
        report = await desk.research(
            documents=ALL[:SOURCES], sources=SOURCES, depth=1, engine="local", search_in=[]
        )
    assert len(report.sources) == SOURCES
    assert waves.peak == at_once
    assert waves.waves == -(-SOURCES // at_once)
