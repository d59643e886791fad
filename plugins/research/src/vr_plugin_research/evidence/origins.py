"""Origins of sources: who stands behind them, however their addresses are written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

_DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:)?\s*(10\.\d{1,9}/\S+)", re.IGNORECASE)
_ARXIV = re.compile(
    r"(?:arxiv:|(?:https?://)?(?:\w+\.)?arxiv\.org/(?:abs|pdf|html)/)?"
    r"((?:\d{4}\.\d{4,5}|[a-z-]+/\d{7}))(?:v\d+)?(?:\.pdf)?",
    re.IGNORECASE,
)


def origin_of(source: str, details: Mapping[str, object] | None = None) -> str:
    """Name the origin of a source: the paper itself, the owner of its host, or the file.

    All hosts of one owner are one origin, by the public suffix list, so that two pages, a copy for
    phones and a blog of one publisher are no two voices. A paper is its own origin, wherever it is.

    Args:
        source: address or path.
        details: of a paper, as an index of papers tells them; none for anything else, since a page
            may claim to be any paper.
    """
    ids = paper_ids(source, details)
    if ids:
        return min(ids)  # arxiv before doi
    host = _host_of(source)
    if host:
        return _owner_of(host)
    try:
        return str(Path(source).resolve(strict=True))
    except (OSError, ValueError, RuntimeError):  # it names no file
        return source


def paper_ids(source: str, details: Mapping[str, object] | None = None) -> set[str]:
    """The ids of a paper, by its address and what an index tells of it; none for a page."""
    told = details or {}
    given = [source, str(told.get("doi") or ""), str(told.get("arxiv") or "")]
    ids = {f"doi:{m[1].casefold()}" for each in given if (m := _DOI.fullmatch(each.strip()))}
    return ids | {
        f"arxiv:{m[1].casefold()}" for each in given if (m := _ARXIV.fullmatch(each.strip()))
    }


def _host_of(source: str) -> str:
    """The host of an address in one spelling; empty for what is no address."""
    try:
        parts = urlsplit(source)
        host = unicodedata.normalize("NFKC", unquote(parts.hostname or "")).strip(".").casefold()
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https"):
        return ""
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return host


def _owner_of(host: str) -> str:
    if re.fullmatch(r"[\d.]+|.*:.*", host):
        return host
    return str(_suffixes().privatesuffix(host) or host)


@cache
def _suffixes() -> PublicSuffixList:
    """The list, read once; it comes with its package."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()
