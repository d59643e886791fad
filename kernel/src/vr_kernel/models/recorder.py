"""Paid requests; each attempt has a row in the usage ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from pydantic import BaseModel

from vr_kernel.errors import Code, VrError
from vr_kernel.generation import Usage
from vr_kernel.isolation.previewing import PREVIEWED
from vr_kernel.models.usage import Meter, UsageLedger
from vr_kernel.text.visible_text import visible_line

if TYPE_CHECKING:
    from vr_kernel.models.observed import SentRequest, Told
    from vr_kernel.models.provided import ProvidedModel
    from vr_kernel.spending.budget import Budget
    from vr_kernel.spending.paid_requests import Allowance, Foreseen, Paid, PaidRequest, Place
    from vr_kernel.state.usage import Attempt
    from vr_kernel.storage.room import Room, RoomOf

MOST_NAME = 200
"""Characters of the name of a model that a service says it answered with."""
UNPRICED = "The price of {model} is not known, so its cost is not counted."
_HIDDEN = frozenset(
    {"REPLY_TRUNCATED", "REPLY_UNREADABLE", "NETWORK_ERROR", "DEADLINE_EXCEEDED", Code.INTERNAL}
)
"""Categories of failures after which a provider may charge for a reply that never arrived."""


A = TypeVar("A", bound="Paid")


@dataclass(frozen=True, slots=True)
class _Shared:
    """The state that the recorders of all calls of a kernel share.

    Attributes:
        under_way: the rows of requests that have not ended.
        writing: the rows that are being written.
        sent: requests that have not ended, by their rows, while a plugin listens.
        unpriced: the models of which it was said that their price is not known.
    """

    under_way: set[object] = field(default_factory=set)
    writing: set[asyncio.Task[None]] = field(default_factory=set)
    sent: dict[int, SentRequest] = field(default_factory=dict)
    told: Told | None = None
    unpriced: set[str] = field(default_factory=set)


class UsageRecorder:
    """Records what the model calls of one tool call cost, attempt by attempt.

    Nothing is requested that could not be kept: before a request is sent, its row is in the ledger,
    the journal can be written, and also the cache where the answer will be kept; and on the disk of
    each, space for it is reserved. Rows about answers are written in the background: nothing is
    awaited between an answer and its return, so that no cancellation can come between paying for it
    and keeping it.
    """

    def __init__(
        self,
        ledger: UsageLedger,
        meter: Meter,
        limit: asyncio.Semaphore,
        *places: Place,
        budget: Budget | None = None,
        room_of: RoomOf | None = None,
        told: Told | None = None,
        shared: _Shared | None = None,
    ) -> None:
        self.meter = meter
        self._ledger = ledger
        self._budget = budget
        self._limit = limit
        self._places = places
        self._room_of = room_of
        self._shared = shared or _Shared(told=told)

    @property
    def room(self) -> asyncio.Semaphore:
        """Held by every request to a model, so that there are not too many at a time."""
        return self._limit

    def of(self, meter: Meter) -> UsageRecorder:
        """The same ledger and limit for another call."""
        more: Any = {
            "budget": self._budget,
            "room_of": self._room_of,
            "shared": self._shared,
        }
        return UsageRecorder(self._ledger, meter, self._limit, *self._places, **more)

    def keep_in(self, place: Place) -> None:
        """Also require that place to be writable before anything is paid for."""
        self._places = (*self._places, place)

    async def attempt(self, request: PaidRequest[Awaitable[A]], number: int) -> A:
        """Make one attempt and account for it."""
        allowed = await self.begin(request, number)
        with self.watched(allowed, request.model):
            answer = await request.send(allowed)
        return self.paid(allowed.row, request.model, answer)

    async def begin(self, request: PaidRequest[Any], number: int) -> Allowance:
        """Record that a request is sent; returns its row, and what it may cost.

        Raises:
            VrError: UNAVAILABLE, category STATE_UNAVAILABLE, when the folder for the answer cannot
                be written; BUDGET when no budget allows it.
        """
        if self.meter.foreseen is not None:
            await self._foresee(request, self.meter.foreseen)
        if not self.meter.usage.calls:
            for place in self._places:
                await place.check()
        asked = object()
        self._shared.under_way.add(asked)
        try:
            for room in self._rooms():
                await room.require(len(self._shared.under_way))
            allowed = await self._admit(request, number)
        finally:
            self._shared.under_way.discard(asked)
        self._shared.under_way.add(allowed.row)
        if self._shared.told:
            from vr_kernel.models.observed import SentRequest

            self._shared.sent[allowed.row] = SentRequest(request, number, self.meter)
        return allowed

    def paid(self, row: int, model: ProvidedModel, answer: A) -> A:
        """Account for an answer that arrived, and return it with its cost."""
        usage, prices = model.priced(answer.usage, answer.model)
        said = visible_line(answer.model, MOST_NAME)
        self.meter.add(usage, f"{model.provider.name}/{said}")
        if usage.cost_usd is None and model.name not in self._shared.unpriced:
            self._shared.unpriced.add(model.name)
            self.meter.tell_once(UNPRICED.format(model=model.name))
        self._write(row, self._ledger.paid(row, said, usage, prices))
        self._tell(row, usage, said)
        priced = {"usage": usage, "model": said}
        return answer.model_copy(update=priced) if isinstance(answer, BaseModel) else answer

    def failed(self, row: int, error: VrError, model: ProvidedModel | None = None) -> None:
        """Account for an attempt that failed; the error carries its cost, if any."""
        prices = ""
        if error.usage is not None:
            if model is not None:
                error.usage, prices = model.priced(error.usage, model.id)
            self.meter.add(error.usage)
        self._write(
            row,
            self._ledger.failed(
                row,
                code=error.category,
                usage=error.usage,
                maybe_paid=error.usage is None and error.category in _HIDDEN,
                prices=prices,
            ),
        )
        self._tell(row, error.usage, error=error)

    def free(self, row: int) -> None:
        """Close the row of an attempt that ended well and costs nothing by itself."""
        self._write(row, self._ledger.failed(row, code="", usage=None, maybe_paid=False))
        self._tell(row)

    def hidden(self, row: int) -> None:
        """Close the row of an attempt that was given up before its answer was seen."""
        self._write(row, self._ledger.failed(row, code="GIVEN_UP", usage=None, maybe_paid=True))
        self._tell(row, given_up=True)

    @contextmanager
    def watched(self, allowed: Allowance, model: ProvidedModel | None = None) -> Iterator[None]:
        """Account for any failure within the block, of a request to that model."""
        try:
            yield
        except VrError as error:
            allowed.explain(error)
            self.failed(allowed.row, error, model)
            raise
        except BaseException:
            self.hidden(allowed.row)
            raise

    def held(self) -> str:
        """Say if paid answers wait in memory to be written; empty when none do."""
        for room in self._rooms() if self.meter.usage.calls else ():
            if told := room.told():
                return told
        return ""

    @property
    def previews(self) -> bool:
        """True when requests are noted and not sent."""
        return self.meter.foreseen is not None

    @property
    def is_heard(self) -> bool:
        """True when a plugin is told of requests."""
        return bool(self._shared.told)

    @property
    def writing(self) -> bool:
        """True while rows are being written."""
        return bool(self._shared.writing)

    async def settle(self) -> None:
        """Wait until every row is written."""
        if self._shared.writing:
            await asyncio.wait(self._shared.writing)

    async def _foresee(self, request: PaidRequest[Any], foreseen: Foreseen) -> NoReturn:
        """Note a request instead of sending it.

        Raises:
            VrError: BUDGET, as `Budget.check`; else CANCELLED, category PREVIEWED.
        """
        try:
            if self._budget is not None:
                await self._budget.check(self._attempt(request, 1), request, self.meter)
        except VrError as error:
            foreseen.refused.append((request, error))
            raise
        foreseen.requests.append(request)
        raise VrError("A preview asks no model.", Code.CANCELLED, category=PREVIEWED)

    async def _admit(self, request: PaidRequest[Any], number: int) -> Allowance:
        from vr_kernel.spending.paid_requests import Allowance

        attempt = self._attempt(request, number)
        if self._budget is None:
            return Allowance(await self._ledger.begin(attempt))
        return await self._budget.admit(attempt, request, self.meter)

    def _attempt(self, request: PaidRequest[Any], number: int) -> Attempt:
        from vr_kernel.state.usage import Attempt

        return Attempt(
            call_id=self.meter.call_id,
            tool=self.meter.tool,
            plugin=self.meter.plugin,
            principal=self.meter.principal,
            provider=request.model.provider.name,
            model=request.model.id,
            purpose=request.purpose,
            number=number,
            media_seconds=request.media_seconds,
            tokens=request.size.expected,
        )

    def _rooms(self) -> Iterator[Room]:
        """The disk space for paid answers, where there is a folder for them."""
        for place in self._places:
            if self._room_of is not None and (folder := place.folder) is not None:
                yield self._room_of(folder)

    def _write(self, row: int, end: Coroutine[Any, Any, None]) -> None:
        self._shared.under_way.discard(row)
        task = asyncio.ensure_future(end)
        self._shared.writing.add(task)
        task.add_done_callback(self._shared.writing.discard)

    def _tell(
        self,
        row: int,
        usage: Usage | None = None,
        answered_by: str = "",
        *,
        error: VrError | None = None,
        given_up: bool = False,
    ) -> None:
        """Tell plugins of the end of a request, in the background."""
        if self._shared.told and (sent := self._shared.sent.pop(row, None)):
            event = sent.finished(usage, answered_by, error, given_up=given_up)
            self._shared.told.tell_soon(event)
