"""The sections of a document with pages: texts cut where its outline says that one begins."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vr_kernel import Document, Heading

NUMBERING = 12
"""Most characters before a heading in its line, such as `Chapter 3. `."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page's text, where it begins in it, and the headings above it."""

    text: str
    start: int
    headings: tuple[str, ...]


class PageHeadings:
    """The headings of a document whose outline names pages."""

    def __init__(self, document: Document) -> None:
        self._outline = [it for it in document.outline if it.locator.page is not None]
        self._pages = [it.locator.page or 0 for it in self._outline]

    def sections(self, text: str, page: int) -> Iterator[Section]:
        """Cut the text of a page at the headings that stand on it."""
        first, last = bisect_left(self._pages, page), bisect_right(self._pages, page)
        begins, above = 0, self._path(first - 1)
        lines = list(_lines(text))
        at = 0
        for number in range(first, last):
            found = _line_of(self._outline[number].text, lines, at)
            if found is None:
                continue
            start = lines[found][0]
            if text[begins:start].strip():
                yield Section(text[begins:start], begins, above)
            begins, above, at = start, self._path(number), found + 1
        yield Section(text[begins:], begins, above)

    def _path(self, number: int) -> tuple[str, ...]:
        """The heading with that number in the outline, below those above it."""
        found: list[Heading] = []
        for heading in reversed(self._outline[: number + 1]):
            if not found or heading.level < found[-1].level:
                found.append(heading)
            if heading.level == 1:
                break
        return tuple(heading.text for heading in found[::-1])


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Each line without its spaces and case, and the character at which it begins."""
    start = 0
    for line in text.split("\n"):
        yield start, _plain(line)
        start += len(line) + 1


def _line_of(title: str, lines: Sequence[tuple[int, str]], at: int) -> int | None:
    """The number of the line that is a heading, from one on; its number may stand before it."""
    wanted = _plain(title)
    for number in range(at, len(lines)):
        line = lines[number][1]
        if line.endswith(wanted) and len(line) <= len(wanted) + NUMBERING:
            return number
    return None


def _plain(text: str) -> str:
    return "".join(text.casefold().split())
