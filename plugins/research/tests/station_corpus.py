"""A fixed corpus: twenty documents and three talks about one power station, which disagree twice.

A shelf serves it as a plugin: a loader for its addresses, and a search of its words.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from vr_kernel import (
    Call,
    Code,
    Document,
    DocumentLoader,
    Locator,
    Provider,
    SearchProvider,
    Segment,
    VrError,
    WebQuery,
    WebResult,
    WebResults,
    hookimpl,
)

HOST = "https://library{number}.example/"
SUBJECTS = (
    "turbine blades",
    "tidal barrage",
    "sluice gates",
    "fish passage",
    "grid connection",
    "sediment transport",
    "salt corrosion",
    "maintenance vessel",
    "control room",
    "visitor centre",
    "generator cooling",
    "harbour traffic",
    "bird habitat",
    "concrete caisson",
    "pumped storage",
    "cable route",
    "price contract",
    "local employment",
    "noise survey",
    "flood protection",
    "lock keeping",
    "dredging works",
    "storm warning",
)
DOCUMENTS = 20
COUNT = len(SUBJECTS)
"""Documents, and after them the talks."""
FIRST = "The Severn Point station produced 320 gigawatt hours of electricity during the year 2021."
SECOND = "The Severn Point station produced 410 gigawatt hours of electricity during the year 2021."
OPENED = (
    "The Severn Point station opened for commercial operation in 1998 after six years of building."
)
REOPENED = (
    "The Severn Point station opened for commercial operation in 2001 after six years of building."
)
_PATTERNS = (
    "Engineers at the {place} inspected the {subject} every {n} weeks and logged each finding.",
    "The budget for the {subject} rose to {n} million pounds before the second phase began.",
    "Divers of the {place} described the state of the {subject} in {n} pages of notes.",
    "A survey of the {subject} by {who} lasted {n} days and covered the whole estuary.",
    "Older reports about the {subject} describe {n} separate incidents with little detail.",
    "The insurer asked {n} questions about the {subject} before the contract was signed.",
    "The team replaced parts of the {subject} after {n} thousand hours of running time.",
    "According to {who}, the {subject} needs {n} people on every shift at the {place}.",
    "Visitors of the {place} paid {n} pounds each for a tour that showed the {subject}.",
)
_PLACES = ("north dock", "south dock", "east quay", "west quay")
_NAMES = ("Marlow", "Ibrahim", "Tanaka", "Okafor", "Lindqvist")


def pages_of(number: int) -> list[list[str]]:
    """The ten sentences of a document, page by page."""
    lines = [
        pattern.format(
            subject=SUBJECTS[number],
            place=_PLACES[(number + at) % len(_PLACES)],
            who=_NAMES[(number + at) % len(_NAMES)],
            n=11 + 7 * number + 13 * at,
        )
        for at, pattern in enumerate(_PATTERNS)
    ]
    lines.insert(3, {3: FIRST, 7: SECOND, 5: OPENED, 11: REOPENED}.get(number, _own(number)))
    return [lines[:3], lines[3:7], lines[7:]]


def _own(number: int) -> str:
    subject = SUBJECTS[number]
    return f"Report {number} calls the {subject} of the Severn Point station a lasting success."


def address_of(number: int) -> str:
    """The address of a document; each has a host of its own."""
    ending = "talk.mp4" if number >= DOCUMENTS else "report.pdf"
    return HOST.format(number=number) + ending


def document_of(number: int) -> Document:
    """A document with pages, or a talk with seconds for those from number 20 on."""
    timed = number >= DOCUMENTS
    segments = []
    for page, lines in enumerate(pages_of(number), 1):
        place = Locator(start=60.0 * page, end=60.0 * page + 55) if timed else Locator(page=page)
        segments.append(Segment(" ".join(lines), place, f"{address_of(number)}#{page}"))
    text = "".join(each.text for each in segments)
    return Document(
        address_of(number),
        f"Report {number} on {SUBJECTS[number]}",
        "video/mp4" if timed else "application/pdf",
        hashlib.sha256(f"{number}{text}".encode()).hexdigest(),
        segments,
    )


Opening = Callable[[str], Awaitable[None]]


class Shelf:
    """The corpus as a plugin, whose search finds pages of the web, or what a subclass says.

    Args:
        opened: called with each address that is loaded.
        count: documents that it has, the first ones.
        more: further documents, by their address.

    Attributes:
        loads: the addresses that were loaded, in order.
        searches: the searches that were made, in order.
        search_error: raised by each search.
    """

    finds: frozenset[str] = frozenset({"web"})

    def __init__(
        self,
        opened: Opening | None = None,
        *,
        count: int = COUNT,
        more: Mapping[str, Document] | None = None,
    ) -> None:
        self.opened = opened
        self.documents = {address_of(at): document_of(at) for at in range(count)} | {**(more or {})}
        self.loads: list[str] = []
        self.searches: list[str] = []
        self.search_error: VrError | None = None

    @hookimpl
    def vr_providers(self) -> list[Provider[Any]]:
        """A loader and a search."""
        return [
            Provider(DocumentLoader, "shelf", lambda _services: _Loader(self)),
            Provider(SearchProvider, "shelf", lambda _services: _Search(self), of_call=True),
        ]

    async def load(self, source: str) -> Document:
        """The document of an address.

        Raises:
            VrError: NOT_FOUND.
        """
        self.loads.append(source)
        if self.opened is not None:
            await self.opened(source)
        if source not in self.documents:
            raise VrError(f"{source} is gone.", Code.NOT_FOUND, category="HTTP_NOT_FOUND")
        return self.documents[source]

    def results(self, query: str) -> list[WebResult]:
        """The documents that share most words with a query, best first."""
        asked = _words(query)
        scored = sorted(
            (
                (-len(asked & _words(_text(document))), address)
                for address, document in self.documents.items()
            ),
        )
        return [
            WebResult(self.documents[address].title, address, _text(self.documents[address])[:160])
            for score, address in scored
            if score
        ]


class _Loader:
    name = "shelf"

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def takes(self, source: str) -> bool:
        return source.startswith("https://")

    async def load(self, _call: Call, source: str) -> Document:
        return await self._shelf.load(source)


class _Search:
    name = "shelf"

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self.finds = shelf.finds

    async def search(self, _call: Call, query: WebQuery) -> WebResults:
        self._shelf.searches.append(query.query)
        if self._shelf.search_error is not None:
            raise self._shelf.search_error
        return WebResults.bounded(query, self._shelf.results(query.query))


class TextFiles:
    """A plugin that reads text files."""

    name = "files"

    @hookimpl
    def vr_providers(self) -> list[Provider[Any]]:
        """The loader."""
        return [Provider(DocumentLoader, "files", lambda _services: self)]

    def takes(self, source: str) -> bool:
        """True for a text file."""
        return source.endswith(".txt")

    async def load(self, call: Call, source: str) -> Document:
        """The file as one part; its name is its title."""
        path = call.services.policy.resolve_file(source)
        text = path.read_text("utf-8")
        digest = hashlib.sha256(text.encode()).hexdigest()
        place = Segment(text, Locator(first_line=1), source)
        return Document(str(path), path.name, "text/plain", digest, [place])


def _text(document: Document) -> str:
    return " ".join(each.text for each in document.segments)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
