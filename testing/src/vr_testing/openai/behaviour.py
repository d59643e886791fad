"""Behaviour of the fake service: every value may be changed while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from vr_kernel import Price, Usage

from vr_testing.service.behaviour import ServiceBehaviour


@dataclass(eq=False)
class OpenAIBehaviour(ServiceBehaviour):
    """The behaviour of the service when nothing goes wrong; see `ServiceBehaviour`, too.

    Args:
        native_schema: whether it takes a JSON schema for the answer; refused when it does not.
        native_tools: whether it takes declarations of tools.
        takes_images: whether it takes pictures.
        usage: how it reports usage: as OpenAI does, not at all, or under names of its own.
        context: the tokens of its window; no limit when 0.
        refused: fields of a request that it does not take, such as `temperature`.
        prices: of its models; what an answer costs is then a part of its usage, as at OpenRouter.
        dimension: length of its vectors, when a request does not say.
        embedded_items: most texts that it embeds in one request.
        embedded_tokens: most tokens of them all.
    """

    native_schema: bool = True
    native_tools: bool = True
    takes_images: bool = True
    usage: Literal["normal", "missing", "foreign"] = "normal"
    context: int = 0
    refused: set[str] = field(default_factory=set)
    prices: Mapping[str, Price] = field(default_factory=dict)
    dimension: int = 1536
    embedded_items: int = 2_048
    embedded_tokens: int = 300_000

    def charged(self, model: str, usage: Usage) -> Usage:
        """The usage with what it costs, where the service says so."""
        price = self.prices.get(model)
        return usage if price is None else usage.model_copy(update={"cost_usd": price.cost(usage)})
