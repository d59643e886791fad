"""Places as people write them: `7`, `p. 7-9`, `slide 3`, `lines 10-40`, a heading, a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from vr_kernel import Code, Document, Heading, Locator, Segment, VrError, visible_line

_NUMBERS = re.compile(
    r"(?P<word>p\.?|pp\.?|pages?|slides?|cells?|messages?|lines?|l\.?)?\s*"
    r"(?P<first>[0-9]{1,9})(?:\s*[-–]\s*(?P<last>[0-9]{1,9}))?",  # noqa: RUF001 - people type both dashes
    re.IGNORECASE,
)
_CELLS = re.compile(r"[A-Z]{1,3}(\d{1,7})(?::[A-Z]{1,3}(\d{1,7}))?", re.IGNORECASE)
_FIELDS = {"p": "page", "s": "slide", "c": "cell", "m": "message", "l": "first_line"}
NEAR_SHOWN = 5


def select(document: Document, place: str) -> list[Segment]:
    """Return the segments of a document at a place.

    Args:
        document: as it was read.
        place: numbers of pages, slides, cells, messages or lines, alone or as a range; a sheet; a
            heading or a number of its section; the path of a file in a folder.

    Raises:
        VrError: NOT_FOUND, category PLACE_NOT_FOUND, with some places that there are.
    """
    wanted = place.strip()
    found = (
        _by_number(document, wanted) or _by_name(document, wanted) or _by_cells(document, wanted)
    )
    if not found:
        raise _missing(document, wanted)
    return found


def _by_number(document: Document, place: str) -> list[Segment]:
    match = _NUMBERS.fullmatch(place)
    if match is None:
        return []
    first = int(match["first"])
    last = int(match["last"] or first)
    word = (match["word"] or "").lower()
    names = [_FIELDS[word[0]]] if word else [*dict.fromkeys(_FIELDS.values())]
    for name in names:
        if found := [it for it in document.segments if _meets(it.locator, name, first, last)]:
            return found
    return []


def _meets(place: Locator, name: str, first: int, last: int) -> bool:
    begins: int | None = getattr(place, name)
    if begins is None:
        return False
    ends = place.last_line if name == "first_line" and place.last_line is not None else begins
    return begins <= last and ends >= first


def _by_name(document: Document, place: str) -> list[Segment]:
    plain = _plain(place)
    tests: tuple[Callable[[Locator], bool], ...] = (
        lambda it: _plain(it.label) == plain,
        lambda it: it.file is not None and _plain(it.file) == plain,
        lambda it: it.sheet is not None and _plain(it.sheet) == plain,
        lambda it: any(_plain(each) == plain for each in it.heading),
        lambda it: any(plain in _plain(each) for each in it.heading),
    )
    for test in tests:
        if found := [each for each in document.segments if test(each.locator)]:
            return found
    return [] if plain.isdecimal() else _section(document, plain)


def _by_cells(document: Document, place: str) -> list[Segment]:
    """The parts of a sheet that have rows of a range, such as `Costs!A2:D40`."""
    sheet, _, cells = place.rpartition("!")
    rows = _rows(cells)
    return [
        each
        for each in document.segments
        if each.locator.sheet is not None
        and rows is not None
        and _plain(each.locator.sheet) == _plain(sheet)
        and (own := _rows(each.locator.cells or "")) is not None
        and own[0] <= rows[1]
        and own[1] >= rows[0]
    ]


def _rows(cells: str) -> tuple[int, int] | None:
    match = _CELLS.fullmatch(cells.strip())
    return (int(match[1]), int(match[2] or match[1])) if match else None


def _section(document: Document, plain: str) -> list[Segment]:
    """The pages of the section that the outline names so, up to the next heading of its level."""
    outline = [each for each in document.outline if each.locator.page is not None]
    for at, heading in enumerate(outline):
        if plain in _plain(heading.text):
            first, last = heading.locator.page or 1, _end(outline, at)
            return [it for it in document.segments if _meets(it.locator, "page", first, last)]
    return []


def _end(outline: Sequence[Heading], at: int) -> int:
    """The last page of a section: where the next one of its level or above begins, or before."""
    level, begins = outline[at].level, outline[at].locator.page or 1
    for _, after in pairwise(outline[at:]):
        if after.level <= level:
            return max(begins, (after.locator.page or begins) - 1)
    return 10**9


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _missing(document: Document, place: str) -> VrError:
    labels = dict.fromkeys(each.locator.label for each in document.segments)
    shown = [visible_line(label, 60) for label in [*labels][:NEAR_SHOWN]]
    last = f" ... {visible_line([*labels][-1], 60)}" if len(labels) > NEAR_SHOWN else ""
    return VrError(
        f"{visible_line(place, 80)!r} is no place of {visible_line(document.title, 80)}.",
        Code.NOT_FOUND,
        category="PLACE_NOT_FOUND",
        hint=f"Its places: {', '.join(shown)}{last}.",
    )
