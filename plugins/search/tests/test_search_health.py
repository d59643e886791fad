"""`vr doctor` says which services can be asked, and asks none of them."""

from __future__ import annotations

from fake_search import FakeSearch
from searchkit import Desk, open_desk
from vr_kernel import Diagnosis
from vr_plugin_search.health import search_checks


async def found(desk: Desk) -> dict[str, Diagnosis]:
    """The findings by the names of the checks."""
    async with desk.turn() as call:
        checks = search_checks(call.services)
        return {each.name: each.examine() for each in checks}  # type: ignore[misc]


async def test_ready_services_are_named_in_order(fake: FakeSearch) -> None:
    async with open_desk(fake, "exa", "brave") as desk:
        told = await found(desk)
    assert told["web search"].level == "ok"
    assert told["web search"].what == (
        "Asked in this order: brave, exa. Not set up: gemini, perplexity, tavily, searxng."
    )
    assert "Without a key" in told["paper search"].what
    assert not fake.requests


async def test_without_any_it_says_what_to_set(fake: FakeSearch) -> None:
    async with open_desk(fake) as desk:
        told = (await found(desk))["web search"]
    assert told.level == "warning"
    for name in ("gemini_api_keys", "searxng_url", "brave_api_key", "https://"):
        assert name in told.fix


async def test_gemini_counts_with_a_key(fake: FakeSearch) -> None:
    async with open_desk(fake, settings={"models.gemini_api_keys": "a-key"}) as desk:
        assert "gemini" in (await found(desk))["web search"].what.partition(". ")[0]


async def test_unknown_names_are_told(fake: FakeSearch) -> None:
    own = {"plugins.search.order": ["bravo"], "plugins.search.paper_order": ["papers"]}
    async with open_desk(fake, settings=own) as desk:
        told = await found(desk)
    assert "'bravo'" in told["web search"].what
    assert "'papers'" in told["paper search"].what
