"""Keeps a piece of research within a budget: what is spent, and what is kept for the report."""

from __future__ import annotations

from vr_kernel import Call, VrError

from vr_plugin_research.settings import ResearchSettings

REPORT_BYTES, SOURCE_BYTES, REPORT_TOKENS = 8_000, 2_500, 2_000
"""Most bytes of the request for a report, and of it for each source; tokens of its answer.

Source: benchmarks/research.py, `tokens`; a budget is held against a token for each byte."""
MOST_SHARE = 0.7
"""Part of a budget that is kept back for the report, at most."""


class Spending:
    """The budget of one call.

    The kernel sends nothing that could pass the budget. Before that happens, this stops the
    reading, so that the report can still be written.

    Args:
        call: that pays.
        budget_usd: the most that it may spend; None for no budget of its own.
    """

    def __init__(self, call: Call, budget_usd: float | None) -> None:
        settings: ResearchSettings = call.settings
        self._call = call
        self._share = settings.write_share
        self.budget_usd = budget_usd
        self.stopped = False
        self._begun = 0
        if budget_usd is not None:
            call.services.models.limit_spending(budget_usd)

    @property
    def spent_usd(self) -> float:
        """US dollars so far, as far as prices are known."""
        return self._call.usage.cost_usd or 0.0

    async def is_kept(self) -> bool:
        """True when what is left is kept for the report, so that no more may be read."""
        if self.budget_usd is None:
            return False
        over = self.spent_usd >= self.budget_usd - self._kept(self.budget_usd)
        self.stopped = self.stopped or over
        self._begun += not over
        return over

    def _kept(self, budget_usd: float) -> float:
        """US dollars for the report: a share of the budget, or more where it may cost more."""
        share = budget_usd * self._share
        try:
            price = self._call.services.models.price("deep")
        except VrError:
            return share
        if price is None:
            return share
        most = price.most(REPORT_BYTES + SOURCE_BYTES * (self._begun + 1), REPORT_TOKENS)
        return max(share, min(most, budget_usd * MOST_SHARE))

    @property
    def words(self) -> str:
        """The cost so far, in words; empty while there is none."""
        if not self.spent_usd:
            return ""
        most = f" of ${self.budget_usd:.2f}" if self.budget_usd is not None else ""
        return f"${self.spent_usd:.3f}{most}"
