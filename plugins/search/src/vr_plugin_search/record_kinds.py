"""The kinds of records of the search domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vr_kernel import RecordField, RecordKind, entity_key

SEARCHES = "WebSearchResults"
PAPERS = "AcademicPapers"


def paper_key(of: Mapping[str, Any]) -> str:
    """Return the key of a paper by a record's fields: by its DOI, or else by its address."""
    return entity_key(PAPERS, str(of.get("doi") or of["url"]).lower())


WEB_SEARCH_RESULTS = RecordKind(
    name=SEARCHES,
    description="Searches of the web, with the answers that services wrote.",
    fields=(
        RecordField("query", description="Search query", vectorised=True, searchable=True),
        RecordField(
            "response", description="Search response text", vectorised=True, searchable=True
        ),
        RecordField("sources_json", description="Sources as JSON"),
    ),
    rerank="response",
    derived=True,
    category="search",
    naming=lambda fields: str(fields["query"]),
)
ACADEMIC_PAPERS = RecordKind(
    name=PAPERS,
    description="Papers that were found, with their abstracts.",
    fields=(
        RecordField("paper_id", description="Identifier at the service that found it"),
        RecordField("title", description="Title", vectorised=True, searchable=True),
        RecordField("abstract", description="Abstract", vectorised=True, searchable=True),
        RecordField("authors", "text[]", description="Authors", searchable=True, filterable=True),
        RecordField("year", "int", description="Year of publication", filterable=True, range=True),
        RecordField("venue", description="Journal, conference or archive", filterable=True),
        RecordField("doi", description="DOI", filterable=True),
        RecordField("url", description="Address of the paper", filterable=True),
        RecordField("citations", "int", description="Papers that cite it", range=True),
        RecordField("open_access", "bool", description="Everybody may read it", filterable=True),
        RecordField("retracted", "bool", description="It was withdrawn", filterable=True),
    ),
    rerank="abstract",
    source="url",
    link="url",
    identity=paper_key,
    category="paper",
    title="title",
)
