"""Research from a question to a report, round by round."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import TypeVar

from vr_kernel import Call, Code, VrError

from vr_plugin_research.analysts.analyst import Analyst
from vr_plugin_research.analysts.local_analyst import LocalAnalyst
from vr_plugin_research.dossier.dossier import Dossier
from vr_plugin_research.dossier.entries import Found
from vr_plugin_research.engine.coverage import coverage_of, novelty, open_questions
from vr_plugin_research.engine.progress import ResearchProgress
from vr_plugin_research.engine.spending import Spending
from vr_plugin_research.gathering.places import Place
from vr_plugin_research.instructions.synthesis import Synthesis
from vr_plugin_research.request import ResearchRequest
from vr_plugin_research.results.report import ResearchReport, Round
from vr_plugin_research.settings import ResearchSettings
from vr_plugin_research.stages.checks import check
from vr_plugin_research.stages.queries import ask
from vr_plugin_research.stages.reading import Reading
from vr_plugin_research.stages.report import assemble, sources_of, write
from vr_plugin_research.stages.search import search
from vr_plugin_research.stages.selection import choose, keep

R = TypeVar("R", bound=ResearchReport)
STOPS = frozenset({Code.BUDGET, Code.UNAVAILABLE, Code.QUOTA, Code.AUTH})
"""Errors of sources after which nothing else can be read, either."""
ENDS = frozenset({Code.CONFLICT, Code.CANCELLED})
"""Errors after which nothing is written; after any other, research ends with what it has."""


class Research:
    """One piece of research over a dossier.

    Args:
        call: that reads and pays.
        dossier: takes what is gathered.
        request: what is asked.
        analyst: asks, judges, reads and writes.
        spending: keeps to the budget.
    """

    def __init__(
        self,
        call: Call,
        dossier: Dossier,
        request: ResearchRequest,
        analyst: Analyst,
        spending: Spending,
    ) -> None:
        self._call = call
        self._dossier = dossier
        self._request = request
        self._analyst = analyst
        self._spending = spending
        self._settings: ResearchSettings = call.settings
        limits = request.limits
        self._progress = ResearchProgress(call, spending, limits.rounds, limits.sources)
        self._rounds: list[Round] = []
        self._errors: list[VrError] = []
        self._tried: set[str] = set()
        self.limits: list[str] = []
        self.stopped = False

    async def plan(self) -> None:
        """Find the questions, unless the dossier has them.

        Raises:
            VrError: what the analyst raises.
        """
        self._progress.planning()
        if not self._dossier.questions:
            asked = await self._analyst.questions(self._dossier, self._request.scope)
            self._dossier.questions = asked
            if self._analyst.engine == "local":  # headings, which nobody asked
                self._tried = {each.question for each in asked[1:]}

    async def gather(self, places: Sequence[Place], texts: Mapping[str, str]) -> None:
        """Go through the rounds, until a limit is reached or nothing new is found.

        Raises:
            VrError: UNAVAILABLE, category SOURCES_UNAVAILABLE, when every search failed and nothing
                could be read; CONFLICT, category LEASE_LOST.
        """
        reading = Reading(self._call, self._dossier, self._analyst, texts, self._spending.is_kept)
        for number in range(1, self._request.limits.rounds + 1):
            try:
                again = await self._round(number, places, reading)
            except VrError as error:
                if error.code in ENDS or not self._dossier.sources:
                    raise
                self._stop(error)
                break
            if not again:
                break
        self._tell_errors()

    async def mapped(self, base: R, today: date, summary: str) -> R:
        """The report of documents that were only mapped: a summary, and no claims."""
        sources = sources_of(self._dossier, self._settings, today)
        return await assemble(
            self._dossier, Synthesis(executive_summary=summary, claims=[]), sources, base
        )

    async def write(self, base: R, today: date) -> R:
        """Write the report; by likeness where the analyst cannot, so that nothing is lost."""
        self._progress.writing(len(self._dossier.findings))
        try:
            report = await write(self._dossier, self._analyst, self._settings, base, today)
        except VrError as error:
            if error.code in ENDS:
                raise
            self._stop(error)
            self.limits.append("The findings were put together by their words, without a model.")
            report = await write(self._dossier, LocalAnalyst(), self._settings, base, today)
        covered = [
            each
            for each in coverage_of(self._dossier, report.findings)
            if each.claims or each.question not in self._tried
        ]
        return report.model_copy(
            update={
                "coverage": covered,
                "not_established": [it.question for it in covered if not it.established],
                "rounds": self._rounds,
                "limits": [*report.limits, *self.limits],
                "status": "stopped" if self.stopped else "done",
            }
        )

    async def _round(self, number: int, places: Sequence[Place], reading: Reading) -> bool:
        """Go through one round; False when another one would be of no use."""
        dossier, limits = self._dossier, self._request.limits
        gaps = open_questions(dossier)
        queries = await ask(dossier, self._analyst, number, gaps, limits.queries) if places else []
        self._progress.searching(number, len(queries))
        self._errors += await search(
            self._call,
            dossier,
            queries,
            places,
            limit=self._settings.results_per_query,
            at_once=self._settings.concurrency,
        )
        fresh = [each for each in dossier.found if each.round == number]
        kept = await keep(dossier, self._analyst, number)
        left = limits.sources - len(dossier.sources)
        # What a later round finds may be better, so no round takes all that is left.
        share = -(-left // (limits.rounds - number + 1))
        chosen = await choose(dossier, max(share, _given(kept)))
        before = list(dossier.findings)
        at_once = self._settings.concurrency
        read = await reading.read(chosen, number, at_once, self._progress.reading)
        findings = await check(dossier, read)
        new = await asyncio.to_thread(novelty, before, findings)
        self._rounds.append(
            Round(
                number=number,
                queries=[each.text for each in queries],
                found=len(fresh),
                kept=len(kept),
                read=len(read),
                findings=len(findings),
                novelty=new,
            )
        )
        if reading.refused is not None:
            self._stop(reading.refused)
            return False
        return await self._goes_on(number, fresh=len(fresh), new=new)

    async def _goes_on(self, number: int, *, fresh: int, new: float) -> bool:
        """Tell if another round may find more, and say why not."""
        last = number >= self._request.limits.rounds
        if self._spending.stopped or (not last and await self._spending.is_kept()):
            self.stopped = True
            self.limits.append(
                f"The reading ended in round {number}: the rest of the budget is for the report."
            )
            return False
        if last:
            return False
        if not open_questions(self._dossier):
            self.limits.append(f"Every question was answered after round {number}.")
            return False
        if not fresh:
            self.limits.append(f"Round {number} found no new source.")
            return False
        if new < self._settings.least_novelty and self._dossier.findings:
            self.limits.append(f"Round {number} brought little new, so it was the last.")
            return False
        return True

    def _stop(self, error: VrError) -> None:
        self.stopped = True
        self.limits.append(f"It ended early: {error.message} {error.hint}".strip())

    def _tell_errors(self) -> None:
        failures = [each.failure for each in self._dossier.failures]
        if not self._dossier.sources and any(Code(each.code) in STOPS for each in failures):
            first = next(each for each in failures if Code(each.code) in STOPS)
            raise VrError(
                f"No source could be read. {first.message}",
                Code(first.code),
                category=first.category,
                hint=first.hint,
                retryable=Code(first.code) is Code.UNAVAILABLE,
            )
        told = dict.fromkeys(f"{it.message} {it.hint}".strip() for it in self._errors)
        if self._errors and not self._dossier.sources:
            raise VrError(
                f"Nothing could be searched or read. {next(iter(told))}",
                Code.UNAVAILABLE,
                category="SOURCES_UNAVAILABLE",
                hint="Give documents, or configure a search: `vr doctor` shows what is missing.",
                retryable=any(each.retryable for each in self._errors),
            )
        self.limits += [f"A search failed: {each}" for each in list(told)[:5]]


async def begun_at(dossier: Dossier) -> datetime:
    """The moment at which this piece of research was begun, the same after a crash."""

    async def now() -> str:
        return datetime.now(UTC).isoformat(timespec="seconds")

    return datetime.fromisoformat(await dossier.once("begun", now))


def _given(kept: Sequence[Found]) -> int:
    return sum(each.given for each in kept)
