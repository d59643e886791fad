"""Joined searches: the order, services that are passed over, equal results, and none at all."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from corpus import PAGES
from fake_search import FakeSearch
from hypothesis import given
from hypothesis import strategies as st
from searchkit import Desk, open_desk
from vr_kernel import (
    Call,
    Code,
    Provider,
    SearchProvider,
    VrError,
    WebQuery,
    WebResult,
    WebResults,
    hookimpl,
)
from vr_plugin_search.joining.fusion import K, fuse

WORDS = "when swallows leave"
ALL_WEB = ("perplexity", "brave", "tavily", "exa", "searxng")


def offering(
    name: str, *found: WebResult, finds: str = "web", fault: Exception | None = None
) -> Any:
    """A stranger's plugin with a search provider."""

    class Strange:
        def __init__(self) -> None:
            self.name = name
            self.finds = frozenset({finds})

        async def search(self, call: Call, query: WebQuery) -> WebResults:
            if fault is not None:
                raise fault
            return WebResults.bounded(query, found)

    @hookimpl
    def vr_providers() -> list[Provider[Any]]:
        return [Provider(SearchProvider, name, lambda _services: Strange(), of_call=True)]

    return SimpleNamespace(vr_providers=vr_providers)


async def test_the_first_that_is_ready_is_asked(fake: FakeSearch) -> None:
    async with open_desk(fake, "tavily", "searxng") as desk:
        found = await desk.search("web", WORDS)
    assert desk.asked == ["tavily"]
    assert found.results[0].title == "When swallows leave"
    assert found.response == "In short: Swallows leave in September."
    assert found.notes == ("Not set up: gemini, perplexity, brave.",)
    assert found.results[0].details["provider"] == "tavily"


async def test_the_order_is_the_users(fake: FakeSearch) -> None:
    own = {"plugins.search.order": "exa, brave"}
    async with open_desk(fake, "tavily", "exa", "brave", settings=own) as desk:
        await desk.search("web", WORDS)
    assert desk.asked == ["exa"]


async def test_services_that_fail_are_passed_over_with_a_note(fake: FakeSearch) -> None:
    fake.down_for("perplexity", status=500)
    fake.down_for("brave", status=429)
    async with open_desk(fake, *ALL_WEB) as desk:
        found = await desk.search("web", WORDS)
    assert desk.asked == ["perplexity", "brave", "tavily"]
    assert found.notes[:2] == (
        "perplexity did not answer: Perplexity is out of order (status 500).",
        "brave did not answer: Brave Search takes no more searches now.",
    )


async def test_several_at_once_are_joined_into_one_list(fake: FakeSearch) -> None:
    own = {"plugins.search.asked_at_once": 3}
    fake.down_for("perplexity")
    async with open_desk(fake, *ALL_WEB, settings=own) as desk:
        found = await desk.search("web", WORDS, limit=20)
    assert sorted(desk.asked) == ["brave", "exa", "perplexity", "tavily"]
    titles = [result.title for result in found.results]
    assert titles == [page.title for page in PAGES[:5]]
    first = found.results[0]
    assert first.url == "https://birds.example/leave?utm_source=brave"
    assert first.details["provider"] == "brave, tavily, exa"
    assert first.details["authors"] == "Ada Lovelace"  # that exa alone told
    assert "More of it." in first.snippet
    assert found.usage is not None
    assert found.usage.cost_usd == 0.005


async def test_one_that_fails_is_replaced_by_the_next(fake: FakeSearch) -> None:
    own = {"plugins.search.asked_at_once": 2}
    fake.down_for("perplexity", "brave")
    async with open_desk(fake, *ALL_WEB, settings=own) as desk:
        await desk.search("web", WORDS)
    assert sorted(desk.asked[:2]) == ["brave", "perplexity"]
    assert sorted(desk.asked[2:]) == ["exa", "tavily"]


async def test_all_down_is_unavailable_with_each_reason(fake: FakeSearch) -> None:
    fake.down_for("brave", "tavily")
    async with open_desk(fake, "brave", "tavily") as desk:
        with pytest.raises(VrError) as caught:
            await desk.search("web", WORDS)
    error = caught.value
    assert (error.code, error.category) == (Code.UNAVAILABLE, "SEARCH_UNAVAILABLE")
    for name in ("brave: ", "tavily: ", "Not set up: gemini, perplexity, exa, searxng."):
        assert name in error.message
    assert error.retryable
    assert error.hint


async def test_nothing_set_up_says_what_to_configure(fake: FakeSearch) -> None:
    async with open_desk(fake) as desk:
        with pytest.raises(VrError) as caught:
            await desk.search("web", WORDS)
    assert caught.value.category == "SEARCH_UNAVAILABLE"
    assert not caught.value.retryable
    assert "gemini_api_keys" in caught.value.hint
    assert "Without a key: SearXNG. Set searxng_url" in caught.value.hint
    assert not fake.requests


async def test_others_providers_come_after_the_configured_ones(fake: FakeSearch) -> None:
    page = WebResult("From a stranger", "https://strange.example/")
    async with open_desk(fake, plugins={"strange": offering("strange", page)}) as desk:
        assert (await desk.search("web", WORDS)).results[0].title == "From a stranger"
    own = {"plugins.search.order": ["strange", "brave"]}
    given = {"strange": offering("strange", page)}
    async with open_desk(fake, "brave", settings=own, plugins=given) as desk:
        found = await desk.search("web", WORDS)
    assert [result.title for result in found.results] == ["From a stranger"]


