"""Researches that are killed at every moment: none is begun twice, none is paid twice."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from vr_testing import RecordedRequest, killed_calls
from vr_testing.killed_calls import KilledCalls, PaidCall

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(120),
    pytest.mark.skipif(os.name == "nt", reason="SIGKILL and fork are POSIX"),
]
ID = re.compile(rb"fake_interaction_\d+")
MOMENTS = (0, 250, 500, 1_000, 1_500, 2_000)
"""Numbers of function calls between an arrival and a kill: as far as the end of a short call."""
NAME = {"interaction_id": "{interaction_id}"}


class KilledResearch(KilledCalls):
    """A start is committed as soon as the id of the research is in a database."""

    def _is_committed(self, key: str) -> bool:
        return bool(ids_below(self.home) - ids_below(self._start))


def ids_below(folder: Path) -> set[bytes]:
    """The researches that are named in the databases of a folder."""
    files = [*folder.rglob("*.db"), *folder.rglob("*.db-wal")]
    return {found for file in files for found in ID.findall(file.read_bytes())}


@pytest.fixture
def killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KilledResearch]:
    monkeypatch.setattr(killed_calls, "MOMENTS", MOMENTS)
    with KilledResearch({"research": "test_research_web"}, tmp_path) as calls:
        calls.gemini.background_polls = 0
        yield calls


def answer(_request: RecordedRequest, word: str) -> str:
    return f"# Pumps\n\nThey were {word}."


BEFORE = (
    ("research_web", {"topic": "How pumps came to be used in mills"}),
    ("research_web_status", NAME),
)
FOLLOWUP = {**NAME, "question": "Why late?"}
CALLS = {
    "begun": PaidCall(*BEFORE[0], answer),
    "begun, resumed": PaidCall(*BEFORE[0], answer, resumed=True),
    "asked about": PaidCall("research_web_followup", FOLLOWUP, answer, before=BEFORE),
    "asked about, resumed": PaidCall(
        "research_web_followup", FOLLOWUP, answer, before=BEFORE, resumed=True
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_begun_twice(killed: KilledResearch, name: str) -> None:
    assert killed.check(CALLS[name]) > 2
