"""Tables of contents and indexes: pages that list other pages, and say nothing themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping

from vr_kernel import Document

LEAST_PAGES = 20
"""A shorter document is searched whole: its numbers are hardly those of pages."""
LEAST_LINES = 8
LEAST_SHARE = 0.6
"""Share of lines that end with the number of a page."""
FRONT_MATTER = 40
"""Pages before the one that is numbered 1."""
_ENTRY = re.compile(
    r"(?:(?:\.\s?){4,}\s*|\D[ ,])(\d{1,4}(?:\s*[-–,]\s*(?:\d{1,4})?)*)\s*,?$"  # noqa: RUF001 - ranges
)
_NUMBER = re.compile(r"\d+")


class Listings:
    """The pages of a document that list other pages.

    Args:
        document: as it was read.
    """

    def __init__(self, document: Document) -> None:
        texts: dict[int, list[str]] = {}
        for segment in document.segments:
            if segment.locator.page is not None:
                texts.setdefault(segment.locator.page, []).append(segment.text)
        self._last = max(texts, default=0)
        self._pages = frozenset(self._found(texts))

    def hold(self, text: str, page: int | None) -> bool:
        """True for a part of a page that does nothing but list other pages."""
        return page in self._pages and self._share(text.splitlines()) >= LEAST_SHARE

    def _found(self, texts: Mapping[int, list[str]]) -> list[int]:
        if self._last < LEAST_PAGES:
            return []
        lines = {page: "\n".join(parts).splitlines() for page, parts in texts.items()}
        return [
            page
            for page, each in lines.items()
            if len(each) >= LEAST_LINES and self._share(each) >= LEAST_SHARE
        ]

    def _share(self, lines: list[str]) -> float:
        said = [line for line in lines if line.strip()]
        return sum(map(self._is_entry, said)) / len(said) if said else 0.0

    def _is_entry(self, line: str) -> bool:
        found = _ENTRY.search(line)
        if found is None or "|" in line:
            return False
        return max(map(int, _NUMBER.findall(found[1]))) <= self._last + FRONT_MATTER
