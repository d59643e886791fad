"""Data of the parts of a long document, put together by rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vr_plugin_content.json_pointers import pointer_of, read_pointer

EMPTY = (None, "")
Told = list[dict[str, Any]]


def merged(parts: Sequence[tuple[Any, Told]]) -> tuple[Any, Told]:
    """Join lists, and take the first value that is there; evidence moves along with its items.

    Args:
        parts: the data of each part with its evidence, in order.
    """
    whole: Any = None
    evidence: Told = []
    for data, told in parts:
        shifts = _shifts(whole, data)
        kept = [_moved(each, whole, shifts) for each in told]
        evidence += [each for each in kept if each is not None]
        whole = _join(whole, data)
    return whole, evidence


def _join(first: Any, second: Any) -> Any:
    if isinstance(first, dict) and isinstance(second, dict):
        names = dict.fromkeys([*first, *second])
        return {name: _join(first.get(name), second.get(name)) for name in names}
    if isinstance(first, list) and isinstance(second, list):
        return [*first, *second]
    return second if first in EMPTY else first


def _shifts(first: Any, second: Any, path: str = "") -> dict[str, int]:
    """By how much the items of the lists at each path move when they are joined."""
    if isinstance(first, list) and isinstance(second, list):
        return {path: len(first)}
    if not (isinstance(first, dict) and isinstance(second, dict)):
        return {}
    found: dict[str, int] = {}
    for name in first.keys() & second.keys():
        found |= _shifts(first[name], second[name], f"{path}{pointer_of([name])}")
    return found


def _moved(told: dict[str, Any], before: Any, shifts: dict[str, int]) -> dict[str, Any] | None:
    """The evidence at its new path; None for a value that an earlier part had already."""
    path = read_pointer(told["path"])
    value = before
    for at, step in enumerate(path):
        pointer = pointer_of(path[:at])
        if pointer in shifts and step.isdecimal():
            path[at] = str(int(step) + shifts[pointer])
            return {**told, "path": pointer_of(path)}
        value = value.get(step) if isinstance(value, dict) else None
    return None if value not in EMPTY and not isinstance(value, (dict, list)) else told
