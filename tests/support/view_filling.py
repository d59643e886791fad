"""Views in which each text is another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from vr_kernel.views import View

CHOICES = {"kind", "mark"}
"""Fields that take one of a few words."""
ADDRESSES = {"address", "link", "source", "image"}
"""Fields whose text leads somewhere, or nowhere."""
Fill = Callable[[str, str], str]
"""Makes a text of the name of a field, as `Facts.title`, and the text that is there."""


def filled(view: View, fill: Fill) -> View:
    """The view with another text in each field that takes any text, keys of mappings among them."""
    changed: View = _filled(view, fill, "")
    return changed


def is_address(place: str) -> bool:
    """Check that a field holds an address."""
    return place.rpartition(".")[2] in ADDRESSES


def _filled(value: Any, fill: Fill, place: str) -> Any:
    if isinstance(value, str):
        return fill(place, value)
    if is_dataclass(value) and not isinstance(value, type):
        of = type(value).__name__
        names = [field.name for field in fields(value) if field.name not in CHOICES]
        told = {it: _filled(getattr(value, it), fill, f"{of}.{it}") for it in names}
        return replace(value, **told)
    if isinstance(value, Mapping):
        pairs = enumerate(value.items())
        # Keys stay apart, though all get the same text.
        return {
            f"{fill(place, name)}{number or ''}": _filled(each, fill, place)
            for number, (name, each) in pairs
        }
    if isinstance(value, tuple | list):
        return [_filled(each, fill, place) for each in value]
    return value
