"""The list of tools stays cheap to read: counted on a real server with all plugins."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from benchmarks.processes import StdioServer, clean_environment
from benchmarks.tokens import (
    CORE,
    CORE_LIMIT,
    MEAN_LIMIT,
    NARROWED_LIMIT,
    NARROWED_TOOLS,
    SEARCH_LIMIT,
    TOOL_LIMIT,
    apart,
    token_counter,
    tokens_of,
)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the benchmarks need POSIX")
SERVE = [sys.executable, "-m", "vr_cli", "serve"]


def listed_in(home: Path, **variables: str) -> list[dict[str, Any]]:
    """The tools that a server with a fresh home lists."""
    with StdioServer(SERVE, clean_environment(home, VR_STRICT="1", **variables), home) as server:
        server.shake_hands()
        return server.tools()


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """All tools: beyond 40, a client is shown a part of them unasked."""
    return listed_in(tmp_path_factory.mktemp("home"), VR_TOOLSETS="all")


@pytest.fixture(scope="module")
def costs(listed: list[dict[str, Any]]) -> Mapping[str, int]:
    count = token_counter()
    return {tool["name"]: tokens_of(tool, count) for tool in listed}


@pytest.mark.slow
def test_first_party_plugins_are_counted(costs: Mapping[str, int]) -> None:
    domains = {"infra", "knowledge", "video", "content", "web", "paper", "research", "job"}
    assert domains <= {name.partition("_")[0] for name in costs}


def test_tools_are_cheap_on_average(costs: Mapping[str, int]) -> None:
    assert mean(costs.values()) <= MEAN_LIMIT, costs


def test_no_tool_is_expensive(costs: Mapping[str, int]) -> None:
    assert max(costs.values()) <= TOOL_LIMIT, costs


def test_the_core_tools_are_cheap_together(tmp_path: Path) -> None:
    count = token_counter()
    costs = {
        tool["name"]: tokens_of(tool, count) for tool in listed_in(tmp_path, VR_TOOLSETS="core")
    }
    assert {"video_analyze", "knowledge_search", "job_result"} <= costs.keys()
    known = {name: cost for name, cost in costs.items() if name.startswith(CORE)}
    assert sum(known.values()) <= CORE_LIMIT, known
    assert sum(costs.values()) <= NARROWED_LIMIT, costs


def test_what_is_shown_unasked_is_cheap(costs: Mapping[str, int], tmp_path: Path) -> None:
    """The core tools and a search, as there are more tools than some clients show."""
    count = token_counter()
    shown, search = apart(listed_in(tmp_path))
    assert [tool["name"] for tool in search] == ["tool_search", "tool_call"]
    assert sum(tokens_of(tool, count) for tool in search) <= SEARCH_LIMIT
    names = {tool["name"] for tool in shown}
    assert names < costs.keys()
    assert len(names) <= NARROWED_TOOLS
    assert sum(costs[name] for name in names) <= NARROWED_LIMIT


def test_the_counter_counts_what_a_model_sees() -> None:
    count = token_counter()
    tool = {"name": "a_b", "description": "Do it.", "inputSchema": {"type": "object"}}
    seen = tokens_of(tool, count)
    assert seen == count('{"name":"a_b","description":"Do it.","inputSchema":{"type":"object"}}')
    assert tokens_of({**tool, "outputSchema": {"type": "object"}, "annotations": {}}, count) == seen
