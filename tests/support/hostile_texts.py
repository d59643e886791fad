"""Texts that try to be more than text, on any surface that shows them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

TEXTS = Path(__file__).parents[1] / "data" / "hostile_texts.json"
WRAPS = "around_addresses"


def hostile_texts() -> list[str]:
    """More than 500 texts, always the same ones, each of them once."""
    return list(dict.fromkeys(_all()))


def _all() -> Iterator[str]:
    groups = json.loads(TEXTS.read_text("utf-8"))
    for name, texts in groups.items():
        if name != WRAPS:
            yield from texts
    for number, wrap in enumerate(groups[WRAPS]):
        for address in groups["addresses"][number % 2 :: 2]:
            yield wrap.replace("{}", address)
