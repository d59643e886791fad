"""Quotes in the text of pages: found whatever their spaces, hyphens, accents and case."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from vr_plugin_content.results.analysis import KeyPoint

SHORT_CHARS = 16
"""A quote with fewer letters and digits must begin and end where words do."""
CLOSING = ".,;:!?)]}\"'\u2019\u201d\u00bb"
"""Signs that belong to the words before them."""
_BESIDE = re.compile(r"[\W_]+")
_LONE = "\u2e80"
"""From this sign on, words stand side by side without spaces."""


def marked_on(texts: Mapping[int, str], points: Sequence[KeyPoint]) -> dict[int, list[str]]:
    """Find the quotes of points on pages; return their words there, as each page has them.

    A quote is looked for on the page that its point names, then on that and the next one, then on
    all pages; it is marked once.

    Args:
        texts: of the pages, by their numbers.
        points: with their quotes; of one without a quote its text is looked for.
    """
    pages = _Pages(texts)
    marked: dict[int, dict[str, None]] = {number: {} for number in texts}
    for point in points:
        for number, words in pages.find(point.quote or point.text, point.page):
            marked[number][words] = None
    return {number: [*found] for number, found in marked.items()}


class _Pages:
    """The texts of pages in order, and their letters alone."""

    def __init__(self, texts: Mapping[int, str]) -> None:
        self._texts = texts
        self._letters = {number: _letters(text) for number, text in texts.items()}
        self._next = dict(zip(texts, [*texts][1:], strict=False))

    def find(self, quote: str, page: int | None) -> list[tuple[int, str]]:
        """The words of a quote with their page; of both, where it goes on to the next one."""
        wanted = _letters(quote)
        if not wanted:
            return []
        if page is not None and page in self._texts:
            found = self._on(page, wanted, quote) or self._across(page, wanted)
            if found:
                return found
        for number in self._texts:
            if found := self._on(number, wanted, quote):
                return found
        return []

    def _on(self, number: int, wanted: str, quote: str) -> list[tuple[int, str]]:
        if wanted not in self._letters[number]:
            return []
        text = self._texts[number]
        for start, end in _spans(text, wanted):
            if len(wanted) < SHORT_CHARS and _cuts(text, start, end):
                continue
            closing = "" if quote[-1:].isalnum() else CLOSING
            rest = text[end:].lstrip(closing) if closing else text[end:]
            return [(number, text[start : len(text) - len(rest)])]
        return []

    def _across(self, number: int, wanted: str) -> list[tuple[int, str]]:
        """The end of a page and the beginning of the next one, when together they are the quote."""
        after = self._next.get(number)
        if after is None:
            return []
        mine, theirs = self._letters[number], self._letters[after]
        for count in range(min(len(wanted) - 1, len(mine)), 0, -1):
            if mine.endswith(wanted[:count]) and theirs.startswith(wanted[count:]):
                text, next_text = self._texts[number], self._texts[after]
                *_, (start, _) = _spans(text, wanted[:count])
                _, end = next(_spans(next_text, wanted[count:]))
                return [(number, text[start:].rstrip()), (after, next_text[:end].lstrip())]
        return []


def _letters(text: str) -> str:
    """The letters and digits of a text, without case and accents."""
    return _BESIDE.sub("", unicodedata.normalize("NFKD", text).casefold())


def _spans(text: str, wanted: str) -> Iterator[tuple[int, int]]:
    """The places in a text, from its first sign to the end of its last, that have these letters."""
    letters: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text):
        for letter in _letters(sign):
            letters.append(letter)
            places.append(place)
    plain = "".join(letters)
    at = plain.find(wanted)
    while at >= 0:
        yield places[at], places[at + len(wanted) - 1] + 1
        at = plain.find(wanted, at + 1)


def _cuts(text: str, start: int, end: int) -> bool:
    """Check if a part of a text begins or ends within a word."""
    pairs = (text[max(start - 1, 0) : start + 1], text[end - 1 : end + 1])
    return any(len(pair) > 1 and pair.isalnum() and pair < _LONE for pair in pairs)
