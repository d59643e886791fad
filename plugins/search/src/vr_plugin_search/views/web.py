"""The views of searches of the web: of a result, and of records."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import TypeAdapter, ValidationError
from vr_kernel import Services, StoredRecord
from vr_kernel.views import Block, Item, Link, Prose, Records, View, shown_host, shown_instant, view

from vr_plugin_search.results.web import WebSearch, WebSource

SNIPPET_CHARS = 300


@view(tool="web_search")
async def show_search(services: Services, found: WebSearch) -> View:
    """Show the answer, and the pages."""
    about = [f"asked: {', '.join(found.providers)}"] if found.providers else []
    blocks = [*_answer(found.response), *_pages(found.sources)]
    return View(found.query, blocks, about, notes=found.notes)


@view(kind="WebSearchResults")
async def show_searches(services: Services, records: Sequence[StoredRecord]) -> View:
    """Show recorded searches: one with all of its pages, of several the queries."""
    if len(records) > 1:
        items = [
            Item(
                str(it.fields.get("query", "")),
                str(it.fields.get("response", ""))[:SNIPPET_CHARS],
                facts=[shown_instant(str(it.fields.get("created_at") or ""))],
                id=f"{it.kind}/{it.key}",
            )
            for it in records
        ]
        return View("Searches of the web", [Records(items)])
    fields = records[0].fields
    blocks = [
        *_answer(str(fields.get("response", ""))),
        *_pages(_kept(str(fields.get("sources_json") or ""))),
    ]
    about = [shown_instant(str(fields.get("created_at") or ""))]
    return View(str(fields.get("query", "")), blocks, [it for it in about if it])


def _answer(response: str) -> list[Block]:
    return [Prose(response, title="Answer")] if response.strip() else []


def _pages(sources: Sequence[WebSource]) -> list[Block]:
    items = [
        Item(
            f"{number}. {source.title}",
            _short(source.snippet),
            Link(source.url, shown_host(source.url)),
            [fact for fact in (source.published, source.provider) if fact],
        )
        for number, source in enumerate(sources, 1)
    ]
    return [Records(items, title="Pages", total=len(items))] if items else [Prose("Nothing found.")]


def _short(text: str) -> str:
    return text if len(text) <= SNIPPET_CHARS else f"{text[:SNIPPET_CHARS].rstrip()}..."


def _kept(text: str) -> list[WebSource]:
    try:
        return TypeAdapter(list[WebSource]).validate_python(json.loads(text))
    except (ValueError, ValidationError, RecursionError):
        return []
