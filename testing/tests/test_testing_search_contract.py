"""The contract of search providers notices those that do not keep it."""

from __future__ import annotations

import asyncio
import random
from types import SimpleNamespace
from typing import Any

import pytest
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
from vr_testing import SearchProviderContract

PAGES = [WebResult(f"Page {n}", f"https://{'ab'[n % 2]}.example.org/{n}") for n in range(9)]
TRAPS = [WebResult("trap " * 9000, "javascript:x"), WebResult("\x1b[0m trap", "http://a.org")]


class Sound:
    """Finds the pages for any question but a few."""

    name = "ours"
    finds = frozenset({"web"})

    async def search(self, call: Call, query: WebQuery) -> WebResults:
        """The pages."""
        if query.query == "failing":
            raise VrError("It is down.", Code.UNAVAILABLE, hint="Wait.")
        rows = {"nothing": [], "hostile": TRAPS}.get(query.query, PAGES)
        return self.kept(query, rows)

    def kept(self, query: WebQuery, rows: list[WebResult]) -> WebResults:
        """The rows that are returned."""
        return WebResults.bounded(query, rows)


class Nameless(Sound):
    def __init__(self) -> None:
        self.name = f"ours-{random.random()}"


class Generous(Sound):
    def kept(self, query: WebQuery, rows: list[WebResult]) -> WebResults:
        return WebResults.bounded(WebQuery("x", 100, domains=query.domains), rows)


class Everywhere(Sound):
    def kept(self, query: WebQuery, rows: list[WebResult]) -> WebResults:
        return WebResults.bounded(WebQuery("x", query.limit), rows)


class Trusting(Sound):
    def kept(self, query: WebQuery, rows: list[WebResult]) -> WebResults:
        return WebResults(tuple(row for row in rows if rows is TRAPS or query.allows(row.url)))


class Dull(Sound):
    async def search(self, call: Call, query: WebQuery) -> WebResults:
        {"month": 1, None: 0}[query.recency]
        return await super().search(call, query)


class Formal(Sound):
    async def search(self, call: Call, query: WebQuery) -> WebResults:
        query.query.encode("ascii")
        return await super().search(call, query)


class Disappointed(Sound):
    def kept(self, query: WebQuery, rows: list[WebResult]) -> WebResults:
        if not rows:
            raise VrError("Nothing is found.", Code.NOT_FOUND)
        return super().kept(query, rows)


class Untyped(Sound):
    async def search(self, call: Call, query: WebQuery) -> WebResults:
        if query.query == "failing":
            raise OSError("connection refused")
        return await super().search(call, query)


class Deaf(Sound):
    async def search(self, call: Call, query: WebQuery) -> WebResults:
        try:
            await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            return WebResults()
        return await super().search(call, query)


class Strict(Sound):
    closed = False

    async def aclose(self) -> None:
        if self.closed:
            raise RuntimeError("closed already")
        self.closed = True


CARELESS: list[tuple[type[Sound], str]] = [
    (Nameless, "test_it_says_what_it_is"),
    (Generous, "test_the_limit_holds"),
    (Everywhere, "test_domains_hold"),
    (Dull, "test_every_recency_is_taken"),
    (Formal, "test_odd_queries_are_searched"),
    (Disappointed, "test_nothing_found_is_no_error"),
    (Trusting, "test_hostile_results_are_bounded"),
    (Untyped, "test_a_failure_is_typed"),
    (Deaf, "test_a_cancelled_search_ends_at_once"),
    (Strict, "test_closing_twice_is_harmless"),
]


def contract(build: type, *, of_call: bool = True) -> Any:
    """The contract of a provider, as its plugin's tests have it."""

    @hookimpl
    def vr_providers() -> list[Provider[Any]]:
        return [Provider(SearchProvider, "ours", lambda _services: build(), of_call=of_call)]

    questions = {"question": "pages", "nothing": "nothing", "hostile": "hostile"}
    plugins = {"ours": SimpleNamespace(vr_providers=vr_providers)}
    names = {"plugins": plugins, "provider": "ours", "failing": "failing", **questions}
    return type("Contract", (SearchProviderContract,), names)()


@pytest.mark.parametrize(("kind", "test"), CARELESS)
async def test_a_careless_provider_fails(kind: type, test: str) -> None:
    with pytest.raises((AssertionError, VrError, OSError, RuntimeError, ValueError, KeyError)):
        await getattr(contract(kind), test)()


async def test_one_instance_for_all_calls_is_noticed() -> None:
    with pytest.raises(AssertionError, match="of_call"):
        await contract(Sound, of_call=False).test_it_is_made_for_each_call()


@pytest.mark.parametrize("test", sorted(n for n in dir(SearchProviderContract) if "test_" in n))
async def test_a_sound_provider_passes(test: str) -> None:
    await getattr(contract(Sound), test)()
