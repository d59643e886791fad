"""Behaviour of any fake service: every value may be changed while it runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(eq=False)
class ServiceBehaviour:
    """The behaviour of a service when nothing goes wrong.

    Args:
        latency: seconds that a model takes for each answer.
        pause: seconds between two events of a stream.
        keys: the valid keys; any key is valid when left out.
        models: the models that exist; every model does when left out.
        dimension: how long vectors are when no dimension is asked for.
    """

    latency: float = 0.0
    pause: float = 0.0
    keys: set[str] | None = None
    models: set[str] | None = None
    dimension: int = 3072
