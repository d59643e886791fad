"""Nothing is there: no key, no network, no store. The server starts all the same, and says so."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from installation import SERVE
from vr_kernel import Code, VrError
from vr_server import connect

pytestmark = pytest.mark.slow
BOUND_S = 15
CALLS: dict[str, dict[str, Any]] = {
    "knowledge_search": {"query": "fox"},
    "knowledge_ask": {"query": "What did the fox cross?"},
    "knowledge_stats": {},
    "video_comments": {"url": "https://youtu.be/dQw4w9WgXcQ", "analyze": True},
    "video_analyze": {"url": "https://youtu.be/dQw4w9WgXcQ", "engine": "gemini"},
    "web_search": {"query": "foxes"},
    "paper_search": {"query": "foxes"},
    "paper_citations": {"paper_id": "10.5555/fox"},
    "research_web": {"topic": "How foxes cross rivers"},
}


@pytest.fixture
def closed_ports() -> list[int]:
    """Two ports of this machine where nobody listens."""
    with socket.socket() as one, socket.socket() as other:
        for taken in (one, other):
            taken.bind(("127.0.0.1", 0))
        return [int(taken.getsockname()[1]) for taken in (one, other)]


def test_without_any_service_every_tool_is_there_and_says_what_is_missing(
    fresh_environment: Callable[..., dict[str, str]], closed_ports: list[int]
) -> None:
    nowhere = f"http://127.0.0.1:{closed_ports[0]}"
    well = fresh_environment(VR_TOOLSETS="all")
    dead = fresh_environment(
        VR_TOOLSETS="all",
        WEAVIATE_URL=nowhere,
        WEAVIATE_GRPC_PORT=str(closed_ports[1]),
        GEMINI_API_KEY="",
        HTTPS_PROXY=nowhere,
        HTTP_PROXY=nowhere,
        VR_VIDEO__YOUTUBE_SITE=nowhere,
        VR_VIDEO__YOUTUBE_API_ENDPOINT=nowhere,
        VR_KERNEL__HTTP__ALLOWED_HOSTS=nowhere.removeprefix("http://"),
        VR_SEARCH__SEARXNG_URL=nowhere,
        VR_SEARCH__SEMANTIC_SCHOLAR_BASE_URL=nowhere,
        VR_SEARCH__OPENALEX_BASE_URL=nowhere,
        VR_SEARCH__ARXIV_BASE_URL=nowhere,
    )
    expected, _ = asyncio.run(_visit(well, {}))
    tools, errors = asyncio.run(_visit(dead, CALLS))
    assert tools == expected
    assert set(errors) == set(CALLS)
    for name, error in errors.items():
        assert error.code in {Code.AUTH, Code.UNAVAILABLE}, (name, error)
        assert error.hint, (name, error)


async def _visit(
    environment: dict[str, str], calls: dict[str, dict[str, Any]]
) -> tuple[list[str], dict[str, VrError]]:
    """The names of the tools, and how the calls failed."""
    errors = {}
    async with connect(SERVE, env=environment, cwd=Path(environment["HOME"])) as client:
        tools = [tool.name for tool in await client.client.list_tools()]
        for name, arguments in calls.items():
            with pytest.raises(VrError) as caught:
                async with asyncio.timeout(BOUND_S):
                    await client.call(name, **arguments)
            errors[name] = caught.value
    return tools, errors
