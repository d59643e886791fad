"""Research that is paid for: each one is in the usage ledger once, however often it is asked for.

The service tells the cost when a research has ended, to everybody who asks then. Whoever is the
first to hear it claims it in a row that all processes share, and accounts for it.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from vr_kernel.errors import Code, VrError
from vr_kernel.gemini.research_status import ResearchStatus, failed_research, reply_of
from vr_kernel.jobs.completion import complete
from vr_kernel.models.provided import ProvidedModel
from vr_kernel.progress import Report, silent
from vr_kernel.spending.paid_requests import PaidRequest
from vr_kernel.spending.sizes import Size
from vr_kernel.state.rows import ROW_CHANGED

if TYPE_CHECKING:
    from vr_kernel.gemini.research import Research
    from vr_kernel.generation import Reply
    from vr_kernel.log import Log
    from vr_kernel.models.provider import ModelProvider
    from vr_kernel.models.recorder import UsageRecorder
    from vr_kernel.state.rows import OpenRows

S = TypeVar("S")
AGENT = "deep-research"
"""The model of a research in the usage ledger, until it is known which one answered."""
PURPOSE = "research"
CLAIMED = "research/"
"""Beginning of the keys of claims."""
CLAIMED_S = 90 * 86_400.0
"""Seconds that a claim is kept; the service itself forgets a research after 55 days."""


class Claims:
    """The researches whose cost is in the usage ledger, in rows of the kernel."""

    def __init__(self, rows: OpenRows, log: Log) -> None:
        self._rows = rows
        self._log = log

    async def has(self, started: str) -> bool:
        """True when the cost of a research is in the ledger."""
        try:
            return await (await self._rows()).get(CLAIMED + started) is not None
        except VrError as error:
            return self._unknown(error)

    async def claim(self, started: str) -> bool:
        """Claim to account for a research; False for all but the first who does.

        When claims cannot be kept, everybody accounts for it: rather twice than not at all.
        """
        try:
            rows = await self._rows()
            until = time.time() + CLAIMED_S
            await rows.put(CLAIMED + started, value=True, expected=0, expires_at=until)
        except VrError as error:
            return error.category != ROW_CHANGED and not self._unknown(error)
        return True

    def _unknown(self, error: VrError) -> bool:
        self._log.warning("cost of a research not marked as counted", error=error.message)
        return False


class PaidResearch:
    """Research on behalf of one call, which accounts for it.

    Args:
        research: asks the service.
        claims: tell what is in the ledger already.
        models: the provider that knows the prices.
        recorder: of the call.
    """

    def __init__(
        self, research: Research, claims: Claims, models: ModelProvider, recorder: UsageRecorder
    ) -> None:
        self._research = research
        self._claims = claims
        self._models = models
        self._recorder = recorder

    async def start(self, prompt: str, agent: str = "", previous: str = "") -> str:
        """Start a research; see `Research.start`. That is free, its result has the cost."""

        async def send() -> str:
            return await self._research.start(prompt, agent, previous)

        asked = self._research.asked(agent, previous) if previous else AGENT
        request = self._request(asked, send)
        allowed = await self._recorder.begin(request, 1)
        with self._recorder.watched(allowed):
            started = await request.send(allowed)
        self._recorder.free(allowed.row)
        return started

    async def status(self, started: str) -> ResearchStatus:
        """Look at a research, and account for it when it has ended. A preview does not look."""
        if self._recorder.previews:
            return ResearchStatus(state="in_progress")
        return await self._settled(started, await self._research.status(started))

    async def cancel(self, started: str) -> ResearchStatus:
        """Cancel a research, and account for what it has cost. A preview leaves it alone."""
        if self._recorder.previews:
            return ResearchStatus(state="in_progress")
        return await self._settled(started, await self._research.cancel(started))

    async def result(self, started: str, report: Report = silent) -> Reply:
        """Wait for the answer of a research, and account for it.

        Raises:
            VrError: as `reply_of`; as `Research.result`.
        """

        async def send() -> ResearchStatus:
            return await self._research.result(started, report)

        request = self._request(AGENT, send)
        allowed = await self._recorder.begin(request, 1)
        with self._recorder.watched(allowed, request.model):
            status = await request.send(allowed)
        return reply_of(await complete(self._accounted(allowed.row, started, status)))

    async def _settled(self, started: str, status: ResearchStatus) -> ResearchStatus:
        """Return a status with its cost, which is accounted for if nobody has done so."""
        if not status.has_ended:
            return status

        async def nothing() -> None:
            """Stand for the request: it was sent, and is paid for."""

        # It costs nothing more, so no budget stops it.
        request = self._request(status.model or AGENT, nothing, Size(most=0))
        if await self._claims.has(started):
            return _priced(request.model, status)
        try:
            allowed = await self._recorder.begin(request, 1)
        except VrError as error:
            if error.code is not Code.BUDGET:
                raise
            return status  # of a model whose price is not known, under a budget
        return await complete(self._accounted(allowed.row, started, status))

    async def _accounted(self, row: int, started: str, status: ResearchStatus) -> ResearchStatus:
        """Close a row of the ledger by a research that has ended; it counts in one row only."""
        model = ProvidedModel(self._models, status.model or AGENT)
        if not await self._claims.claim(started):
            self._recorder.free(row)
            return _priced(model, status)
        if status.answers:
            return self._recorder.paid(row, model, status)
        if not status.usage.charged:
            self._recorder.hidden(row)
            return status
        error = failed_research(status)
        self._recorder.failed(row, error, model)
        return status.model_copy(update={"usage": error.usage or status.usage})

    def _request(
        self,
        asked: str,
        send: Callable[[], Awaitable[S]],
        size: Size = Size(heard=True),  # noqa: B008 - frozen; nothing bounds a research
    ) -> PaidRequest[Awaitable[S]]:
        model = ProvidedModel(self._models, asked)
        return PaidRequest(model, PURPOSE, lambda _allowed: send(), size=size)


def _priced(model: ProvidedModel, status: ResearchStatus) -> ResearchStatus:
    """A status with what it costs in dollars, where that is known."""
    if not status.usage.charged:
        return status
    usage, _ = model.priced(status.usage, status.model or model.id)
    return status.model_copy(update={"usage": usage})
