"""Paths into JSON values, as JSON pointers (RFC 6901)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_INDEX = re.compile(r"\[(\d+)\]")
MISSING = object()
"""Stands for a value that is not there."""


def pointer_of(path: list[str]) -> str:
    """Return a path as a JSON pointer."""
    return "".join(f"/{step.replace('~', '~0').replace('/', '~1')}" for step in path)


def read_pointer(text: str) -> list[str]:
    """Read a JSON pointer, or a path as models write them, such as `$.rows[0].name`."""
    plain = text.removeprefix("#")
    if plain.startswith("/"):
        return [step.replace("~1", "/").replace("~0", "~") for step in plain[1:].split("/")]
    plain = _INDEX.sub(r".\1", plain.strip().removeprefix("$"))
    return [step for step in plain.replace("/", ".").split(".") if step]


def value_at(value: Any, path: list[str]) -> Any:
    """Return the value that a path leads to; `MISSING` for none."""
    for step in path:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return MISSING
    return value


def leaves_of(value: Any, path: tuple[str, ...] = ()) -> Iterator[list[str]]:
    """Yield the paths of all single values that are not null."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves_of(inner, (*path, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves_of(inner, (*path, str(number)))
    elif value is not None:
        yield list(path)
