"""Budgets: nothing is sent that could cost more than the user allows."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from vr_kernel.config.model_settings import ModelsSettings
from vr_kernel.errors import Code, VrError
from vr_kernel.spending.paid_requests import Allowance, PaidRequest
from vr_kernel.spending.prices import Price
from vr_kernel.state.usage import LEAST_USD, Attempt, Limit, LimitReachedError, Spent

if TYPE_CHECKING:
    from vr_kernel.models.usage import Meter, UsageLedger

SHORTEST_ANSWER = 1_024
"""Tokens; nothing is asked for less, as an answer that is cut is of little use."""
SENT_ANSWER = 16_384
"""Most tokens that an answer may have of a model of which no limit is known."""
WAIT_S = 120.0
"""Longest wait for other requests that may turn out to cost less than they can."""
PAUSE_S = 0.05
SECONDS_PER_DAY = 86_400
ALONE = "-"
"""The call of a request that belongs to none: nothing else counts as its."""
EXCEEDED = "BUDGET_EXCEEDED"
OWN = "budget"
"""Name of the limit that a call sets itself."""
EASED = (
    "{share:.0%} of the budget of {usd} ({name}) is used: models think less and look"
    " less closely now, and this result is not kept in the cache."
)


class Budget:
    """Holds requests to models against the budgets of the user.

    The most that a request can cost is reserved with its row in the ledger, in one transaction of
    all processes, until its cost is known. Where only the reservations of others are in the way, it
    waits for them; where the rest allows only a shorter answer, the answer is limited to that.

    Args:
        settings: returns the current settings.
        ledger: of all requests.
        clock: seconds since the epoch.
        sleep: waits for seconds.
    """

    def __init__(
        self,
        settings: Callable[[], ModelsSettings],
        ledger: UsageLedger,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._settings = settings
        self._ledger = ledger
        self._clock = clock
        self._sleep = sleep

    async def admit(self, attempt: Attempt, request: PaidRequest[Any], meter: Meter) -> Allowance:
        """Begin an attempt, and return what it may cost.

        Raises:
            VrError: BUDGET, category BUDGET_EXCEEDED, when no budget is left for it; PRICE_UNKNOWN
                when there is a budget, and nothing bounds what the request costs; UNAVAILABLE when
                the ledger cannot be written.
        """
        limits = self._limits(attempt, meter)
        if not limits:
            return Allowance(await self._ledger.begin(attempt))
        bounds = _Bounds.of(request, limits)
        if not bounds.price.is_charged:
            return Allowance(await self._ledger.begin(attempt))
        eased = await self._is_tight(limits, meter)
        row, output = await self._begin(attempt, bounds, limits)
        return Allowance(row, output, eased)

    async def check(self, attempt: Attempt, request: PaidRequest[Any], meter: Meter) -> None:
        """Refuse a request that no budget has room for, whatever becomes of those under way.

        Raises:
            VrError: as `admit`.
        """
        if not (limits := self._limits(attempt, meter)):
            return
        bounds = _Bounds.of(request, limits)
        for limit in limits if bounds.price.is_charged else ():
            spent: Spent = await self._ledger.spent(limit)
            left = limit.usd - spent.usd + spent.open
            if bounds.cost(bounds.shortest) > left + LEAST_USD:
                raise _exceeded(limit, left, bounds)

    async def _begin(
        self, attempt: Attempt, bounds: _Bounds, limits: list[Limit]
    ) -> tuple[int, int | None]:
        answer, waited = bounds.answer, 0.0
        while True:
            most = bounds.cost(answer)
            try:
                row = await self._ledger.begin(replace(attempt, most_usd=most), limits)
            except LimitReachedError as reached:
                left = reached.limit.usd - reached.spent.usd
                could_fit = left + reached.spent.open >= bounds.cost(bounds.shortest)
                if reached.spent.open and could_fit and waited < WAIT_S:
                    await self._sleep(PAUSE_S)
                    waited += PAUSE_S
                    continue
                shorter = bounds.answer_for(left)
                if shorter < bounds.shortest or shorter >= answer:
                    raise _exceeded(reached.limit, left, bounds) from None
                answer = shorter
            else:
                return row, answer if answer < bounds.answer or not bounds.ends else None

    async def _is_tight(self, limits: list[Limit], meter: Meter) -> bool:
        """Check if most of a budget is used, and say so in the result."""
        ease_at = self._settings().budget_ease_at
        for limit in limits:
            spent: Spent = await self._ledger.spent(limit)
            if limit.usd and spent.usd > ease_at * limit.usd:
                share = spent.usd / limit.usd
                meter.tell_once(
                    EASED.format(share=share, usd=_amount(limit.usd), name=_setting(limit))
                )
                meter.eased = True
                return True
        return False

    def _limits(self, attempt: Attempt, meter: Meter) -> list[Limit]:
        settings = self._settings()
        today = self._clock() // SECONDS_PER_DAY * SECONDS_PER_DAY
        found = []
        if meter.most_usd is not None:
            found.append(Limit(OWN, meter.most_usd, call_id=attempt.call_id or ALONE))
        in_background = attempt.purpose == "embed" and not attempt.call_id
        if (usd := settings.call_budget_usd) is not None and not (usd and in_background):
            found.append(Limit("call_budget_usd", usd, call_id=attempt.call_id or ALONE))
        if (usd := settings.day_budget_usd) is not None:
            found.append(Limit("day_budget_usd", usd, today))
        if (usd := settings.principal_budget_usd) is not None:
            found.append(Limit("principal_budget_usd", usd, today, principal=attempt.principal))
        return found


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The most that a request can cost."""

    price: Price
    sent: int
    answer: int
    heard: bool = False
    searches: int = 0
    ends: bool = True

    @classmethod
    def of(cls, request: PaidRequest[Any], limits: list[Limit]) -> _Bounds:
        price = request.model.price(request.model.id)
        most = request.size.most
        if price is not None and not price.is_charged:
            return cls(price, 0, request.answer)
        if price is None or most is None:
            raise _unbounded(request, limits[0], priced=price is not None)
        answer = request.answer if request.ends else min(request.answer, SENT_ANSWER)
        size = request.size
        return cls(price, most, answer, size.heard, size.searches, request.ends)

    @property
    def shortest(self) -> int:
        """The least tokens for which the answer is worth asking."""
        return min(self.answer, SHORTEST_ANSWER)

    def cost(self, answer: int) -> float:
        """The most that the request costs with an answer of so many tokens."""
        return self.price.most(self.sent, answer, heard=self.heard, searches=self.searches)

    def answer_for(self, usd: float) -> int:
        """The most tokens of an answer for that amount; 0 for none."""
        one = (self.cost(1_000_000) - self.cost(0)) / 1_000_000
        return math.floor((usd - self.cost(0)) / one) if one else 0


