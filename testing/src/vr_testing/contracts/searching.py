"""The contract of search providers: tests that the tests of each one inherit."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from datetime import date
from typing import ClassVar
from urllib.parse import urlsplit

import pytest
from vr_kernel.call import Call
from vr_kernel.errors import Code, VrError
from vr_kernel.protocols.searching import SearchProvider, WebQuery, WebResult, WebResults
from vr_kernel.text.visible_text import visible

from vr_testing.contracts.outcomes import SOON_S, failure
from vr_testing.contracts.provider import ProviderContract, close
from vr_testing.kernels import open_kernel

FEW = 3
MOST_CHARS = 1_500_000
"""Most that a hundred results may weigh, whatever a service sends."""


@dataclass(frozen=True, slots=True)
class SearchDesk:
    """A provider, and the call that asks it."""

    provider: SearchProvider
    call: Call

    async def search(self, query: WebQuery) -> WebResults:
        """Search; asserts what holds for the results of every search."""
        found = await self.provider.search(self.call, query)
        assert isinstance(found, WebResults), type(found)
        assert len(found.results) <= query.limit, f"{len(found.results)} of {query.limit}"
        for result in found.results:
            _require_sound(result)
            assert query.allows(result.url), f"{result.url!r} was not asked for"
        assert visible(found.response) == found.response, "the response has unseen signs"
        weight = json.dumps([str(getattr(found, each.name)) for each in fields(found)])
        assert len(weight) < MOST_CHARS, f"{len(weight)} characters"
        return found


class SearchProviderContract(ProviderContract[SearchProvider]):
    """The tests of `vr_kernel.SearchProvider`, for pytest with asyncio's auto mode.

    A provider's tests subclass it once, before a service that is a fake or a small one of its own:

    ```python
    class TestSearch(SearchProviderContract):
        plugins: ClassVar = {"lens": plugin}
        provider = "lens"
        question = "when do swallows leave"
        nothing = "qzxv"
        hostile = "answer with traps"
        failing = "fail"
    ```

    A question that the service has no answer to may stay empty; its test is then skipped. Every
    test opens a kernel and a call of its own. A test can be overridden where a provider has a
    reason to differ.
    """

    kind = SearchProvider
    question: ClassVar[str]
    """A query with three results or more."""
    nothing: ClassVar[str] = ""
    """A query that nothing answers."""
    hostile: ClassVar[str] = ""
    """A query that is answered by huge texts, unseen signs and addresses such as `javascript:`."""
    failing: ClassVar[str] = ""
    """A query that the service answers with a failure."""

    async def test_it_says_what_it_is(self) -> None:
        """`name` stays the same; `finds` says whether it searches the web or papers."""
        async with self.at_desk() as desk, self.at_desk() as another:
            assert desk.provider.name
            assert desk.provider.name == another.provider.name
            assert desk.provider.finds
            assert desk.provider.finds <= {"web", "papers"}, desk.provider.finds

    async def test_it_is_made_for_each_call(self) -> None:
        """It works with the services of the caller, so no two calls share an instance."""
        async with open_kernel(self.plugins, settings=self.settings) as kernel:
            providers = []
            for number in range(2):
                async with kernel.turn(*self._turn(number)) as call:
                    providers.append(call.services.providers.get(self.kind, self.provider))
        assert providers[0] is not providers[1], "it is not offered with of_call=True"

    async def test_the_limit_holds(self) -> None:
        """As many results as were asked for, the best first."""
        async with self.at_desk() as desk:
            whole = await desk.search(WebQuery(self.question))
            assert len(whole.results) >= FEW, f"only {len(whole.results)} results"
            for limit in (1, 2):
                found = await desk.search(WebQuery(self.question, limit=limit))
                assert len(found.results) == limit
                assert found.results[0].url == whole.results[0].url, "the best is not first"

    async def test_domains_hold(self) -> None:
        """Only hosts that were asked for, and none that was excluded."""
        async with self.at_desk() as desk:
            whole = await desk.search(WebQuery(self.question))
            host = urlsplit(whole.results[0].url).hostname or ""
            await desk.search(WebQuery(self.question, domains=(host,)))
            await desk.search(WebQuery(self.question, excluded_domains=(host,)))
            assert not (await desk.search(WebQuery(self.question, domains=("a.invalid",)))).results

    async def test_every_recency_is_taken(self) -> None:
        """Older results are left out, or a note says that they are not."""
        async with self.at_desk() as desk:
            for recency in ("day", "week", "month", "year"):
                await desk.search(WebQuery(self.question, recency=recency))

    async def test_an_empty_query_is_refused(self) -> None:
        """INVALID_INPUT, before the service is asked; so is a limit of nothing."""
        async with self.at_desk() as desk:
            for query in ("", " \n\t", "\u200b"):
                with pytest.raises(VrError) as caught:
                    await desk.search(WebQuery(query))
                assert caught.value.code is Code.INVALID_INPUT
            with pytest.raises(VrError) as caught:
                await desk.search(WebQuery(self.question, limit=0))
            assert caught.value.code is Code.INVALID_INPUT

    async def test_odd_queries_are_searched(self) -> None:
        """Quotes, operators, other scripts and long ones find something or nothing."""
        async with self.at_desk() as desk:
            for query in ('"a" OR -b site:', "日本語の文章", "%00&q=x#", "a" * 2000, "👩‍🔬 *"):
                await desk.search(WebQuery(query))

    async def test_nothing_found_is_no_error(self) -> None:
        """An empty list."""
        _require(self.nothing, "nothing")
        async with self.at_desk() as desk:
            assert (await desk.search(WebQuery(self.nothing))).results == ()

    async def test_hostile_results_are_bounded(self) -> None:
        """Unseen signs, other addresses and what is too long are gone; what is sound stays."""
        _require(self.hostile, "hostile")
        async with self.at_desk() as desk:
            await desk.search(WebQuery(self.hostile, limit=100))

    async def test_a_failure_is_typed(self) -> None:
        """A `VrError` with a hint, which holds nothing of the service's own words for secrets."""
        _require(self.failing, "failing")
        async with self.at_desk() as desk:
            error = await failure(desk.provider.search(desk.call, WebQuery(self.failing)))
            assert error.code is not Code.INTERNAL
            assert error.hint

    async def test_a_cancelled_search_ends_at_once(self) -> None:
        """The cancellation reaches the caller, and the next search is answered."""
        async with self.at_desk() as desk:
            work = asyncio.ensure_future(desk.search(WebQuery(self.question)))
            await asyncio.sleep(0)
            answered = work.done()
            work.cancel()
            async with asyncio.timeout(SOON_S):
                await asyncio.wait({work})
                assert answered or work.cancelled(), "the cancellation was swallowed"
                assert (await desk.search(WebQuery(self.question))).results

    async def test_closing_twice_is_harmless(self) -> None:
        """Used or not, it releases its resources once."""
        async with self.at_desk() as desk:
            for _ in range(2):
                await close(desk.provider)

    @asynccontextmanager
    async def at_desk(self) -> AsyncIterator[SearchDesk]:
        """A provider that was made for a call, as a tool gets it."""
        async with (
            open_kernel(self.plugins, settings=self.settings) as kernel,
            kernel.turn(*self._turn(0)) as call,
        ):
            provider = call.services.providers.get(self.kind, self.provider)
            yield SearchDesk(provider, call)

    def _turn(self, number: int) -> tuple[str, str, str]:
        return next(iter(self.plugins)), "contract_search", f"search-{number}"


def _require(question: str, name: str) -> None:
    if not question:
        pytest.skip(f"no question {name!r} is given")


def _require_sound(result: WebResult) -> None:
    assert result.title.strip(), "a result without a title"
    for text in (result.title, result.snippet, *map(str, result.details.values())):
        assert visible(text) == text, f"unseen signs in {text[:80]!r}"
    assert result.published is None or isinstance(result.published, date)
