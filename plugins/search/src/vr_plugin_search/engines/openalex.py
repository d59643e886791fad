"""OpenAlex: `GET /works`; a key is free, and without one only a few searches a day are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from vr_kernel import VrError

from vr_plugin_search.addresses.identifiers import PaperId, Scheme, read_identifier
from vr_plugin_search.engines.answers import at, day, number, rows, text, texts, truth, year
from vr_plugin_search.engines.failures import UNKNOWN, unknown_paper
from vr_plugin_search.engines.openalex_fields import FIELD_IDS
from vr_plugin_search.engines.paper_engine import PaperEngine, gathered
from vr_plugin_search.engines.queries import cut, first_day
from vr_plugin_search.engines.service_rows import OPENALEX
from vr_plugin_search.papers.making import make_paper
from vr_plugin_search.papers.paper_query import FoundPapers, PaperQuery
from vr_plugin_search.results.papers import Paper

MOST = 100
MOST_AUTHORS = 20
QUERY_CHARS = 1_000
SELECT = (
    "id,doi,title,publication_year,publication_date,authorships,primary_location,locations,"
    "best_oa_location,cited_by_count,is_retracted,abstract_inverted_index,ids"
)
WORDS = 2_000
"""Words of an abstract that are put together."""


class OpenAlex(PaperEngine):
    """Papers of all fields; the one service here that tells what was retracted."""

    row = OPENALEX
    knows: ClassVar[frozenset[Scheme]] = frozenset({"doi", "arxiv", "openalex", "pmid"})

    async def ask(self, query: PaperQuery) -> FoundPapers:
        """See `PaperEngine.ask`."""
        words, notes = cut(_searched(query.web.query), chars=QUERY_CHARS, address=True)
        filters = list(_filters(query))
        if query.author:
            authors = await self._authors(query.author)
            if not authors:
                return FoundPapers(notes=("OpenAlex knows no author of that name.",))
            filters.append(f"authorships.author.id:{'|'.join(authors)}")
        if not words:
            return FoundPapers(notes=("OpenAlex searches for words, and the query has none.",))
        asked: dict[str, str | int] = {"search": words, "per_page": min(query.most, MOST)}
        return gathered(await self._works(asked, filters), notes)

    async def ask_for(self, paper: PaperId) -> FoundPapers:
        """See `PaperEngine.ask_for`."""
        work = await self._work(paper)
        return gathered([_paper(work)] if work else [])

    async def citations(self, paper: PaperId, limit: int) -> FoundPapers:
        """Papers that cite one, the most cited first."""
        work = await self._required(paper)
        asked: dict[str, str | int] = {"sort": "cited_by_count:desc", "per_page": min(limit, MOST)}
        return gathered(await self._works(asked, [f"cites:{_short_id(work)}"]))

    async def references(self, paper: PaperId, limit: int) -> FoundPapers:
        """Papers that one cites, the most cited first."""
        listed = texts(await self._required(paper), "referenced_works")
        cited = [found.value for each in listed if (found := read_identifier(each))]
        if not cited:
            return FoundPapers()
        asked: dict[str, str | int] = {"sort": "cited_by_count:desc", "per_page": min(limit, MOST)}
        # A filter takes a hundred values.
        return gathered(await self._works(asked, [f"openalex:{'|'.join(cited[:MOST])}"]))

    async def _works(
        self, asked: Mapping[str, str | int], filters: list[str]
    ) -> list[Paper | None]:
        given: dict[str, str | int] = {"select": SELECT, **asked}
        if filters:
            given["filter"] = ",".join(filters)
        answer = await self.service.get("/works", {**given, **self._access()})
        return [_paper(row) for row in rows(answer, "results")]

    async def _required(self, paper: PaperId) -> Mapping[str, Any]:
        work = await self._work(paper)
        if work is None:
            raise unknown_paper(self.row)
        return work

    async def _work(self, paper: PaperId) -> Mapping[str, Any] | None:
        """The work with an identifier; None for an unknown one."""
        named = {
            "arxiv": f"doi:10.48550/arXiv.{paper.value}",
            "doi": f"doi:{_quoted(paper.value)}",
            "pmid": f"pmid:{paper.value}",
        }.get(paper.scheme, paper.value)
        select = {"select": f"{SELECT},referenced_works"}
        try:
            return await self.service.get(f"/works/{named}", {**select, **self._access()})
        except VrError as error:
            if error.category == UNKNOWN:
                return None
            raise

    async def _authors(self, name: str) -> list[str]:
        asked: dict[str, str | int] = {
            "search": _searched(name)[:200],
            "per_page": MOST_AUTHORS,
            "select": "id",
        }
        answer = await self.service.get("/authors", {**asked, **self._access()})
        named = (text(row, "id").rpartition("/")[2] for row in rows(answer, "results"))
        return [each for each in named if re.fullmatch(r"A\d{4,12}", each)]

    def _access(self) -> dict[str, str]:
        """The key, or else the address of who asks; the fetcher tells neither to anybody."""
        if self.service.key:
            return {"api_key": self.service.key}
        mailto = self.service.setting("openalex_mailto")
        return {"mailto": mailto} if mailto else {}


def _filters(query: PaperQuery) -> Iterator[str]:
    if since := first_day(query.web.recency):
        yield f"from_publication_date:{since.isoformat()}"
    if query.years and query.years.first:
        yield f"from_publication_date:{query.years.first}-01-01"
    if query.years and query.years.last:
        yield f"to_publication_date:{query.years.last}-12-31"
    if query.fields:
        numbers = {str(number) for name in query.fields for number in FIELD_IDS[name]}
        yield f"primary_topic.field.id:{'|'.join(sorted(numbers))}"
    if query.open_access_only:
        yield "open_access.is_oa:true"


def _searched(words: str) -> str:
    """The words without signs that have a meaning in its searches and are refused when alone."""
    plain = re.sub(r"[^\w\s'\"-]", " ", words)
    if plain.count('"') % 2:
        plain = plain.replace('"', " ")
    return " ".join(word for word in plain.split() if word not in ("AND", "OR", "NOT"))


def _quoted(doi: str) -> str:
    from urllib.parse import quote

    return quote(doi, safe="/:;()._-")


def _short_id(work: Mapping[str, Any]) -> str:
    found = read_identifier(text(work, "id"))
    return found.value if found and found.scheme == "openalex" else "W0"


def _paper(work: Mapping[str, Any]) -> Paper | None:
    places = [at(work, "best_oa_location"), at(work, "primary_location"), *rows(work, "locations")]
    pages = [text(each, "landing_page_url") for each in places]
    found = [read_identifier(each) for each in pages if each]
    arxiv = next((each.value for each in found if each and each.scheme == "arxiv"), "")
    return make_paper(
        OPENALEX.name,
        title=text(work, "title"),
        id=text(work, "id").rpartition("/")[2],
        authors=[text(each, "author", "display_name") for each in rows(work, "authorships")],
        year=year(work, "publication_year"),
        venue=text(work, "primary_location", "source", "display_name"),
        abstract=_abstract(at(work, "abstract_inverted_index")),
        url=next(filter(None, pages), text(work, "id")),
        pdf=text(work, "best_oa_location", "pdf_url"),
        doi=text(work, "doi").removeprefix("https://doi.org/"),
        arxiv=arxiv,
        citations=number(work, "cited_by_count"),
        retracted=truth(work, "is_retracted"),
        published=day(work, "publication_date"),
    )


def _abstract(index: Any) -> str:
    """The text of an abstract, which is sent as the places of each of its words."""
    if not isinstance(index, Mapping):
        return ""
    placed: dict[int, str] = {}
    for word, places in index.items():
        for place in places if isinstance(places, list) else ():
            if isinstance(place, int) and 0 <= place < WORDS:
                placed[place] = word
    return " ".join(placed[place] for place in sorted(placed))
