"""The sources of a report as BibTeX, for the bibliography of a text."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping

from vr_kernel import require_extra, visible_line

from vr_plugin_research.exports.addresses import web_address
from vr_plugin_research.exports.install import INSTALL
from vr_plugin_research.results.claims import TIERS
from vr_plugin_research.results.report import ResearchReport
from vr_plugin_research.results.sources import ReportSource
from vr_plugin_research.views.places import title_of

ENTRIES = {"paper": "article", "web": "online", "video": "online"}
"""Types of entries by the kinds of sources; all others are `misc`."""
DIGEST_CHARS = 6
_ESCAPED = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "%&#$_"},
}
"""Signs that mean something to TeX; braces are named, as BibTeX counts even escaped ones."""
_TO_ESCAPE = re.compile(r"[\\{}~^%&#$_]")
_DATE = re.compile(r"(\d{4})(?:-\d\d(?:-\d\d)?)?")
_WORD = re.compile(r"[a-z]{4,20}")
_DOI = re.compile(r"https?://(?:dx\.)?doi\.org/(10\.\S+)")


def bibtex_of(report: ResearchReport) -> bytes:
    """An entry for each source, in their order.

    Raises:
        VrError: UNAVAILABLE, category EXTRA_MISSING, when the library is not installed.
    """
    message = "BibTeX is written by bibtexparser, which is not installed."
    library = require_extra("bibtexparser", message, INSTALL)
    database = library.bibdatabase.BibDatabase()
    read = report.created_at[:10] if _DATE.fullmatch(report.created_at[:10]) else ""
    tiers = _tiers(report)
    keys = _Keys()
    database.entries = [
        {
            "ENTRYTYPE": ENTRIES.get(source.kind, "misc"),
            "ID": keys.key(source),
            **_fields(source, tiers.get(source.number, Counter()), read),
        }
        for source in report.sources
    ]
    writer = library.bwriter.BibTexWriter()
    writer.order_entries_by = None
    return str(writer.write(database)).encode("utf-8", "replace")


def escaped(text: str) -> str:
    """A text on one line, in which TeX finds nothing to obey."""
    return _TO_ESCAPE.sub(lambda found: _ESCAPED[found[0]], visible_line(text))


class _Keys:
    """Names of entries: the same for a source in every report, and each once."""

    def __init__(self) -> None:
        self._given: Counter[str] = Counter()

    def key(self, source: ReportSource) -> str:
        """A word of its title, its year, and the beginning of its address's digest."""
        plain = unicodedata.normalize("NFKD", title_of(source).lower())
        word = next(iter(_WORD.findall(plain)), source.kind)
        digest = hashlib.sha256(source.source.encode(errors="backslashreplace")).hexdigest()
        key = f"{word}{_year(source)}-{digest[:DIGEST_CHARS]}"
        self._given[key] += 1
        count = self._given[key]
        return key if count == 1 else f"{key}-{count}"


def _fields(source: ReportSource, tiers: Counter[str], read: str) -> Mapping[str, str]:
    """The fields of an entry; those without a value are left out."""
    address = web_address(source.source)
    origin = "journal" if source.kind == "paper" else "organization"
    fields = {
        "title": f"{{{escaped(title_of(source))}}}",
        "author": " and ".join(f"{{{escaped(name)}}}" for name in source.authors),
        origin: escaped(source.venue or (source.origin if address else "")),
        "year": _year(source),
        "doi": escaped(_doi(source, address)),
        "url": address,
        "urldate": read if address else "",
        "note": escaped(". ".join(_note(source, tiers))),
    }
    return {name: value for name, value in fields.items() if value}


def _doi(source: ReportSource, address: str) -> str:
    found = _DOI.fullmatch(address)
    return source.doi or (found[1] if found else "")


def _note(source: ReportSource, tiers: Counter[str]) -> Iterator[str]:
    if source.quality.retracted:
        yield "RETRACTED"
    counts = ", ".join(f"{tiers[tier]} {tier}" for tier in TIERS if tiers[tier])
    yield f"Claims that quote it: {counts}" if counts else "No claim quotes it"


def _year(source: ReportSource) -> str:
    found = _DATE.fullmatch(source.published)
    return found[1] if found else ""


def _tiers(report: ResearchReport) -> Mapping[int, Counter[str]]:
    """The tiers of the claims that quote a source, by its number."""
    counted: dict[int, Counter[str]] = {}
    for claim in report.findings:
        for number in {each.source for each in claim.citations}:
            counted.setdefault(number, Counter())[claim.evidence_tier] += 1
    return counted