def _exceeded(limit: Limit, left: float, bounds: _Bounds) -> VrError:
    least = bounds.cost(bounds.shortest)
    when = "for this call" if limit.call_id else "until 00:00 UTC"
    return VrError(
        f"The rest of the budget is too small: this request could cost ${least:.4f}, and"
        f" ${max(0.0, left):.4f} of {_amount(limit.usd)} is left {when}.",
        Code.BUDGET,
        category=EXCEEDED,
        hint=f"Nothing was sent, and what was paid for is kept. Raise {_setting(limit)},"
        " or name a cheaper or a local model. `vr cost --by tool` shows what was spent.",
    )


def _setting(limit: Limit) -> str:
    """The name of a limit as a person finds it."""
    return OWN if limit.name == OWN else f"[models] {limit.name}"


def _amount(usd: float) -> str:
    """An amount as a person wrote it."""
    return f"${usd:.6f}".rstrip("0").rstrip(".")


def _unbounded(request: PaidRequest[Any], limit: Limit, *, priced: bool) -> VrError:
    name = request.model.name
    what = f"How long a request to {name} is" if priced else f"The price of {name}"
    return VrError(
        f"{what} is not known, so the budget could not be kept.",
        Code.BUDGET,
        category="PRICE_UNKNOWN",
        hint=(
            ""
            if priced
            else f'Give its price: [models.prices] "{name}" = {{input = 0.5, output'
            " = 1.5}, in dollars for a million tokens. "
        )
        + f"Or unset {_setting(limit)}.",
    )
