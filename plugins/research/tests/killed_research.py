"""Researches that are killed at random moments, in processes of their own."""

from __future__ import annotations

import json
import random
import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from scripted_model import ScriptedModel
from vr_testing import RecordedRequest
from vr_testing.killed_calls import KilledCalls, PaidCall, Run

PLUGINS = {"research": "vr_plugin_research.plugin", "shelf": "station_corpus:Shelf"}
MOST_CALLS = 60_000
"""Function calls between an arrival and a kill, at most: as far as the report is recorded."""
_WORD = re.compile(r"\b731\d{5}\b")
_OF_ONE_CALL = frozenset({"report_id", "created_at"})


def answer(request: RecordedRequest, word: str) -> Mapping[str, Any]:
    """The answer of a model that is new for each request, but says the same."""
    return ScriptedModel().answer(request, word)


RESEARCH = PaidCall(
    "research_deep",
    {"topic": "The Severn Point station", "depth": 2, "sources": 4},
    answer,
    ordered=False,
)
"""A piece of research in two rounds."""
ONE_BY_ONE = replace(
    RESEARCH, settings={"plugins.research.concurrency": 1}, resumed=True, ordered=True
)
"""The same as a job that reads one source at a time, and is resumed."""


class KilledResearch(KilledCalls):
    """Kills one piece of research at random moments, and compares the reports.

    Attributes:
        report: that of the undisturbed run.
        arrivals: how often data arrived in that one.
        requests: how often a model was asked in that one.
        last: the newest run.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(PLUGINS, folder)
        self.report: Mapping[str, Any] = {}
        self.arrivals = self.requests = 0
        self.last = Run([], None)

    def begin(self, call: PaidCall) -> Mapping[str, Any]:
        """Make the call undisturbed, and return its result."""
        self._prepare(call)
        ended = self._run(call).ended
        assert ended is not None
        assert ended["state"] == "done", ended
        self.arrivals, self.requests = int(ended["arrived"]), len(self.last.asked)
        self.report = reports_below(self.home)[0]
        found: Mapping[str, Any] = ended["data"]
        return found

    def kill(self, call: PaidCall, kind: str, number: int, moment: int = 0) -> Mapping[str, Any]:
        """Kill the call at a moment, end it then, and return its result.

        Asserts that no committed reply is paid again, that the ledger has the whole bill, and that
        the report is the undisturbed one.
        """
        self._said.clear()  # of earlier runs, which left nothing
        self._kill(call, kind, number, moment)
        for found in reports_below(self.home):
            other = [name for name in found if found[name] != self.report[name]]
            assert not other, [(name, found[name], self.report[name]) for name in other]
        assert self.last.ended is not None
        data: Mapping[str, Any] = self.last.ended["data"]
        return data

    def kill_at_random(self, call: PaidCall, chance: random.Random) -> None:
        """Kill the call at a random moment: at a request, or some calls after an answer."""
        if chance.random() < self.requests / (self.requests + 2 * self.arrivals):
            self.kill(call, "request", chance.randint(1, self.requests))
        else:
            moment = int(MOST_CALLS ** chance.random()) - 1
            self.kill(call, "arrival", chance.randint(1, self.arrivals), moment)

    def _run(self, call: PaidCall, **death: int) -> Run:
        self.last = super()._run(call, **death)
        return self.last


def reports_below(home: Path) -> list[Mapping[str, Any]]:
    """The reports that are recorded below a folder, without what differs from call to call."""
    with closing(sqlite3.connect(next((home / "state").glob("journal*.db")))) as connection:
        rows = connection.execute(
            "SELECT fields FROM record WHERE kind = 'ResearchReports'"
        ).fetchall()
    wholes = [json.loads(_WORD.sub("W", json.loads(row[0])["report_json"])) for row in rows]
    assert wholes, "no report is recorded"
    return [
        {name: value for name, value in whole.items() if name not in _OF_ONE_CALL}
        for whole in wholes
    ]
