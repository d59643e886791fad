"""Behaviour of the fake server: every value may be changed while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from vr_testing.service.behaviour import ServiceBehaviour


@dataclass(eq=False)
class OllamaBehaviour(ServiceBehaviour):
    """The behaviour of the server when nothing goes wrong; see `ServiceBehaviour`, too.

    Args:
        window: the longest context of its models, in tokens.
        default_window: the context of a request that names none: what is longer is cut at its
            beginning, without a word.
        ignores_window: whether it cuts there even when a longer context is asked for.
        capabilities: what its models can do besides completing texts.
        tells_capabilities: whether it says so; servers before 0.6.4 do not.
        usage: how it reports the tokens that it read and wrote: rightly, not at all, or as -1.
    """

    window: int = 131_072
    default_window: int = 4_096
    ignores_window: bool = False
    capabilities: set[str] = field(default_factory=lambda: {"tools", "vision", "thinking"})
    tells_capabilities: bool = True
    usage: Literal["normal", "missing", "foreign"] = "normal"
    dimension: int = 768
