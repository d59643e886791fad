"""Running heads: the lines on top and at the foot of pages that say the same on many of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

MOST_CHARS = 80
LEAST_PAGES = 4
LEAST_SHARE = 0.05
"""Share of pages that have it; chapters each have their own."""
_NUMBER = re.compile(r"\d+")


def without_running_heads(pages: Sequence[str]) -> list[str]:
    """Return the texts of pages without such lines, whatever numbers stand in these."""
    counts = Counter(line for page in pages for line in {*_outer(page)})
    least = max(LEAST_PAGES, LEAST_SHARE * len(pages))
    heads = {line for line, count in counts.items() if count >= least}
    return [_without(page, heads) for page in pages] if heads else [*pages]


def _outer(page: str) -> Iterator[str]:
    """The first and the last line, each number as one sign."""
    lines = page.strip().splitlines()
    for line in (lines[:1], lines[-1:]):
        plain = _plain(line[0]) if line else ""
        if plain and len(plain) <= MOST_CHARS:
            yield plain


def _without(page: str, heads: set[str]) -> str:
    """The page without them; one that says nothing else keeps its line."""
    lines = page.strip().splitlines()
    first = 1 if len(lines) > 1 and _plain(lines[0]) in heads else 0
    last = -1 if len(lines) > first + 1 and _plain(lines[-1]) in heads else None
    return "\n".join(lines[first:last])


def _plain(line: str) -> str:
    return _NUMBER.sub("#", " ".join(line.split()))
