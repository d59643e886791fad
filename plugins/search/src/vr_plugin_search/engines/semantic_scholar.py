"""Semantic Scholar: its Academic Graph API, and its Recommendations API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote

from vr_kernel import VrError

from vr_plugin_search.addresses.identifiers import PaperId, Scheme
from vr_plugin_search.engines.answers import at, day, number, rows, text, year
from vr_plugin_search.engines.failures import UNKNOWN, unknown_paper
from vr_plugin_search.engines.paper_engine import PaperEngine, gathered
from vr_plugin_search.engines.queries import cut, first_day
from vr_plugin_search.engines.service_rows import SEMANTIC_SCHOLAR
from vr_plugin_search.papers.making import make_paper
from vr_plugin_search.papers.paper_query import FoundPapers, PaperQuery, is_by
from vr_plugin_search.results.papers import Paper

MOST = 100
FIELDS = (
    "title,abstract,authors.name,year,venue,url,externalIds,citationCount,openAccessPdf,"
    "publicationDate"
)
_PREFIXES: Mapping[Scheme, str] = {
    "doi": "DOI:",
    "arxiv": "ARXIV:",
    "corpus": "CorpusId:",
    "pmid": "PMID:",
}


class SemanticScholar(PaperEngine):
    """Papers of all fields with their citations; it says of none that it was retracted."""

    row = SEMANTIC_SCHOLAR
    knows: ClassVar[frozenset[Scheme]] = frozenset({"doi", "arxiv", "s2", "corpus", "pmid"})

    async def ask(self, query: PaperQuery) -> FoundPapers:
        """See `PaperEngine.ask`."""
        # Words with hyphens match nothing; authors are among what it searches.
        said = f"{query.web.query} {query.author}".replace("-", " ")
        words, notes = cut(said, chars=1_000, address=True)
        asked: dict[str, str | int] = {"query": words, "fields": FIELDS}
        asked["limit"] = MOST if query.author else min(query.most, MOST)
        if query.years:
            asked["year"] = str(query.years)
        if query.fields:
            asked["fieldsOfStudy"] = ",".join(query.fields)
        if query.open_access_only:
            asked["openAccessPdf"] = ""
        if since := first_day(query.web.recency):
            asked["publicationDateOrYear"] = f"{since.isoformat()}:"
        answer = await self.service.get("/graph/v1/paper/search", asked, self._headers())
        found = [_paper(row) for row in rows(answer, "data")]
        if query.author:
            found = [paper for paper in found if paper and is_by(paper, query.author)]
        return gathered(found, notes)

    async def ask_for(self, paper: PaperId) -> FoundPapers:
        """See `PaperEngine.ask_for`."""
        answer = await self._known(f"/graph/v1/paper/{_name(paper)}", {"fields": FIELDS})
        return gathered([_paper(answer)] if answer else [])

    async def citations(self, paper: PaperId, limit: int) -> FoundPapers:
        """Papers that cite one."""
        return await self._related(paper, "citations", "citingPaper", limit)

    async def references(self, paper: PaperId, limit: int) -> FoundPapers:
        """Papers that one cites."""
        return await self._related(paper, "references", "citedPaper", limit)

    async def recommendations(self, paper: PaperId, limit: int) -> FoundPapers:
        """Papers like one."""
        path = f"/recommendations/v1/papers/forpaper/{_name(paper)}"
        answer = await self._required(path, limit)
        return gathered(map(_paper, rows(answer, "recommendedPapers")))

    async def _related(self, paper: PaperId, relation: str, member: str, limit: int) -> FoundPapers:
        path = f"/graph/v1/paper/{_name(paper)}/{relation}"
        answer = await self._required(path, limit)
        return gathered(_paper(at(row, member)) for row in rows(answer, "data"))

    async def _required(self, path: str, limit: int) -> Mapping[str, Any]:
        answer = await self._known(path, {"fields": FIELDS, "limit": min(limit, MOST)})
        if answer is None:
            raise unknown_paper(self.row)
        return answer

    async def _known(self, path: str, asked: Mapping[str, str | int]) -> Mapping[str, Any] | None:
        """The answer about a paper; None for one that it does not know."""
        try:
            return await self.service.get(path, asked, self._headers())
        except VrError as error:
            if error.category == UNKNOWN:
                return None
            raise

    def _headers(self) -> dict[str, str]:
        return {"x-api-key": self.service.key} if self.service.key else {}


def _name(paper: PaperId) -> str:
    return quote(f"{_PREFIXES.get(paper.scheme, '')}{paper.value}", safe="/:;()._-")


def _paper(row: Any) -> Paper | None:
    found = text(row, "paperId")
    return make_paper(
        SEMANTIC_SCHOLAR.name,
        title=text(row, "title"),
        id=found,
        authors=[text(each, "name") for each in rows(row, "authors")],
        year=year(row, "year"),
        venue=text(row, "venue"),
        abstract=text(row, "abstract"),
        url=text(row, "url") or (PaperId("s2", found).url if found else ""),
        pdf=text(row, "openAccessPdf", "url"),
        doi=text(row, "externalIds", "DOI"),
        arxiv=text(row, "externalIds", "ArXiv").lower(),
        citations=number(row, "citationCount"),
        published=day(row, "publicationDate"),
    )
