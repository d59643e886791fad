"""`knowledge_ask` through Weaviate's query agent: a real server, and the service's own wire."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from fake_agents import FakeAgents, answer, fake_agents
from refined_kernels import ingest, knowledge_kernel
from vr_kernel import Code, VrError
from vr_plugin_knowledge.answering.results import KnowledgeAnswer
from vr_plugin_knowledge.weaviate_store.names import object_id
from vr_testing import TrialKernel
from weaviate_server import WeaviateServer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("weaviate_agents") is None, reason="no weaviate-agents"),
]
FOX = {"title": "The fox", "text": "A fox crossed the river.", "url": "https://example.org/fox"}


@asynccontextmanager
async def asked_kernel(
    server: WeaviateServer, prefix: str, folder: Path, agents: str, **more: Any
) -> AsyncIterator[TrialKernel]:
    settings = {
        "store.backend": "weaviate",
        "plugins.knowledge.weaviate_url": server.url,
        "plugins.knowledge.weaviate_grpc_port": server.grpc_port,
        "plugins.knowledge.weaviate_prefix": prefix,
        "plugins.knowledge.weaviate_agents_url": agents,
        **more,
    }
    async with knowledge_kernel(settings, folder=folder) as kernel:
        yield kernel


async def ask(kernel: TrialKernel, *collections: str) -> KnowledgeAnswer:
    result = await kernel.call(
        "knowledge_ask",
        query="What did the fox cross?",
        collections=list(collections) or None,
        backend="weaviate_agent",
    )
    assert isinstance(result, KnowledgeAnswer)
    return result


@pytest.fixture
async def agents() -> AsyncIterator[FakeAgents]:
    async with fake_agents() as fake:
        yield fake


async def test_the_agent_answers_with_our_records_as_sources(
    weaviate: WeaviateServer, agents: FakeAgents, tmp_path: Path
) -> None:
    async with asked_kernel(weaviate, "Agent_", tmp_path, agents.url) as kernel:
        (key,) = await ingest(kernel, "Notes", FOX)
        assert await kernel.services.store.catch_up(60) == 0
        uuid = object_id("default", "Notes", key)
        sources = [("Agent_Notes", uuid), ("Agent_Notes", uuid), ("Elsewhere", "x")]
        agents.reply = answer("A river.", sources, ["when it was"])
        result = await ask(kernel)
    (request,) = agents.asked
    (collection,) = request["collections"]
    assert request["query"] == "What did the fox cross?"
    assert (collection["name"], collection["tenant"]) == ("Agent_Notes", "default")
    assert "text" in collection["view_properties"]
    assert not [name for name in collection["view_properties"] if name.startswith("vr_")]
    assert (result.answered, result.answer, result.backend) == (True, "A river.", "weaviate_agent")
    assert [(s.collection, s.object_id) for s in result.sources] == [
        ("Notes", key),
        ("Elsewhere", "x"),
    ]
    assert result.sources[0].link == FOX["url"]
    assert any("when it was" in note for note in result.notes)


async def test_without_records_nobody_is_asked(
    weaviate: WeaviateServer, agents: FakeAgents, tmp_path: Path
) -> None:
    async with asked_kernel(weaviate, "AgentNone_", tmp_path, agents.url) as kernel:
        result = await ask(kernel, "Notes")
    assert (result.answered, agents.asked) == (False, [])


@pytest.mark.parametrize(
    ("reply", "code", "category", "says"),
    [
        ((401, '{"error": "Unauthorized"}'), Code.AUTH, "AUTH", "key"),
        ((429, "Too many requests"), Code.QUOTA, "QUOTA", "takes no more"),
        ((500, "it broke"), Code.UNAVAILABLE, "AGENT_FAILED", "it broke"),
        ((200, "no JSON"), Code.UNAVAILABLE, "AGENT_FAILED", "no answer"),
        ({"final_answer": "half"}, Code.UNAVAILABLE, "AGENT_FAILED", "no answer"),
        (None, Code.UNAVAILABLE, "AGENT_FAILED", "within 1 s"),
    ],
)
async def test_what_goes_wrong_is_typed(
    weaviate: WeaviateServer,
    agents: FakeAgents,
    tmp_path: Path,
    reply: Any,
    code: Code,
    category: str,
    says: str,
) -> None:
    agents.reply = reply
    limit = {"plugins.knowledge.weaviate_agent_s": 1 if reply is None else 60}
    async with asked_kernel(weaviate, "AgentBad_", tmp_path, agents.url, **limit) as kernel:
        await ingest(kernel, "Notes", FOX)
        assert await kernel.services.store.catch_up(60) == 0
        with pytest.raises(VrError) as caught:
            await ask(kernel, "Notes")
    assert (caught.value.code, caught.value.category) == (code, category)
    assert says in caught.value.message
    assert "backend" in caught.value.hint or code is Code.AUTH


async def test_a_service_that_is_away(weaviate: WeaviateServer, tmp_path: Path) -> None:
    async with fake_agents() as gone:
        url = gone.url
    async with asked_kernel(weaviate, "AgentBad_", tmp_path, url) as kernel:
        await ingest(kernel, "Notes", FOX)
        assert await kernel.services.store.catch_up(60) == 0
        with pytest.raises(VrError) as caught:
            await ask(kernel, "Notes")
    assert (caught.value.category, caught.value.retryable) == ("AGENT_FAILED", True)


async def test_a_server_that_the_service_cannot_reach(
    weaviate: WeaviateServer, tmp_path: Path
) -> None:
    async with asked_kernel(weaviate, "AgentLocal_", tmp_path, "") as kernel:
        with pytest.raises(VrError) as caught:
            await ask(kernel, "Notes")
    assert caught.value.category == "AGENT_UNAVAILABLE"
    assert "Weaviate Cloud" in caught.value.message


async def test_a_library_that_is_not_installed(
    weaviate: WeaviateServer, agents: FakeAgents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "weaviate_agents.query", None)
    async with asked_kernel(weaviate, "AgentNone_", tmp_path, agents.url) as kernel:
        with pytest.raises(VrError) as caught:
            await ask(kernel, "Notes")
    assert caught.value.category == "AGENT_UNAVAILABLE"
    assert "video-research[agents]" in caught.value.hint
