"""Identifiers of papers: DOI, arXiv, OpenAlex, Semantic Scholar, and the links that hold them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote, urlsplit

Scheme = Literal["doi", "arxiv", "openalex", "s2", "corpus", "pmid"]
ARXIV_DOI = "10.48550/arxiv."
"""The beginning of the DOI that arXiv gives to each of its papers."""
MOST_CHARS = 500
_ARXIV = r"(?P<arxiv>\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})(?:v\d{1,3})?"
_DOI = re.compile(r"(10\.\d{4,9}/\S{1,300})", re.IGNORECASE)
_ARXIV_ID = re.compile(rf"(?:arxiv:)?{_ARXIV}", re.IGNORECASE)
_ARXIV_PATH = re.compile(rf"/(?:abs|pdf|html|format)/{_ARXIV}(?:\.pdf)?/?", re.IGNORECASE)
_ARXIV_HOSTS = frozenset({"arxiv.org", "export.arxiv.org", "ar5iv.org", "ar5iv.labs.arxiv.org"})
_DOI_HOSTS = frozenset({"doi.org", "dx.doi.org"})
_OPENALEX_HOSTS = frozenset({"openalex.org", "api.openalex.org"})
_S2_HOSTS = frozenset({"semanticscholar.org", "api.semanticscholar.org"})
_FORMS: tuple[tuple[Scheme, re.Pattern[str]], ...] = (
    ("openalex", re.compile(r"(?:openalex:)?(w\d{4,12})", re.IGNORECASE)),
    ("s2", re.compile(r"(?:s2:)?([0-9a-f]{40})", re.IGNORECASE)),
    ("corpus", re.compile(r"corpusid:(\d{1,12})", re.IGNORECASE)),
    ("pmid", re.compile(r"pmid:\s?(\d{1,9})", re.IGNORECASE)),
)


@dataclass(frozen=True, slots=True)
class PaperId:
    """The identifier of a paper, in the one spelling that it is compared by."""

    scheme: Scheme
    value: str

    @property
    def url(self) -> str:
        """The address that opens the paper; empty for one that has none of its own."""
        pages = {
            "doi": f"https://doi.org/{quote(self.value, safe='/:;()._-')}",
            "arxiv": f"https://arxiv.org/abs/{self.value}",
            "openalex": f"https://openalex.org/{self.value}",
            "s2": f"https://www.semanticscholar.org/paper/{self.value}",
            "pmid": f"https://pubmed.ncbi.nlm.nih.gov/{self.value}/",
        }
        return pages.get(self.scheme, "")

    @property
    def key(self) -> str:
        """The scheme and the value, to compare by."""
        return f"{self.scheme}:{self.value}"


def read_identifier(text: str) -> PaperId | None:
    """The identifier that a text is, or the link that holds one; None for other words."""
    given = text.strip()
    if not given or len(given) > MOST_CHARS or re.search(r"\s", given.removeprefix("PMID: ")):
        return None
    if given.lower().startswith(("http://", "https://")):
        return identifier_of_url(given)
    if found := _ARXIV_ID.fullmatch(given):
        return PaperId("arxiv", found["arxiv"].lower())
    for scheme, form in _FORMS:
        if matched := form.fullmatch(given):
            value = matched[1]
            return PaperId(scheme, value.upper() if scheme == "openalex" else value.lower())
    bare = re.sub(r"^(?:doi:|(?:dx\.)?doi\.org/)", "", given, flags=re.IGNORECASE)
    return doi_of(bare) if _DOI.fullmatch(bare) else None


def identifier_of_url(url: str) -> PaperId | None:
    """The identifier in the address of a paper; None for other pages."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return None
    path = unquote(parts.path)
    if host in _ARXIV_HOSTS:
        found = _ARXIV_PATH.fullmatch(path)
        return PaperId("arxiv", found["arxiv"].lower()) if found else None
    if host in _DOI_HOSTS:
        return doi_of(path.strip("/"))
    last = path.rstrip("/").rpartition("/")[2]
    if host in _OPENALEX_HOSTS and _FORMS[0][1].fullmatch(last):
        return PaperId("openalex", last.upper())
    if host in _S2_HOSTS and _FORMS[1][1].fullmatch(last):
        return PaperId("s2", last.lower())
    return None


def doi_of(text: str) -> PaperId | None:
    """The identifier that a DOI is; of a paper of arXiv its number there."""
    found = _DOI.fullmatch(text.strip())
    if found is None:
        return None
    doi = found[1].lower().rstrip(".,;")
    if doi.startswith(ARXIV_DOI):
        number = _ARXIV_ID.fullmatch(doi.removeprefix(ARXIV_DOI))
        if number:
            return PaperId("arxiv", number["arxiv"])
    return PaperId("doi", doi)
