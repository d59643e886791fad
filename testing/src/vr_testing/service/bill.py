"""The cost of requests and answers: deterministic, and close to what services count."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable
from typing import Any

from vr_kernel.generation import Usage
from vr_kernel.spending.prices import Price

CHARS_PER_TOKEN = 4


def text_tokens(text: str) -> int:
    """Tokens of a text, four characters each."""
    return math.ceil(len(text) / CHARS_PER_TOKEN)


def json_tokens(value: Any) -> int:
    """Tokens of a call, a result or declarations: those of their JSON; 0 for nothing."""
    return text_tokens(json.dumps(value)) if value else 0


class Bill:
    """The sum of everything that was generated, delivered or not; in all, and by model."""

    def __init__(self, prices: Callable[[str], Price | None] = lambda _model: None) -> None:
        """`prices` gives the price of a model; without it a bill is in tokens alone."""
        self._prices = prices
        self._lock = threading.Lock()
        self._sum = Usage()
        self._by_model: dict[str, Usage] = {}

    def add(self, usage: Usage, model: str = "") -> None:
        """Add one answer to the bill."""
        price = self._prices(model)
        if usage.cost_usd is None and price is not None:
            usage = usage.model_copy(update={"cost_usd": price.cost(usage)})
        with self._lock:
            self._sum += usage
            self._by_model[model] = self._by_model.get(model, Usage()) + usage

    @property
    def total(self) -> Usage:
        """The whole bill."""
        return self._sum

    @property
    def by_model(self) -> dict[str, Usage]:
        """The bill of each model."""
        with self._lock:
            return dict(self._by_model)
