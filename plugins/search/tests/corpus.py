"""The pages and papers that the fake services know."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

TODAY = datetime.now(UTC).date()
HOSTILE = "traps"
FAILING = "failing"
NOTHING = "qzxv"
ANSI = "\x1b[31mred\x1b[0m \u200b\u202e"


@dataclass(frozen=True)
class Page:
    """A page of the web."""

    title: str
    url: str
    text: str
    age: int | None = 400
    """In days; None where nobody knows."""

    @property
    def published(self) -> date | None:
        """The day of its publication."""
        return None if self.age is None else TODAY - timedelta(days=self.age)


@dataclass(frozen=True)
class FakePaper:
    """A paper."""

    title: str
    abstract: str
    number: int
    """Of which its identifiers are made."""
    authors: Sequence[str] = ("Ada Lovelace", "Grace Hopper")
    age: int = 800
    doi: str = ""
    arxiv: str = ""
    venue: str = "Journal of Birds"
    citations: int = 7
    retracted: bool = False
    field_id: int = 13
    study: str = "Biology"
    pdf: str = ""
    cites: Sequence[int] = field(default=())

    @property
    def published(self) -> date:
        """The day of its publication."""
        return TODAY - timedelta(days=self.age)

    @property
    def openalex(self) -> str:
        """Its id at OpenAlex."""
        return f"W{self.number:07}"

    @property
    def s2(self) -> str:
        """Its id at Semantic Scholar."""
        return f"{self.number:040x}"


PAGES = [
    Page("When swallows leave", "https://birds.example/leave", "Swallows leave in September.", 3),
    Page("Swallows return", "https://www.nature.example/return?b=2&a=1", "Swallows are back.", 20),
    Page("Swallow nests", "https://barns.example/nests/", "Swallows nest in barns.", 200),
    Page("The swallows of Africa", "https://africa.example/swallows", "Swallows in winter.", None),
    Page("Old swallows", "https://old.example/swallows", "Swallows, long ago.", 4000),
    Page("Storks", "https://storks.example/", "Storks fly by day.", 2),
]
PAPERS = [
    FakePaper(
        "Swallows and their routes",
        "We follow swallows with small loggers over two years.",
        1001,
        doi="10.1234/swallow.1",
        arxiv="2106.15928",
        pdf="https://arxiv.org/pdf/2106.15928",
        cites=(1002, 1003),
        citations=42,
    ),
    FakePaper(
        "Do swallows sleep in flight?",
        "A negative answer about swallows.",
        1002,
        authors=("Alan Turing",),
        doi="10.1234/swallow.2",
        age=60,
        retracted=True,
        citations=3,
    ),
    FakePaper(
        "Swallows, a model",
        "A model of swallows in equations.",
        1003,
        authors=("Emmy Noether",),
        arxiv="1901.00001",
        venue="arXiv",
        age=2600,
        field_id=26,
        study="Mathematics",
        pdf="https://arxiv.org/pdf/1901.00001",
    ),
    FakePaper("On storks", "Storks fly by day.", 1004, doi="10.1234/stork", cites=(1001,)),
]
LONG = 1_000_000
HOSTILE_PAGES = [
    Page(HOSTILE, "javascript:alert(1)", HOSTILE),
    Page(HOSTILE, "file:///etc/passwd", HOSTILE),
    Page(HOSTILE, "https://user:pass@birds.example/", HOSTILE),
    Page(HOSTILE, "http://[half", HOSTILE),
    Page(HOSTILE, "https://birds.example:99999/", HOSTILE),
    Page(HOSTILE, "https://birds.example/\u202egpj", HOSTILE),
    Page(HOSTILE, "https://birds.example/" + "x" * 10_000, HOSTILE),
    Page(f"{ANSI} {HOSTILE} " + "t" * LONG, "https://birds.example/title", HOSTILE),
    Page("", "https://birds.example/nameless", f"\ud800\x00 {ANSI} {HOSTILE} " * 10_000),
    *[Page(f"{HOSTILE} {n}", f"https://birds.example/{n}", f"{HOSTILE} " * 900) for n in range(90)],
]


def words_of(text: str) -> set[str]:
    """The words of a text, as they are compared."""
    return set(re.findall(r"\w+", text.casefold()))


def score(query: str, text: str) -> int:
    """The number of words that a query and a text share."""
    return len(words_of(query) & words_of(text))


def pages_for(query: str) -> list[Page]:
    """The pages that share words with a query, best first."""
    if HOSTILE in words_of(query):
        return HOSTILE_PAGES
    scored = [(score(query, f"{page.title} {page.text}"), page) for page in PAGES]
    return [page for number, page in sorted(scored, key=lambda it: -it[0]) if number]


def papers_for(query: str) -> list[FakePaper]:
    """The papers that share words with a query, best first."""
    if HOSTILE in words_of(query):
        return [
            FakePaper(f"{ANSI} {HOSTILE} " + "t" * LONG, f"\x00{ANSI} {HOSTILE} " * 20_000, 2000),
            *[FakePaper(f"{HOSTILE} {n}", HOSTILE, 2001 + n) for n in range(90)],
        ]
    scored = [
        (score(query, f"{paper.title} {paper.abstract} {' '.join(paper.authors)}"), paper)
        for paper in PAPERS
    ]
    return [paper for number, paper in sorted(scored, key=lambda it: -it[0]) if number]
