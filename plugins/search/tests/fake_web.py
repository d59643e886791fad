"""Answers of services that search the web, as their documentation shows them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from corpus import TODAY, Page, pages_for, words_of
from vr_testing.service.errors import ServiceError
from vr_testing.service.reply import HttpReply, as_json

if TYPE_CHECKING:
    from fake_search import SearchRequest

DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
FRESHNESS = {"pd": "day", "pw": "week", "pm": "month", "py": "year"}


def perplexity(request: SearchRequest) -> HttpReply:
    """`POST /search`."""
    _require(request.method == "POST" and request.place == "/search", 404)
    domains = request.field("search_domain_filter") or []
    denied = [each[1:] for each in domains if each.startswith("-")]
    wanted = [each for each in domains if not each.startswith("-")]
    _require(1 <= request.field("max_results") <= 20 and len(domains) <= 20)
    _require(not (denied and wanted))
    recency = request.field("search_recency_filter")
    found = _narrowed(pages_for(request.text), wanted, denied, recency)
    rows = [
        {
            "title": page.title,
            "url": page.url,
            "snippet": page.text,
            "date": _iso(page),
            "last_updated": None,
        }
        for page in found[: request.field("max_results")]
    ]
    return as_json({"id": "1", "results": rows})


def brave(request: SearchRequest) -> HttpReply:
    """`POST /web/search`."""
    _require(request.method == "POST" and request.place == "/web/search", 404)
    query, count = request.text, request.field("count")
    _require(1 <= len(query) <= 400 and len(query.split()) <= 50 and 1 <= count <= 20, 422)
    words, wanted, denied = _operators(query)
    recency = FRESHNESS.get(request.field("freshness") or "")
    found = _narrowed(pages_for(words), wanted, denied, recency)
    rows = [
        {
            "title": page.title,
            "url": f"{page.url}{'&' if '?' in page.url else '?'}utm_source=brave"
            if page.url.startswith("https://") and "[" not in page.url
            else page.url,
            "description": page.text,
            "age": "some time ago",
            "page_age": f"{_iso(page)}T12:00:00" if page.published else None,
            "extra_snippets": ["More of it."],
        }
        for page in found[:count]
    ]
    return as_json({"type": "search", "web": {"type": "search", "results": rows}})


def tavily(request: SearchRequest) -> HttpReply:
    """`POST /search`."""
    _require(request.method == "POST" and request.place == "/search", 404)
    _require(len(request.text) <= 400 and 0 <= request.field("max_results") <= 20)
    wanted, denied = request.field("include_domains"), request.field("exclude_domains")
    found = _narrowed(pages_for(request.text), wanted, denied, request.field("time_range"))
    rows = [
        {"title": it.title, "url": _slashed(it.url), "content": it.text, "score": 0.9}
        for it in found[: request.field("max_results")]
    ]
    answer = f"In short: {found[0].text}" if found else ""
    told = answer if request.field("include_answer") else None
    return as_json({"query": request.text, "answer": told, "images": [], "results": rows})


def exa(request: SearchRequest) -> HttpReply:
    """`POST /search`."""
    _require(request.method == "POST" and request.place == "/search", 404)
    _require(1 <= request.field("numResults") <= 100)
    wanted = request.field("includeDomains") or []
    denied = request.field("excludeDomains") or []
    since = request.field("startPublishedDate")
    found = _narrowed(pages_for(request.text), wanted, denied, None)
    if since:
        first = date.fromisoformat(since[:10])
        found = [page for page in found if page.published and page.published >= first]
    rows = [
        {
            "id": page.url,
            "title": page.title,
            "url": page.url.replace("https://", "http://").replace("//www.", "//"),
            "publishedDate": f"{_iso(page)}T00:00:00.000Z" if page.published else None,
            "author": "Ada Lovelace",
            "highlights": [page.text],
        }
        for page in found[: request.field("numResults")]
    ]
    return as_json({"requestId": "1", "results": rows, "costDollars": {"total": 0.005}})


def searxng(request: SearchRequest) -> HttpReply:
    """`GET /search`."""
    _require(request.method == "GET" and request.place == "/search", 404)
    _require(request.query.get("format") == "json", 403)
    words, wanted, denied = _operators(request.text)
    found = _narrowed(pages_for(words), wanted, denied, None)  # engines differ in what they know
    rows = [
        {
            "url": page.url,
            "title": page.title,
            "content": page.text,
            "engines": ["startpage"],
            "publishedDate": f"{_iso(page)}T00:00:00" if page.published else None,
        }
        for page in found
    ]
    down = [["google", "CAPTCHA"]] if "captcha" in words_of(request.text) else []
    return as_json({"query": words, "results": rows, "answers": [], "unresponsive_engines": down})


def _operators(query: str) -> tuple[str, list[str], list[str]]:
    """The words of a query, and the sites that its operators name."""
    denied = re.findall(r"-site:(\S+)", query)
    wanted = re.findall(r"(?<!-)site:([^\s)]+)", query)
    return re.sub(r"\(?-?site:\S+\)?|\bOR\b", " ", query), wanted, denied


def _narrowed(
    pages: Iterable[Page], wanted: list[str], denied: list[str], recency: str | None
) -> list[Page]:
    found = [page for page in pages if not wanted or _is_of(page, wanted)]
    found = [page for page in found if not _is_of(page, denied)]
    if recency is None:
        return found
    first = TODAY - timedelta(days=DAYS[recency])
    return [page for page in found if page.published and page.published >= first]


def _is_of(page: Page, domains: Iterable[str]) -> bool:
    try:
        host = urlsplit(page.url).hostname or ""
    except ValueError:
        return False
    return any(f".{host}".endswith(f".{each}") for each in domains)


def _slashed(url: str) -> str:
    return url if url.endswith("/") or "?" in url else f"{url}/"


def _iso(page: Page) -> str | None:
    return page.published.isoformat() if page.published else None


def _require(holds: Any, status: int = 400) -> None:
    if not holds:
        raise ServiceError(status)
