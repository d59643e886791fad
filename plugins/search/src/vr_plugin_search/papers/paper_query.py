"""Searches for papers, and what they are narrowed down to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any

from vr_kernel import Code, VrError, WebQuery, did_you_mean

from vr_plugin_search.results.papers import Paper

FIELDS = (
    "Agricultural and Food Sciences",
    "Art",
    "Biology",
    "Business",
    "Chemistry",
    "Computer Science",
    "Economics",
    "Education",
    "Engineering",
    "Environmental Science",
    "Geography",
    "Geology",
    "History",
    "Law",
    "Linguistics",
    "Materials Science",
    "Mathematics",
    "Medicine",
    "Philosophy",
    "Physics",
    "Political Science",
    "Psychology",
    "Sociology",
)
"""Fields of study as Semantic Scholar names them; others translate them."""
MOST_RESULTS = 100
YEARS_CHARS, AUTHOR_CHARS = 40, 300
_YEARS = re.compile(r"\s*(\d{4})?\s*(?:(-)\s*(\d{4})?)?\s*")


@dataclass(frozen=True, slots=True)
class Years:
    """A span of years; None for an open end."""

    first: int | None
    last: int | None

    def __str__(self) -> str:
        ends = [str(each) if each else "" for each in (self.first, self.last)]
        return ends[0] if self.first == self.last else "-".join(ends)

    def holds(self, year: int | None) -> bool:
        """Check if a year is within; an unknown one is not."""
        if year is None:
            return False
        return (self.first or 0) <= year <= (self.last or year)


def read_author(text: str | None) -> str:
    """The name of an author on one line; empty for any author.

    Raises:
        VrError: INVALID_INPUT.
    """
    if text is not None and len(text) > AUTHOR_CHARS:
        raise _invalid(f"An author has at most {AUTHOR_CHARS} characters.")
    return " ".join((text or "").split())


@dataclass(frozen=True, slots=True)
class PaperQuery:
    """A search for papers.

    Args:
        web: the words, the most results, the age and the domains.
        author: part of an author's name; any when empty.
        fields: of study, as `FIELDS` names them; any when empty.
        years: of publication.
        open_access_only: only papers that everybody may read.
    """

    web: WebQuery
    author: str = ""
    fields: tuple[str, ...] = ()
    years: Years | None = None
    open_access_only: bool = False

    @property
    def most(self) -> int:
        """Results to ask a service for: many, where some are left out afterwards."""
        left_out = self.web.domains or self.web.excluded_domains
        return MOST_RESULTS if left_out else self.web.limit

    @property
    def identity(self) -> dict[str, Any]:
        """All of it, as JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class FoundPapers:
    """Papers, the best first, and what was not done as asked."""

    papers: tuple[Paper, ...] = ()
    notes: tuple[str, ...] = field(default=())


def read_years(text: str | None) -> Years | None:
    """The span that a text such as `2019`, `2016-2020`, `2010-` or `-2015` means.

    Raises:
        VrError: INVALID_INPUT.
    """
    if text is not None and len(text) > YEARS_CHARS:
        raise _invalid(f"{text[:40]!r} is no span of years.")
    if text is None or not text.strip():
        return None
    found = _YEARS.fullmatch(text.replace("\u2013", "-"))
    first = int(found[1]) if found and found[1] else None
    last = int(found[3]) if found and found[3] else None
    if found is None or (first is None and last is None):
        raise _invalid(f"{text[:40]!r} is no span of years.")
    if not found[2]:
        last = first
    if first and last and first > last:
        raise _invalid(f"The years {text[:40]!r} end before they begin.")
    return Years(first, last)


def read_fields(names: Iterable[str] | None) -> tuple[str, ...]:
    """Fields of study in their proper spelling.

    Raises:
        VrError: INVALID_INPUT, naming the nearest field.
    """
    known = {each.casefold(): each for each in FIELDS}
    found: dict[str, None] = {}
    for name in names or ():
        wanted = " ".join(name.split()).casefold()
        if wanted not in known:
            near = did_you_mean(wanted, known)
            message = f"{name[:60]!r} is no field of study."
            raise VrError(message, Code.INVALID_INPUT, hint=f"{near}Known: {', '.join(FIELDS)}.")
        found[known[wanted]] = None
    return tuple(found)


def is_by(paper: Paper, author: str) -> bool:
    """Check if an author's name, or the parts of it that are given, are among a paper's."""
    wanted = set(re.findall(r"\w{2,}", author.casefold()))
    return any(wanted <= set(re.findall(r"\w+", name.casefold())) for name in paper.authors)


def since(paper: Paper, first: date | None) -> bool:
    """Check if a paper was published since a day; where only its year is known, by that."""
    if first is None:
        return True
    if paper.published:
        return paper.published >= first.isoformat()
    return paper.year is not None and paper.year >= first.year


def _invalid(problem: str) -> VrError:
    return VrError(problem, Code.INVALID_INPUT, hint="Such as 2019, 2016-2020, 2010- or -2015.")
