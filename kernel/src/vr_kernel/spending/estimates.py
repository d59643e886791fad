"""Estimates of the cost of calls, from the requests that they would make and from earlier calls."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from vr_kernel.generation import Usage
from vr_kernel.generation.requests import COST_DIGITS
from vr_kernel.spending.reports import Basis, Estimate

if TYPE_CHECKING:
    from vr_kernel.spending.paid_requests import PaidRequest
    from vr_kernel.spending.prices import Price
    from vr_kernel.state.usage import RecordedAttempt

FEWEST = 0.1
"""Part of earlier answers that were shorter than the low end of a range, or longer than the high
end."""


def estimate(
    tool: str, requests: Sequence[PaidRequest[Any]], history: Sequence[RecordedAttempt]
) -> Estimate:
    """Estimate a call.

    Args:
        tool: its name.
        requests: those that it would send to models, as far as known before any was answered.
        history: earlier attempts of the tool.
    """
    made = Estimate(
        tool=tool,
        basis="cached",
        requests=len(requests),
        models=list(dict.fromkeys(request.model.name for request in requests)),
    )
    if not requests:
        return made.model_copy(update={"cost_usd": 0.0, "low_usd": 0.0, "high_usd": 0.0})
    paid = [attempt for attempt in history if attempt.state == "paid" and attempt.usage.calls]
    guesses = [_Guess.of(request, paid) for request in requests]
    more = _following(paid) if len(requests) == 1 else 1.0
    made.earlier_calls = len({attempt.call_id for attempt in paid})
    made.input_tokens = round(sum(guess.sent for guess in guesses) * more)
    made.output_tokens = round(sum(guess.typical or 0 for guess in guesses) * more)
    made.basis = _basis(guesses)
    if all(guess.price is not None for guess in guesses):
        made.low_usd = _sum(guess.cost(guess.low) for guess in guesses) * more
        made.most_usd = _most(guesses)
        if made.basis != "unknown":
            made.cost_usd = _sum(guess.cost(guess.typical) for guess in guesses) * more
            made.high_usd = _sum(guess.cost(guess.high) for guess in guesses) * more
    else:
        made.notes.append("A price is not known, so the cost is not either.")
    amounts = {name: getattr(made, name) for name in ("cost_usd", "low_usd", "high_usd")}
    rounded = {k: None if v is None else round(v, COST_DIGITS) for k, v in amounts.items()}
    return made.model_copy(update=rounded)


def estimate_by_calls(tool: str, history: Sequence[RecordedAttempt]) -> Estimate:
    """Estimate a call by the cost of earlier ones alone, whatever they were about."""
    costs: defaultdict[str, list[float]] = defaultdict(list)
    for attempt in history:
        if attempt.state == "paid":
            usd = attempt.usage.cost_usd
            costs[attempt.call_id].append(math.nan if usd is None else usd)
    found = sorted(math.fsum(usd) for usd in costs.values() if not math.isnan(math.fsum(usd)))
    if not found:
        return Estimate(tool=tool, basis="unknown")
    low, high = _range(found)
    return Estimate(
        tool=tool,
        basis="like calls",
        cost_usd=round(fmean(found), COST_DIGITS),
        low_usd=low,
        high_usd=high,
        earlier_calls=len(found),
    )


def _range(values: Sequence[float]) -> tuple[float, float]:
    """The low and the high end of sorted values, without the outermost."""
    end = len(values) - 1
    return values[round(end * FEWEST)], values[round(end * (1 - FEWEST))]


@dataclass(frozen=True, slots=True)
class _Guess:
    """One request, with the tokens that it is expected to cost; no answer was seen if None.

    `dearer` is what earlier ones cost for each dollar of their tokens: sound and searches add to
    it.
    """

    request: PaidRequest[Any]
    price: Price | None
    sent: float
    kept: float
    low: float | None
    typical: float | None
    high: float | None
    dearer: float = 1.0

    @classmethod
    def of(cls, request: PaidRequest[Any], paid: Sequence[RecordedAttempt]) -> _Guess:
        like = [
            it
            for it in paid
            if it.asked == request.model.name and it.purpose == request.purpose and it.tokens
        ]
        price = request.model.price(request.model.id)
        if not like:
            return cls(request, price, request.size.expected, 0.0, None, None, None)
        counted = sum(it.usage.input_tokens for it in like)
        said = sorted(it.usage.output_tokens + it.usage.thinking_tokens for it in like)
        low, high = _range(said)
        return cls(
            request,
            price,
            request.size.expected * counted / sum(it.tokens for it in like),
            sum(it.usage.cached_tokens for it in like) / max(1, counted),
            low,
            fmean(said),
            high,
            _dearer(price, like) if request.size.heard or request.size.searches else 1.0,
        )

    @property
    def is_free(self) -> bool:
        return self.price is not None and not self.price.is_charged

    def cost(self, said: float | None) -> float:
        """The cost with an answer of so many tokens."""
        assert self.price is not None
        kept = round(self.sent * self.kept)
        sent, said = round(self.sent), round(said or 0)
        usage = Usage(input_tokens=sent, output_tokens=said, cached_tokens=kept)
        return self.price.cost(usage) * self.dearer


def _dearer(price: Price | None, like: Sequence[RecordedAttempt]) -> float:
    """The cost of requests for each dollar that their tokens alone would have cost."""
    if price is None or any(it.usage.cost_usd is None for it in like):
        return 1.0
    tokens = math.fsum(price.cost(it.usage) for it in like)
    return math.fsum(it.usage.cost_usd or 0.0 for it in like) / tokens if tokens else 1.0


def _basis(guesses: Sequence[_Guess]) -> Basis:
    if all(guess.is_free for guess in guesses):
        return "exact"
    if any(guess.price is None or guess.typical is None for guess in guesses):
        return "unknown"
    return "like calls"


def _following(paid: Sequence[RecordedAttempt]) -> float:
    """The requests of an earlier call for each of which one is known before."""
    calls = Counter(attempt.call_id for attempt in paid)
    return fmean(calls.values()) if calls else 1.0


def _most(guesses: Sequence[_Guess]) -> float | None:
    total = 0.0
    for guess in guesses:
        size = guess.request.size
        if guess.price is None or (size.most is None and not guess.is_free):
            return None
        sent, answer = size.most or 0, guess.request.answer
        total += guess.price.most(sent, answer, heard=size.heard, searches=size.searches)
    return round(total, COST_DIGITS)


def _sum(costs: Iterable[float]) -> float:
    return float(sum(costs))
