"""Papers as results of a search, and results of other plugins' searches as papers."""

from __future__ import annotations

from datetime import date

from vr_kernel import WebQuery, WebResult, WebResults

from vr_plugin_search.papers.making import make_paper
from vr_plugin_search.papers.paper_query import FoundPapers
from vr_plugin_search.results.papers import Paper

YES, NO = "yes", "no"


def as_results(query: WebQuery, found: FoundPapers) -> WebResults:
    """Return papers as a search provider does."""
    return WebResults.bounded(query, map(as_result, found.papers), notes=found.notes)


def as_result(paper: Paper) -> WebResult:
    """A paper as a result; its `details` hold what tells how good a source it is."""
    details: dict[str, str | float | None] = {
        "authors": "; ".join(paper.authors),
        "doi": paper.doi,
        "arxiv": paper.arxiv,
        "citations": paper.citations,
        "year": paper.year,
        "venue": paper.venue,
        "pdf": paper.pdf,
        "retracted": None if paper.retracted is None else YES if paper.retracted else NO,
        "id": paper.id,
        "provider": paper.provider,
    }
    told = {name: value for name, value in details.items() if value not in (None, "")}
    published = date.fromisoformat(paper.published) if paper.published else None
    return WebResult(paper.title, paper.url, paper.abstract, published, told)


def as_paper(provider: str, found: WebResult) -> Paper | None:
    """A paper made of a result of any provider, by the details that it has."""
    details = found.details
    texts = {name: value for name, value in details.items() if isinstance(value, str)}
    numbers = {name: value for name, value in details.items() if isinstance(value, int)}
    authors = texts.get("authors", "")
    return make_paper(
        provider,
        title=found.title,
        id=texts.get("id", ""),
        authors=[each.strip() for each in authors.split(";")] if authors else [],
        year=numbers.get("year"),
        venue=texts.get("venue", ""),
        abstract=found.snippet,
        url=found.url,
        pdf=texts.get("pdf", ""),
        doi=texts.get("doi", ""),
        arxiv=texts.get("arxiv", ""),
        citations=numbers.get("citations"),
        retracted={YES: True, NO: False}.get(texts.get("retracted", "")),
        published=found.published,
    )
