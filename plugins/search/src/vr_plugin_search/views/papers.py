"""The views of papers: of results, and of records."""

from __future__ import annotations

from collections.abc import Sequence

from vr_kernel import Services, StoredRecord
from vr_kernel.views import (
    Block,
    Cell,
    Facts,
    Item,
    Link,
    Prose,
    Records,
    View,
    shown_host,
    view,
)

from vr_plugin_search.results.papers import Paper, PaperCitations, PaperResults

ABSTRACT_CHARS = 300
AUTHORS = 3
RELATIONS = {
    "citations": "Papers that cite it",
    "references": "Papers that it cites",
    "recommendations": "Papers like it",
}


@view(tool="paper_search")
async def show_found(services: Services, found: PaperResults) -> View:
    """Show papers as a list; one that was looked up in full."""
    about = [f"asked: {', '.join(found.providers)}"] if found.providers else []
    if len(found.papers) == 1:
        return _whole(found.papers[0], about, found.notes)
    return View(found.query, _listed(found.papers, "Papers"), about, notes=found.notes)


@view(tool="paper_citations")
async def show_relations(services: Services, found: PaperCitations) -> View:
    """Show the papers that stand in a relation to one."""
    about = [f"asked: {', '.join(found.providers)}"] if found.providers else []
    listed = _listed(found.papers, RELATIONS[found.direction])
    return View(found.paper_id, listed, about, notes=found.notes)


@view(kind="AcademicPapers")
async def show_papers(services: Services, records: Sequence[StoredRecord]) -> View:
    """Show recorded papers: one in full, several as a list."""
    papers = [_kept(record) for record in records]
    if len(papers) == 1:
        return _whole(papers[0], [], [])
    return View("Papers", _listed(papers, "", [f"{it.kind}/{it.key}" for it in records]))


def _listed(papers: Sequence[Paper], title: str, ids: Sequence[str] = ()) -> list[Block]:
    items = [
        Item(
            f"{number}. {paper.title}",
            _short(paper.abstract),
            Link(paper.url, shown_host(paper.url)),
            _facts(paper),
            ids[number - 1] if ids else "",
        )
        for number, paper in enumerate(papers, 1)
    ]
    found: Block = Records(items, title=title, total=len(items))
    return [found] if items else [Prose("Nothing found.")]


def _whole(paper: Paper, about: Sequence[str], notes: Sequence[str]) -> View:
    """A paper in full."""
    rows: list[tuple[str, Cell]] = [
        ("Authors", ", ".join(paper.authors)),
        ("Year", paper.year),
        ("Venue", paper.venue),
        ("Cited by", paper.citations),
        ("DOI", Link(f"https://doi.org/{paper.doi}", paper.doi) if paper.doi else None),
        (
            "arXiv",
            Link(f"https://arxiv.org/abs/{paper.arxiv}", paper.arxiv) if paper.arxiv else None,
        ),
        ("Open access", Link(paper.pdf, shown_host(paper.pdf)) if paper.pdf else None),
        ("Id", paper.id),
    ]
    told = [(name, value) for name, value in rows if value not in (None, "")]
    blocks: list[Block] = [Prose(paper.abstract)] if paper.abstract else []
    warned = ["This paper was retracted."] if paper.retracted else []
    return View(paper.title, [Facts(told), *blocks], about, paper.url, [*warned, *notes])


def _facts(paper: Paper) -> list[Cell]:
    names = ", ".join(paper.authors[:AUTHORS])
    more = " and others" if len(paper.authors) > AUTHORS else ""
    cited = f"cited by {paper.citations:,}" if paper.citations is not None else ""
    told: list[Cell] = [
        "RETRACTED" if paper.retracted else "",
        f"{names}{more}",
        str(paper.year or ""),
        paper.venue,
        cited,
        Link(paper.pdf, "PDF") if paper.pdf else "",
    ]
    return [each for each in told if each]


def _short(text: str) -> str:
    return text if len(text) <= ABSTRACT_CHARS else f"{text[:ABSTRACT_CHARS].rstrip()}..."


def _kept(record: StoredRecord) -> Paper:
    fields = record.fields
    numbers = {
        name: value
        for name in ("year", "citations")
        if isinstance(value := fields.get(name), int) and not isinstance(value, bool)
    }
    authors = fields.get("authors")
    return Paper(
        title=str(fields.get("title", "")),
        authors=[str(each) for each in authors] if isinstance(authors, list) else [],
        venue=str(fields.get("venue", "")),
        abstract=str(fields.get("abstract", "")),
        url=str(fields.get("url", "")),
        doi=str(fields.get("doi", "")),
        retracted=True if fields.get("retracted") is True else None,
        id=str(fields.get("paper_id", "")),
        **numbers,
    )
