"""Behaviour of the fake service: every value may be changed while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vr_testing.service.behaviour import ServiceBehaviour


@dataclass(eq=False)
class AnthropicBehaviour(ServiceBehaviour):
    """The behaviour of the service when nothing goes wrong; see `ServiceBehaviour`, too.

    Args:
        native_schema: whether it takes a JSON schema for the answer.
        thinks: whether its models think; refused when asked for otherwise.
        usage: whether it reports its usage.
        context: the tokens of its window; no limit when 0.
    """

    native_schema: bool = True
    thinks: bool = True
    usage: Literal["normal", "missing"] = "normal"
    context: int = 0
