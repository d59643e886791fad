"""Prices of models: what tokens cost, and the cost of a request by them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from vr_kernel.generation.requests import COST_DIGITS, Usage

PER = 1_000_000
"""Tokens for which prices are given."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens.

    Args:
        input: of a request, media included.
        output: of an answer, thinking included.
        cached: of the part of a request that the provider had kept; as `input` when left out.
        audio: of the sound in a request; as `input` when left out.
        above: tokens of a request beyond which `beyond` holds for all of it.
        beyond: the price of longer requests.
    """

    input: float
    output: float = 0.0
    cached: float | None = None
    above: int = 0
    beyond: Price | None = None
    audio: float | None = None

    def cost(self, usage: Usage) -> float:
        """The cost of one answer in US dollars, rounded to a billionth."""
        if self.beyond is not None and usage.input_tokens > self.above:
            return self.beyond.cost(usage)
        kept = self.input if self.cached is None else self.cached
        heard = self.input if self.audio is None else self.audio
        fresh = max(0, usage.input_tokens - usage.cached_tokens)
        sound = min(fresh, usage.audio_tokens)
        said = usage.output_tokens + usage.thinking_tokens
        dollars = (fresh - sound) * self.input + sound * heard
        dollars += usage.cached_tokens * kept + said * self.output
        return round(dollars / PER, COST_DIGITS)

    @property
    def is_charged(self) -> bool:
        """True when anything costs anything."""
        return bool(self.input or self.output or self.audio)

    def most(self, sent: int, answer: int, *, heard: bool = False) -> float:
        """The most that an exchange of so many tokens costs, in US dollars.

        Args:
            sent: tokens of the request, at most.
            answer: tokens of the answer, at most.
            heard: whether the request may have sound.
        """
        dear = max(self.input, self.cached or 0.0, (self.audio or 0.0) if heard else 0.0)
        dollars = (sent * dear + answer * self.output) / PER
        if self.beyond is None or sent <= self.above:
            return dollars
        return max(dollars, self.beyond.most(sent, answer, heard=heard))

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self | None:
        """The price that a row of a price list has; None when it has none."""
        if row.get("input") is None:
            return None
        beyond = row.get("beyond")
        return cls(
            input=row["input"],
            output=row.get("output") or 0.0,
            cached=row.get("cached"),
            audio=row.get("audio"),
            above=row.get("above") or 0,
            beyond=None if beyond is None else cls.of(beyond),
        )


class PriceTable:
    """A dated price list: the JSON of `{"as_of": DATE, "models": {NAME: row}}`.

    A row has `input` and `output`, in US dollars for a million tokens, and may have `cached`,
    `audio`, `above` and `beyond`; see `Price`.
    """

    def __init__(self, text: str) -> None:
        read = json.loads(text)
        self.as_of: str = read["as_of"]
        self._rows: Mapping[str, Mapping[str, Any]] = read["models"]

    def of(self, model: str) -> Price | None:
        """The price of a model; None when it is not known."""
        return Price.of(self._rows.get(model, {}))
