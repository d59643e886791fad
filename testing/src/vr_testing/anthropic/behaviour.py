"""Behaviour of the fake service: every value may be changed while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from vr_testing.service.behaviour import ServiceBehaviour


@dataclass(eq=False)
class AnthropicBehaviour(ServiceBehaviour):
    """The behaviour of the service when nothing goes wrong; see `ServiceBehaviour`, too.

    Args:
        native_schema: whether it takes a JSON schema for the answer.
        thinks: whether its models think; refused when asked for otherwise.
        usage: how it reports usage: as Anthropic does, not at all, or under names of its own.
        context: the tokens of its window; no limit when 0.
        refused: fields of a request that it does not take, such as `temperature`.
        caches: whether it keeps each request by itself, and reads it again when it comes again.
    """

    native_schema: bool = True
    thinks: bool = True
    usage: Literal["normal", "missing", "foreign"] = "normal"
    context: int = 0
    refused: set[str] = field(default_factory=set)
    caches: bool = False
