"""Searches of jobs that were interrupted: what was found stays, and is not paid again."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_search import FakeSearch
from pydantic import BaseModel
from searchkit import open_desk
from vr_kernel import CALLS_OUT, READ_ONLY, Call, SearchProvider, WebQuery, hookimpl, tool
from vr_testing import RecordedRequest
from vr_testing.killed_calls import KilledCalls, PaidCall
from vr_testing.service.faults import ServiceFault

PAID = ("perplexity", "brave", "tavily", "exa", "openalex", "semantic_scholar", "arxiv")


class Titles(BaseModel):
    """The titles that were found."""

    titles: list[str]


@tool(effects=READ_ONLY | CALLS_OUT, long=True)
async def kit_search_all(call: Call) -> Titles:
    """Search with one service after another, the last of which may hang."""
    found = []
    for name in (*PAID, "searxng"):
        provider = call.services.providers.get(SearchProvider, name)
        found += (await provider.search(call, WebQuery("swallows", limit=1))).results
    return Titles(titles=[each.title for each in found])


@hookimpl
def vr_tools() -> list[Any]:
    """The tool."""
    return [kit_search_all]


KIT = {"kit": SimpleNamespace(vr_tools=vr_tools)}


async def test_a_resumed_job_asks_only_who_has_not_answered(
    fake: FakeSearch, tmp_path: Path
) -> None:
    names = ("perplexity", "brave", "tavily", "exa", "searxng")
    fake.fail(ServiceFault.hang(), when=lambda it: it.action == "searxng", times=None)
    async with open_desk(fake, *names, plugins=KIT, folder=tmp_path) as desk:
        job = desk.kernel.start("kit_search_all", {})
        await asyncio.to_thread(fake.wait, lambda: len(fake.requests) == len(PAID) + 1)
    assert desk.asked == [*PAID, "searxng"]
    fake.heal()
    fake.forget()
    async with open_desk(fake, *names, plugins=KIT, folder=tmp_path) as desk:
        ended = await desk.call("job_result", job_id=job.id)
    assert ended.state == "done", ended
    assert len(ended.result["titles"]) == len(PAID) + 1
    assert desk.asked == ["searxng"]


def answered(_request: RecordedRequest, word: str) -> Mapping[str, str]:
    """An answer of Gemini."""
    return {"said": word}


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.skipif(os.name == "nt", reason="SIGKILL and fork are POSIX")
def test_a_killed_search_pays_gemini_once(tmp_path: Path) -> None:
    paid = PaidCall("web_search", {"query": "swallows"}, answered, resumed=True)
    with KilledCalls({"search": "vr_plugin_search.plugin"}, tmp_path) as calls:
        assert calls.check(paid) > 1
