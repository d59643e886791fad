"""Arguments that take sources of any kind: what may not be read is not read as one of them."""

from __future__ import annotations

import pytest
from abuse_bench import CANARY, Bench
from test_abuse_paths import ODD, PLACES
from test_abuse_urls import HOSTS, WRONG
from tool_arguments import filled
from vr_kernel import Code

pytestmark = pytest.mark.asyncio(loop_scope="module")
TAKING = {"research_deep": "documents", "research_assess_evidence": "sources"}
"""Tools, and their arguments that are paths, addresses, ids of records or texts."""
UNREAD = (Code.NOT_ALLOWED, Code.INVALID_INPUT, Code.NOT_FOUND, Code.UNSUPPORTED, Code.UNAVAILABLE)


async def ask(bench: Bench, tool: str, source: str) -> None:
    beside = {**filled(tool, TAKING[tool]), "engine": "local"}
    alone = {"search_in": []} if tool == "research_deep" else {}
    given = {**beside, **alone, TAKING[tool]: [source]}
    outcome = await bench.call(tool, given, f"{tool} {source[:60]!a}")
    if outcome.error is not None:
        assert outcome.error.code in UNREAD, source


@pytest.mark.parametrize("tool", TAKING)
async def test_places_outside_are_not_read(bench: Bench, tool: str) -> None:
    canary = bench.outside / f"{CANARY}.txt"
    for place in [*PLACES, str(canary), canary.as_uri(), f"link/{CANARY}.txt"]:
        await ask(bench, tool, place)
    bench.verdict()


@pytest.mark.slow
@pytest.mark.parametrize("tool", TAKING)
async def test_odd_names(bench: Bench, tool: str) -> None:
    for name in ODD:
        if not name.startswith(("http://", "https://")):
            await ask(bench, tool, name)
    bench.verdict()


@pytest.mark.slow
@pytest.mark.parametrize("tool", TAKING)
async def test_hosts_of_the_inside_are_not_asked(bench: Bench, tool: str) -> None:
    for url in [*(f"http://{host}/a.html" for host in HOSTS), *WRONG]:
        await ask(bench, tool, url)
    bench.verdict()
