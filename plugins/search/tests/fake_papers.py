"""Answers of services that search papers, as their documentation shows them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from xml.sax.saxutils import escape

from corpus import PAPERS, FakePaper, papers_for, words_of
from vr_testing.service.errors import ServiceError
from vr_testing.service.reply import HttpReply, as_json

if TYPE_CHECKING:
    from fake_search import SearchRequest

AUTHORS = {name: f"A50{n:05}" for n, paper in enumerate(PAPERS) for name in paper.authors}


def openalex(request: SearchRequest) -> HttpReply:
    """`GET /works`, `/works/{id}` and `/authors`."""
    if request.place == "/authors":
        named = [it for it in AUTHORS if words_of(request.text) <= words_of(it)]
        return as_json({"results": [{"id": f"https://openalex.org/{AUTHORS[it]}"} for it in named]})
    if request.place.startswith("/works/"):
        return as_json(_work(_found(unquote(request.place.removeprefix("/works/")))))
    if request.place != "/works" or not 1 <= int(request.query["per_page"]) <= 100:
        raise ServiceError(400)
    if re.search(r"[*?~]", request.text):
        raise ServiceError(400)
    filters = dict(it.split(":", 1) for it in request.query.get("filter", "").split(",") if it)
    found = papers_for(request.text) if "search" in request.query else PAPERS
    kept = [paper for paper in found if _passes(paper, filters)]
    rows = [_work(paper) for paper in kept[: int(request.query["per_page"])]]
    return as_json({"meta": {"count": len(kept)}, "results": rows})


def _passes(paper: FakePaper, filters: Mapping[str, str]) -> bool:
    tests = {
        "from_publication_date": lambda it: paper.published.isoformat() >= it,
        "to_publication_date": lambda it: paper.published.isoformat() <= it,
        "open_access.is_oa": lambda it: bool(paper.pdf) is (it == "true"),
        "primary_topic.field.id": lambda it: str(paper.field_id) in it.split("|"),
        "authorships.author.id": lambda it: any(AUTHORS[x] in it.split("|") for x in paper.authors),
        "cites": lambda it: any(it == _numbered(each).openalex for each in paper.cites),
        "openalex": lambda it: paper.openalex in it.split("|"),
    }
    unknown = filters.keys() - tests.keys()
    if unknown:
        raise ServiceError(400)
    return all(tests[name](value) for name, value in filters.items())


def _numbered(number: int) -> FakePaper:
    return next(paper for paper in PAPERS if paper.number == number)


def _found(named: str) -> FakePaper:
    """The paper with an identifier, in any of the services' spellings."""
    wanted = re.sub(r"^(doi|arxiv|corpusid|pmid):", "", named, flags=re.IGNORECASE).lower()
    wanted = wanted.removeprefix("10.48550/arxiv.")
    for paper in PAPERS:
        if wanted in (paper.openalex.lower(), paper.s2, paper.doi or "-", paper.arxiv or "-"):
            return paper
    raise ServiceError(404)


def _work(paper: FakePaper) -> dict[str, Any]:
    index: dict[str, list[int]] = {}
    for place, word in enumerate(paper.abstract.split()):
        index.setdefault(word, []).append(place)
    arxiv = f"https://arxiv.org/abs/{paper.arxiv}" if paper.arxiv else ""
    best = {"landing_page_url": arxiv, "pdf_url": paper.pdf} if paper.pdf else None
    doi = f"https://doi.org/{paper.doi}" if paper.doi else None
    return {
        "id": f"https://openalex.org/{paper.openalex}",
        "doi": doi,
        "title": paper.title,
        "publication_year": paper.published.year,
        "publication_date": paper.published.isoformat(),
        "authorships": [{"author": {"display_name": name}} for name in paper.authors],
        "primary_location": {
            "landing_page_url": doi,
            "source": {"display_name": paper.venue},
        },
        "best_oa_location": best,
        "locations": [],
        "cited_by_count": paper.citations,
        "is_retracted": paper.retracted,
        "abstract_inverted_index": index,
        "referenced_works": [
            f"https://openalex.org/{_numbered(each).openalex}" for each in paper.cites
        ],
    }


