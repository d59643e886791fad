"""Papers made of what services send: cleaned, cut to size, with the best address."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from vr_kernel import visible_line

from vr_plugin_search.addresses.identifiers import PaperId, doi_of
from vr_plugin_search.results.papers import Paper

TITLE_CHARS = 300
ABSTRACT_CHARS = 2_000
NAME_CHARS = 120
MOST_AUTHORS = 50
URL_CHARS = 2_000


def make_paper(
    provider: str,
    *,
    title: str,
    id: str,  # noqa: A002 - the name of the field
    authors: Iterable[str] = (),
    year: int | None = None,
    venue: str = "",
    abstract: str = "",
    url: str = "",
    pdf: str = "",
    doi: str = "",
    arxiv: str = "",
    citations: int | None = None,
    retracted: bool | None = None,
    published: date | None = None,
) -> Paper | None:
    """Make a paper of a service's values; None for one without a title or an address."""
    numbered = doi_of(doi) if doi else None
    if numbered is not None and numbered.scheme == "arxiv":
        arxiv = arxiv or numbered.value
    number = numbered.value if numbered is not None and numbered.scheme == "doi" else ""
    known = [PaperId("arxiv", arxiv)] if arxiv else []
    known += [PaperId("doi", number)] if number else []
    address = known[0].url if known else url
    named = visible_line(title[: TITLE_CHARS * 4], TITLE_CHARS)
    if not named or not _is_address(address):
        return None
    names = (visible_line(each[:NAME_CHARS], NAME_CHARS) for each in authors)
    return Paper(
        title=named,
        authors=[each for each in names if each][:MOST_AUTHORS],
        year=year if year is not None else published.year if published else None,
        venue=visible_line(venue[: TITLE_CHARS * 4], TITLE_CHARS),
        abstract=visible_line(abstract[: ABSTRACT_CHARS * 4], ABSTRACT_CHARS),
        url=address,
        pdf=pdf if _is_address(pdf) else "",
        doi=number,
        arxiv=arxiv,
        citations=citations if citations is not None and citations >= 0 else None,
        retracted=retracted,
        published=published.isoformat() if published else "",
        id=id if len(id) <= NAME_CHARS and id.isprintable() else "",
        provider=provider,
    )


def _is_address(url: str) -> bool:
    plain = len(url) <= URL_CHARS and url.isprintable() and not any(map(str.isspace, url))
    return plain and url.startswith(("http://", "https://")) and "@" not in url.split("/")[2]
