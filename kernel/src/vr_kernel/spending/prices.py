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
    """US dollars for a million tokens, and for one search of the web.

    Args:
        input: of a request, media included.
        output: of an answer, thinking included.
        cached: of the part of a request that the provider had kept; as `input` when left out.
        audio: of the sound in a request; as `input` when left out.
        above: tokens of a request beyond which `beyond` holds for all of it.
        beyond: the price of longer requests.
        cached_audio: of the sound in the part that was kept; as `cached` when left out.
        written: of the part of a request that the provider keeps from now on; as `input` when
            left out.
        search: of each search of the web.
        search_once: whether all searches of a request cost as much as one.
    """

    input: float
    output: float = 0.0
    cached: float | None = None
    above: int = 0
    beyond: Price | None = None
    audio: float | None = None
    cached_audio: float | None = None
    written: float | None = None
    search: float = 0.0
    search_once: bool = False

    def cost(self, usage: Usage) -> float:
        """The cost of one answer in US dollars, rounded to a billionth."""
        if self.beyond is not None and usage.input_tokens > self.above:
            return self.beyond.cost(usage)
        fresh = max(0, usage.input_tokens - usage.cached_tokens)
        sound = min(fresh, usage.audio_tokens)
        kept_sound = min(usage.cached_tokens, usage.cached_audio_tokens)
        written = min(fresh - sound, usage.written_tokens)
        tokens = [
            (fresh - sound - written, self.input),
            (sound, _or(self.audio, self.input)),
            (written, _or(self.written, self.input)),
            (usage.cached_tokens - kept_sound, _or(self.cached, self.input)),
            (kept_sound, _or(self.cached_audio, _or(self.cached, self.input))),
            (usage.output_tokens + usage.thinking_tokens, self.output),
        ]
        dollars = sum(count * price for count, price in tokens) / PER
        searches = min(usage.searches, 1) if self.search_once else usage.searches
        return round(dollars + searches * self.search, COST_DIGITS)

    @property
    def is_charged(self) -> bool:
        """True when anything costs anything."""
        sent = (self.input, self.cached, self.audio, self.cached_audio, self.written)
        beyond = self.beyond is not None and self.beyond.is_charged
        return beyond or any((*sent, self.output, self.search))

    def most(self, sent: int, answer: int, *, heard: bool = False, searches: int = 0) -> float:
        """The most that an exchange of so many tokens costs, in US dollars.

        Args:
            sent: tokens of the request, at most.
            answer: tokens of the answer, at most.
            heard: whether the request may have sound.
            searches: of the web, at most.
        """
        rates = [self.input, self.cached, self.written]
        rates += [self.audio, self.cached_audio] if heard else []
        dollars = (sent * max(rate or 0.0 for rate in rates) + answer * self.output) / PER
        dollars += (min(searches, 1) if self.search_once else searches) * self.search
        if self.beyond is None or sent <= self.above:
            return dollars
        return max(dollars, self.beyond.most(sent, answer, heard=heard, searches=searches))

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
            cached_audio=row.get("cached_audio"),
            written=row.get("written"),
            search=row.get("search") or 0.0,
            search_once=bool(row.get("search_once")),
        )


class PriceTable:
    """A dated price list: the JSON of `{"as_of": DATE, "models": {NAME: row}}`.

    A row has `input` and `output`, in US dollars for a million tokens, and may have the other
    fields of `Price`.
    """

    def __init__(self, text: str) -> None:
        read = json.loads(text)
        self.as_of: str = read["as_of"]
        self._rows: Mapping[str, Mapping[str, Any]] = read["models"]

    def of(self, model: str) -> Price | None:
        """The price of a model; None when it is not known."""
        return Price.of(self._rows.get(model, {}))


def _or(price: float | None, otherwise: float) -> float:
    return otherwise if price is None else price
