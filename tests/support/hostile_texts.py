"""Texts that try to be more than text, on any surface that shows them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

TEXTS = Path(__file__).parents[1] / "data" / "hostile_texts.json"
SHARE = 4
"""One of so many texts is tried by the tests that are not slow."""
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


def shares(share: int = SHARE, others: int = 1) -> pytest.MarkDecorator:
    """Give a test one of so many texts, and in a slow case one of so many others."""
    texts = hostile_texts()
    left = [text for number, text in enumerate(texts) if number % share][::others]
    some = pytest.param(texts[::share], id="some")
    return pytest.mark.parametrize(
        "texts", [some, pytest.param(left, id="others", marks=pytest.mark.slow)]
    )
