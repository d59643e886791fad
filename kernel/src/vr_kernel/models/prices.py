"""Prices of models: what tokens cost, and the cost of a request by them."""

from __future__ import annotations

from dataclasses import dataclass

from vr_kernel.generation import Usage

PER = 1_000_000
"""Tokens for which prices are given."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens.

    Args:
        input: of a request, media included.
        output: of an answer, thinking included.
        cached: of the part of a request that the provider had kept; as `input` when left out.
        above: tokens of a request beyond which `beyond` holds for all of it.
        beyond: the price of longer requests.
    """

    input: float
    output: float = 0.0
    cached: float | None = None
    above: int = 0
    beyond: Price | None = None

    def cost(self, usage: Usage) -> float:
        """The cost of one answer in US dollars."""
        if self.beyond is not None and usage.input_tokens > self.above:
            return self.beyond.cost(usage)
        kept = self.input if self.cached is None else self.cached
        fresh = max(0, usage.input_tokens - usage.cached_tokens)
        said = usage.output_tokens + usage.thinking_tokens
        return (fresh * self.input + usage.cached_tokens * kept + said * self.output) / PER
