"""The search provider keeps the contract, also before a table that sets traps or fails."""

from __future__ import annotations

from types import SimpleNamespace
from typing import ClassVar

from vr_kernel import Code, Provider, SearchProvider, VrError, WebResult, hookimpl
from vr_testing import SearchProviderContract

TRAPS = [
    WebResult("traps", "javascript:alert(1)"),
    WebResult("traps", "file:///etc/passwd"),
    WebResult("traps", "https://a.example.org/\u202egpj"),
    WebResult("traps", "http://[half"),
    WebResult("traps", "https://a.example.org/" + "x" * 10_000),
    WebResult("\x1b[31mtraps\x1b[0m \u200b" + "t" * 100_000, "https://a.example.org/title"),
    WebResult("traps", "https://a.example.org/snippet", "\ud800\x00 traps " * 100_000),
    WebResult("traps", "https://a.example.org/", details={"a\u200b" * 5000: "traps " * 9000}),
    *[WebResult(f"traps {n}", f"https://a.example.org/{n}", "traps " * 9000) for n in range(200)],
]


def rows(query: str) -> list[WebResult]:
    """The table, for some words another one."""
    from vr_plugin_almanac.search import TABLE

    if query == "failing":
        raise VrError("The almanac is lent.", Code.UNAVAILABLE, hint="Ask again tomorrow.")
    return TRAPS if query == "traps" else [*TABLE]


@hookimpl
def vr_providers() -> list[Provider[SearchProvider]]:
    """The provider as the plugin offers it, over that table."""
    from vr_plugin_almanac.search import AlmanacSearch

    made = Provider(SearchProvider, "almanac", lambda own: AlmanacSearch(own, rows), of_call=True)
    return [made]


class TestSearch(SearchProviderContract):
    """The contract."""

    plugins: ClassVar = {"almanac": SimpleNamespace(vr_providers=vr_providers)}
    provider = "almanac"
    question = "When do swallows leave?"
    nothing = "qzxv"
    hostile = "traps"
    failing = "failing"


async def test_the_plugin_offers_it(open_kernel):
    kernel = await open_kernel()
    async with kernel.turn("almanac", "almanac_look", "look") as call:
        provider = call.services.providers.get(SearchProvider)
        from vr_kernel import WebQuery

        found = await provider.search(call, WebQuery("When is the longest day?", limit=1))
    assert [result.title for result in found.results] == ["Longest day"]
