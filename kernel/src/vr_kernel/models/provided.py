"""A model together with its provider."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace

from vr_kernel.errors import Code, VrError
from vr_kernel.generation import Role, Usage
from vr_kernel.models.provider import ModelInfo, ModelProvider
from vr_kernel.spending.prices import Price

LOOK_S = 5.0
"""Longest wait for what a server says of a model; it says it at once, or it does not run."""
OWN_PRICES = "own settings"
"""Name of the price list that `[models.prices]` is."""


@dataclass(frozen=True, slots=True)
class ProvidedModel:
    """A model and its provider.

    Args:
        provider: reaches the model.
        id: its name at the provider.
        contained: a context for its calls, which names the provider's plugin when they fail.
        role: for which it is asked.
        prices: those that the user configured, by `provider/model`.
    """

    provider: ModelProvider
    id: str
    contained: Callable[[], AbstractContextManager[None]] = field(
        default=nullcontext, compare=False
    )
    role: str = field(default="", compare=False)
    prices: Mapping[str, Price] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        """The name in configuration and results: `provider/model`."""
        return f"{self.provider.name}/{self.id}"

    def known(self) -> ModelInfo:
        """Return the model as its provider knows it.

        One that its provider does not name takes tools when all do that it names.
        """
        info = self._info()
        if info is not None:
            return replace(info, name=self.name)
        with self.contained():
            others = [each.tools for each in self.provider.models() if not each.embeds]
        return ModelInfo(self.name, tools=bool(others) and all(others))

    async def described(self) -> ModelInfo:
        """Return the model as its server describes it, where that can be asked for nothing."""
        if look := getattr(self.provider, "look", None):
            # A server that does not say leaves what its provider knows.
            with suppress(VrError, TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    with self.contained():
                        await look(self.id)
        return self.known()

    def price(self, model: str) -> Price | None:
        """The price of a model of this provider; None when it is not known."""
        if own := self.prices.get(f"{self.provider.name}/{model}"):
            return own
        price_of = getattr(self.provider, "price", None)
        with self.contained():
            return None if price_of is None else price_of(model)

    def price_list(self, model: str) -> str:
        """The list that has the price of a model: the provider's, by its date, or the user's."""
        if f"{self.provider.name}/{model}" in self.prices:
            return OWN_PRICES
        return str(getattr(self.provider, "prices_of", ""))

    def priced(self, usage: Usage, answered_by: str) -> tuple[Usage, str]:
        """The usage with what it costs, and the price list by which that is known.

        What the provider itself says counts most. The cost stays None when neither the model that
        answered nor the one that was asked has a known price.
        """
        if usage.cost_usd is not None:
            return usage, ""
        named = sorted((answered_by, self.id), key=self._lists_itself)
        for model in named:
            if price := self.price(model):
                return usage.booked(price.cost(usage)), self.price_list(model)
        return usage.booked(None), ""

    def _lists_itself(self, model: str) -> bool:
        """False for a model to which the user gave a price: that one comes first."""
        return f"{self.provider.name}/{model}" not in self.prices

    def require(self, role: Role, kinds: Collection[str]) -> None:
        """Refuse media that the model is known not to take.

        Raises:
            VrError: UNSUPPORTED, category MEDIA_UNSUPPORTED.
        """
        info = self._info() if kinds else None
        takes = frozenset(kinds) if info is None else info.accepts
        for kind in sorted(set(kinds) - takes):
            raise VrError(
                f"{self.name} does not take {kind}.",
                Code.UNSUPPORTED,
                category="MEDIA_UNSUPPORTED",
                hint=f"It takes {', '.join(sorted(takes))}. Name a model that takes"
                f" {kind}: [models] {role} = ['provider/model'].",
            )

    def _info(self) -> ModelInfo | None:
        """The model as its provider knows it; None when that does not."""
        with self.contained():
            if info_of := getattr(self.provider, "info", None):
                found: ModelInfo = info_of(self.id)
                return found
            named = (info for info in self.provider.models() if info.name == self.id)
            return next(named, None)
