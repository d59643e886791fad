"""Researches that are killed at random moments: nothing is paid twice, the report is the same."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from killed_research import ONE_BY_ONE, RESEARCH, KilledResearch

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(os.name == "nt", reason="SIGKILL and fork are POSIX"),
]


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[KilledResearch]:
    with KilledResearch(tmp_path) as calls:
        yield calls


@pytest.mark.parametrize("kills", [10, pytest.param(40, marks=pytest.mark.slow)])
def test_a_kill_costs_nothing_and_changes_nothing(killed: KilledResearch, kills: int) -> None:
    """Every second time the job is resumed; else an equal call is made."""
    killed.begin(RESEARCH)
    chance = random.Random(kills)
    for number in range(kills):
        killed.kill_at_random(replace(RESEARCH, resumed=number % 2 == 1), chance)


def test_a_resumed_job_tells_what_was_paid_in_all(killed: KilledResearch) -> None:
    whole = killed.begin(ONE_BY_ONE)["usage"]
    assert whole["calls"] == killed.requests
    before = killed.gemini.bill
    resumed = killed.kill(ONE_BY_ONE, "request", killed.requests)["usage"]
    paid = killed.gemini.bill
    assert resumed["calls"] == paid.calls - before.calls == whole["calls"]
    assert resumed["cost_usd"] == pytest.approx((paid.cost_usd or 0) - (before.cost_usd or 0))
