"""The cost of a piece of research before it begins, by what its steps usually take."""

from __future__ import annotations

from dataclasses import dataclass

from vr_kernel import Call, Role, VrError

from vr_plugin_research.request import Limits


@dataclass(frozen=True, slots=True)
class _Step:
    """Tokens that one step sends and gets, at least and at most.

    Source: benchmarks/research.py, `tokens`: the requests of the offline corpus, and the bound that
    `read_tokens` sets.
    """

    role: Role
    sent: tuple[int, int]
    got: tuple[int, int]


_QUESTIONS = _Step("default", (500, 1_000), (300, 2_500))
_ROUND = _Step("fast", (1_500, 12_000), (400, 4_000))
_SOURCE = _Step("default", (2_000, 25_000), (400, 4_000))
_REPORT = _Step("deep", (2_000, 60_000), (1_500, 12_000))
LEAST_SOURCES = 0.3
"""Part of the sources that is read at least, when a topic is soon answered."""


@dataclass(frozen=True, slots=True)
class CostRange:
    """The cost of a piece of research in US dollars; None where a price is not known."""

    low_usd: float | None
    high_usd: float | None
    basis: str


def cost_of(call: Call, limits: Limits) -> CostRange:
    """Estimate what models cost for a piece of research; nothing is asked for it."""
    low = high = 0.0
    least = max(1, round(limits.sources * LEAST_SOURCES))
    steps = (
        (_QUESTIONS, 1, 1),
        (_ROUND, 1, 2 * limits.rounds),
        (_SOURCE, least, limits.sources),
        (_REPORT, 1, 1),
    )
    for step, fewest, most in steps:
        try:
            price = call.services.models.price(step.role)
        except VrError:
            return CostRange(0.0, 0.0, "no model is asked")
        if price is None:
            return CostRange(None, None, "the price of the model is not known")
        low += fewest * price.most(step.sent[0], step.got[0])
        high += most * price.most(step.sent[1], step.got[1])
    return CostRange(round(low, 4), round(high, 4), "tokens that such steps usually take")
