"""The source of a concept or a relationship: a record, and its words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from sys import intern
from typing import Any

from vr_plugin_knowledge.graph.moments import seconds_of

MOST_CITATIONS = 50
"""Most records that one concept or relationship names; later ones are not added."""
_VERSION_CHARS = 12


@dataclass(frozen=True, slots=True)
class Citation:
    """A record that is cited: its version, the words, and the link to them.

    `title` is that of its source.
    """

    collection: str
    object_id: str
    version: str = ""
    quote: str = ""
    link: str = ""
    title: str = ""

    @property
    def seconds(self) -> float | None:
        """The moment that the link opens, in seconds; None for one that opens no moment."""
        return seconds_of(self.link)

    @property
    def record(self) -> tuple[str, str]:
        """The record, whatever its version."""
        return self.collection, self.object_id

    @property
    def address(self) -> str:
        """Record and version as one text, in the form of the field `sources`."""
        return f"{self.collection}/{self.object_id}" + (f"#{self.version}" if self.version else "")


def version_of(text: str) -> str:
    """Digest of a record's text, which tells its versions apart."""
    return hashlib.sha256(text.encode()).hexdigest()[:_VERSION_CHARS]


def read_citations(fields: Mapping[str, Any]) -> tuple[Citation, ...]:
    """The citations in a record's fields `sources`, `quotes` and `links`."""
    columns = [fields.get(name) or [] for name in ("sources", "quotes", "links", "titles")]
    found = []
    for address, quote, link, title in zip_longest(*columns, fillvalue=""):
        place, _, version = address.partition("#")
        collection, _, object_id = place.partition("/")
        if object_id:
            found.append(
                Citation(
                    intern(collection),
                    intern(object_id),
                    intern(version),
                    quote,
                    intern(link),
                    intern(title),
                )
            )
    return tuple(found)


def write_citations(citations: Sequence[Citation]) -> dict[str, list[str]]:
    """The fields that `read_citations` reads."""
    return {
        "sources": [each.address for each in citations],
        "quotes": [each.quote for each in citations],
        "links": [each.link for each in citations],
        "titles": [each.title for each in citations],
    }


def join_citations(*several: Iterable[Citation]) -> tuple[Citation, ...]:
    """The citations of all in order, the first one of each record."""
    kept: dict[tuple[str, str], Citation] = {}
    for citation in chain.from_iterable(several):
        if len(kept) < MOST_CITATIONS:
            kept.setdefault(citation.record, citation)
    return tuple(kept.values())
