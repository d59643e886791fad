"""Results and records as people see them."""

from __future__ import annotations

from typing import Any

import pytest
from corpus import HOSTILE
from fake_search import FakeSearch
from searchkit import Desk, open_desk
from vr_kernel import StoredRecord
from vr_kernel.views import View, as_markdown, as_text
from vr_plugin_search.views.papers import show_papers
from vr_plugin_search.views.web import show_searches

WORDS = "when swallows leave"


@pytest.fixture
async def desk(fake: FakeSearch) -> Any:
    async with open_desk(fake, "brave", "tavily") as opened:
        yield opened


async def view_of(desk: Desk, tool: str, **arguments: Any) -> View:
    """The view of a result."""
    result = await desk.call(tool, **arguments)
    return await desk.kernel.services.views.of_result(desk.kernel.tools[tool], result)


async def test_pages_are_numbered_and_linked(desk: Desk) -> None:
    shown = as_text(await view_of(desk, "web_search", query=WORDS, provider="tavily"))
    assert "In short: Swallows leave in September." in shown
    assert "1. When swallows leave" in shown
    assert "2. Swallows return" in shown
    marked = as_markdown(await view_of(desk, "web_search", query=WORDS, provider="tavily"))
    assert "(https://birds.example/leave/)" in marked


async def test_notes_and_nothing_are_told(desk: Desk) -> None:
    shown = as_text(await view_of(desk, "web_search", query="qzxv"))
    assert "Nothing found." in shown
    assert "Not set up: gemini, perplexity." in shown


async def test_papers_say_what_they_are(desk: Desk) -> None:
    shown = as_text(await view_of(desk, "paper_search", query="swallows"))
    assert "RETRACTED" in shown
    assert "cited by 43" in shown
    whole = as_markdown(await view_of(desk, "paper_search", query="10.1234/swallow.2"))
    assert "This paper was retracted." in whole
    assert "https://doi.org/10.1234/swallow.2" in whole
    related = as_text(await view_of(desk, "paper_citations", paper_id="10.1234/swallow.1"))
    assert "Papers that cite it" in related


@pytest.mark.parametrize("tool", ["web_search", "paper_search"])
async def test_hostile_words_are_shown_harmless(desk: Desk, tool: str) -> None:
    shown = as_text(await view_of(desk, tool, query=HOSTILE))
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "javascript:" not in shown


async def test_records_are_shown(desk: Desk) -> None:
    services = desk.kernel.services
    ran = await desk.kernel.record("web_search", query=WORDS, provider="tavily")
    searched = [_stored(it) for it in ran.records]
    shown = as_text(await show_searches(services, searched))
    assert "1. When swallows leave" in shown
    assert WORDS in as_text(await show_searches(services, searched * 2))
    ran = await desk.kernel.record("paper_search", query="swallows", limit=2)
    papers = [_stored(it) for it in ran.records]
    assert "cited by" in as_text(await show_papers(services, papers))
    assert "Authors" in as_text(await show_papers(services, papers[:1]))


@pytest.mark.parametrize("fields", [{}, {"sources_json": "["}, {"sources_json": '[{"url": 1}]'}])
async def test_damaged_records_are_shown(desk: Desk, fields: dict[str, Any]) -> None:
    services = desk.kernel.services
    assert as_text(
        await show_searches(services, [StoredRecord("WebSearchResults", "k", fields, {})])
    )
    assert as_text(await show_papers(services, [StoredRecord("AcademicPapers", "k", fields, {})]))


def _stored(record: Any) -> StoredRecord:
    return StoredRecord(record.kind, record.key, record.fields, {})