@pytest.mark.parametrize("fault", [RuntimeError("secret words"), VrError("No.", Code.INTERNAL)])
async def test_a_stranger_that_fails_harms_nobody(fake: FakeSearch, fault: Exception) -> None:
    own = {"plugins.search.order": ["strange", "brave"]}
    given = {"strange": offering("strange", fault=fault)}
    async with open_desk(fake, "brave", settings=own, plugins=given) as desk:
        found = await desk.search("web", WORDS)
    assert found.results
    assert found.notes[0].startswith("strange did not answer")
    assert "secret" not in found.notes[0]


async def test_a_budget_is_no_reason_to_pay_somebody_else(fake: FakeSearch) -> None:
    own = {"plugins.search.order": ["strange", "brave"]}
    refused = VrError("The budget is spent.", Code.BUDGET, hint="Raise it.")
    given = {"strange": offering("strange", fault=refused)}
    async with open_desk(fake, "brave", settings=own, plugins=given) as desk:
        with pytest.raises(VrError) as caught:
            await desk.search("web", WORDS)
    assert caught.value.code is Code.BUDGET
    assert not fake.requests


async def test_a_name_that_nobody_provides_is_noted(fake: FakeSearch) -> None:
    own = {"plugins.search.order": ["bravo", "web", "tavily"]}
    async with open_desk(fake, "tavily", settings=own) as desk:
        found = await desk.search("web", WORDS)
    assert "'bravo', which no plugin provides. Did you mean 'brave'?" in found.notes[0]
    assert "'web'" in found.notes[1]
    assert desk.asked == ["tavily"]


async def test_papers_of_several_services_are_one_list(fake: FakeSearch) -> None:
    async with open_desk(fake) as desk:
        found = await desk.search("papers", "swallows routes loggers")
    assert sorted(desk.asked) == ["arxiv", "openalex", "semantic_scholar"]
    titles = [result.title for result in found.results]
    assert len(titles) == len(set(titles)) == 3
    first = found.results[0]
    assert first.details["provider"] == "semantic_scholar, openalex, arxiv"
    assert (first.details["citations"], first.details["retracted"]) == (43, "no")
    asleep = next(it for it in found.results if "sleep" in it.title)
    assert asleep.details["retracted"] == "yes"


async def test_papers_of_others_take_part(fake: FakeSearch) -> None:
    paper = WebResult(
        "A stranger's paper",
        "https://strange.example/paper",
        details={"doi": "10.1234/SWALLOW.1", "citations": 100, "authors": "A. B., C. D."},
    )
    given = {"strange": offering("strange", paper, finds="papers")}
    own = {"plugins.search.paper_order": ["strange", "openalex"]}
    async with open_desk(fake, settings=own, plugins=given) as desk:
        found = await desk.search("papers", "swallows routes loggers")
    first = found.results[0]
    assert first.title == "A stranger's paper"
    assert first.details["citations"] == 100
    assert first.details["provider"].startswith("strange, ")  # type: ignore[union-attr]


async def test_neither_joined_search_asks_the_other(fake: FakeSearch) -> None:
    own = {"plugins.search.asked_at_once": 10, "plugins.search.order": ["papers", "web", "brave"]}
    async with open_desk(fake, "brave", settings=own) as desk:
        await desk.search("web", WORDS)
    assert desk.asked == ["brave"]


LISTS = st.lists(st.lists(st.integers(0, 8), max_size=6), max_size=4)


@given(LISTS)
def test_everything_is_in_the_joined_list_once(lists: Sequence[Sequence[int]]) -> None:
    found = fuse(lists, lambda it: [str(it)])
    firsts = [forms[0] for forms in found]
    assert len(firsts) == len(set(firsts))
    assert set(firsts) == {it for each in lists for it in each}
    assert sum(map(len, found)) == sum(map(len, lists))


@given(LISTS)
def test_the_order_is_that_of_the_scores(lists: Sequence[Sequence[int]]) -> None:
    def score(item: int) -> float:
        return sum(1 / (K + each.index(item) + 1) for each in lists if item in each)

    scores = [score(forms[0]) for forms in fuse(lists, lambda it: [str(it)])]
    assert scores == sorted(scores, reverse=True)


@given(st.lists(st.integers(0, 9), unique=True, max_size=8))
def test_a_single_list_keeps_its_order(items: list[int]) -> None:
    assert [forms[0] for forms in fuse([items], lambda it: [str(it)])] == items


def test_a_third_form_joins_two_others() -> None:
    names = {"doi": ["a"], "preprint": ["b"], "both": ["a", "b"], "other": ["c"]}
    found = fuse([["doi", "other"], ["preprint"], ["both"]], names.__getitem__)
    assert [sorted(forms) for forms in found] == [["both", "doi", "preprint"], ["other"]]


async def test_a_search_that_is_given_up_asks_nobody_else(fake: FakeSearch) -> None:
    import asyncio

    async with open_desk(fake, "brave", "tavily") as desk:
        with fake.hold():
            work = asyncio.ensure_future(_search(desk))
            await asyncio.to_thread(fake.wait, lambda: fake.in_flight == 1)
            work.cancel()
            await asyncio.wait({work})
    assert work.cancelled()
    assert desk.asked == ["brave"]


async def _search(desk: Desk) -> WebResults:
    return await desk.search("web", WORDS)
