"""The requests of any family of services, as the machine sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Received(Protocol):
    """A request as it came over the wire."""

    @property
    def action(self) -> str:
        """The operation that is asked for."""

    @property
    def model(self) -> str:
        """The model asked; empty for none."""

    @property
    def text(self) -> str:
        """The words of the question, without the system instruction."""

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The schema that the answer is to fit."""

    @property
    def size(self) -> int:
        """Bytes of the body, as announced."""

    @property
    def asks_model(self) -> bool:
        """True when a model answers it, which costs money."""

    @property
    def generates(self) -> bool:
        """True when a model answers it in words."""
