"""Tables of contents and indexes: pages that list other pages, and say nothing themselves."""

from __future__ import annotations

import re

LEAST_LINES = 8
LEAST_SHARE = 0.6
"""Share of lines that end with the number of a page."""
_ENTRY = re.compile(r"(\.\s?){4,}\s*\d{1,4}\s*$|\D[ ,]\d{1,4}(\s*[-–,]\s*\d{1,4})*\s*,?$")  # noqa: RUF001 - ranges


def is_listing(text: str) -> bool:
    """True for a table of contents or an index: most of its lines end with a page number."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < LEAST_LINES or "|" in text:
        return False
    return sum(_ENTRY.search(line) is not None for line in lines) >= LEAST_SHARE * len(lines)