def semantic_scholar(request: SearchRequest) -> HttpReply:
    """The Academic Graph API and the Recommendations API."""
    place, limit = unquote(request.place), int(request.query.get("limit", 10))
    if limit > 100 or "fields" not in request.query:
        raise ServiceError(400)
    if found := re.fullmatch(r"/recommendations/v1/papers/forpaper/(.+)", place):
        others = [paper for paper in PAPERS if paper is not _found(found[1])]
        return as_json({"recommendedPapers": [_row(it) for it in others[:limit]]})
    if place == "/graph/v1/paper/search":
        return as_json({"total": 9, "offset": 0, "data": _searched(request)[:limit]})
    found = re.fullmatch(r"/graph/v1/paper/(.+?)(/citations|/references)?", place)
    if found is None:
        raise ServiceError(404)
    paper = _found(found[1])
    if found[2] == "/citations":
        rows = [{"citingPaper": _row(it)} for it in PAPERS if paper.number in it.cites]
        return as_json({"offset": 0, "data": rows[:limit]})
    if found[2] == "/references":
        rows = [{"citedPaper": _row(_numbered(each))} for each in paper.cites]
        return as_json({"offset": 0, "data": rows[:limit] or None})
    return as_json(_row(paper))


def _searched(request: SearchRequest) -> list[dict[str, Any]]:
    query = request.query
    if not request.text.strip() or "-" in request.text:
        raise ServiceError(400)
    found = papers_for(request.text)
    first, _, last = query.get("year", "").partition("-")
    if "year" in query:
        last = last or ("9999" if "-" in query["year"] else first)
        found = [it for it in found if int(first or 0) <= it.published.year <= int(last)]
    if "fieldsOfStudy" in query:
        found = [it for it in found if it.study in query["fieldsOfStudy"].split(",")]
    if since := query.get("publicationDateOrYear"):
        found = [it for it in found if it.published.isoformat() >= since.rstrip(":")]
    return [_row(paper) for paper in found]


def _row(paper: FakePaper) -> dict[str, Any]:
    ids = {"DOI": paper.doi or None, "ArXiv": paper.arxiv or None, "CorpusId": paper.number}
    return {
        "paperId": paper.s2,
        "externalIds": {name: value for name, value in ids.items() if value},
        "url": f"https://www.semanticscholar.org/paper/{paper.s2}",
        "title": paper.title,
        "abstract": paper.abstract,
        "venue": paper.venue,
        "year": paper.published.year,
        "citationCount": paper.citations + 1,
        "openAccessPdf": {"url": paper.pdf, "status": "GREEN"} if paper.pdf else None,
        "authors": [{"authorId": "1", "name": name} for name in paper.authors],
        "publicationDate": paper.published.isoformat(),
    }


def arxiv(request: SearchRequest) -> HttpReply:
    """`GET /query`."""
    if request.place != "/query":
        raise ServiceError(404)
    if listed := request.query.get("id_list"):
        papers = [it for it in PAPERS if it.arxiv and it.arxiv in listed.split(",")]
    else:
        papers = _feed_for(request.query["search_query"])
    entries = "".join(map(_entry, papers[: int(request.query["max_results"])]))
    head = '<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom">'
    body = f"{head}<title>arXiv Query</title>{entries}</feed>"
    return HttpReply(200, body.encode(), headers={"Content-Type": "application/atom+xml"})


def _feed_for(query: str) -> list[FakePaper]:
    """Papers for a query; here all count as preprints, so that the lists are long enough."""
    if query.count('"') % 2 or query.count("(") != query.count(")"):
        raise ServiceError(400)
    span = re.search(r"submittedDate:\[(\d{12}) TO (\d{12})\]", query)
    rest = re.sub(r"submittedDate:\[[^]]*\]|\b(all|au|cat):|\b(AND|OR)\b", " ", query)
    papers = papers_for(re.sub(r"\([^)]*\)", " ", rest))
    if author := re.search(r'au:"([^"]*)"', query):
        papers = [it for it in papers if words_of(author[1]) <= words_of(" ".join(it.authors))]
    if span:
        day = "{:%Y%m%d}0000"
        papers = [it for it in papers if span[1] <= day.format(it.published) <= span[2]]
    return papers


def _entry(paper: FakePaper) -> str:
    number = paper.arxiv or f"2001.{paper.number:05}"
    gone = "<comment xmlns='http://arxiv.org/schemas/atom'>This paper has been withdrawn</comment>"
    doi = f"<doi xmlns='http://arxiv.org/schemas/atom'>{paper.doi}</doi>" if paper.doi else ""
    names = "".join(f"<author><name>{escape(name)}</name></author>" for name in paper.authors)
    return (
        f"<entry><id>http://arxiv.org/abs/{number}v2</id><title>{_xml(paper.title)}</title>"
        f"<summary>{_xml(paper.abstract)}</summary>{names}{doi}{gone if paper.retracted else ''}"
        f"<published>{paper.published.isoformat()}T10:00:00Z</published></entry>"
    )


def _xml(text: str) -> str:
    """Text without the signs that XML does not take."""
    return escape(re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "", text))
