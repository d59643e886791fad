"""Records of what was found: the search itself, and each paper."""

from __future__ import annotations

import json
from collections.abc import Iterable

from vr_kernel import Call, Record

from vr_plugin_search.record_kinds import PAPERS, SEARCHES, paper_key
from vr_plugin_search.results.papers import Paper
from vr_plugin_search.results.web import WebSearch


def record_search(call: Call, found: WebSearch) -> None:
    """Record a search of the web, as an event of its call."""
    sources = [source.model_dump(mode="json") for source in found.sources]
    fields = {
        "query": found.query,
        "response": found.response,
        "sources_json": json.dumps(sources, ensure_ascii=False),
    }
    call.record(Record(SEARCHES, fields))


def record_papers(call: Call, papers: Iterable[Paper]) -> None:
    """Record papers: what is known of one already stays, where these do not say it."""
    for paper in papers:
        said = {
            "paper_id": paper.id,
            "title": paper.title,
            "abstract": paper.abstract,
            "authors": paper.authors,
            "year": paper.year,
            "venue": paper.venue,
            "doi": paper.doi,
            "url": paper.url,
            "citations": paper.citations,
            "open_access": bool(paper.pdf) or None,
            "retracted": paper.retracted,
        }
        fields = {name: value for name, value in said.items() if value not in (None, "", [])}
        call.record(Record(PAPERS, fields, key=paper_key(fields), merge=True))
