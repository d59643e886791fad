"""Links into sources, quotes from there, and the values that facts and tables have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mark = Literal["", "verified", "moved", "not_found", "unchecked"]
"""The result of the check of a quote; empty for none."""


@dataclass(frozen=True, slots=True)
class Link:
    """An address, and the place that it opens: seconds or a page of a source.

    The label says what it is called; without one it is called by its time, its page or its host.
    """

    address: str = ""
    label: str = ""
    start: float | None = None
    end: float | None = None
    page: int | None = None


NOWHERE = Link()
"""The link of what has none."""
Cell = str | int | float | bool | Link | None
"""A value in facts and tables; None is left empty."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a source, their place, and the result of the check; `note` says it in words."""

    text: str
    place: Link = NOWHERE
    mark: Mark = ""
    note: str = ""
