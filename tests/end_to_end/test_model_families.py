"""The tools that need a language model, with one provider of each family and no Gemini."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from vr_kernel import Code, RecordField, RecordKind, VrError, hookimpl
from vr_plugin_knowledge import plugin as knowledge
from vr_plugin_models import plugin as models
from vr_plugin_video import plugin as video
from vr_testing import (
    Answer,
    FakeAnthropic,
    FakeOllama,
    FakeOpenAI,
    TrialKernel,
    open_kernel,
)

FOX = "A fox crossed the frozen river at dawn and went into the forest."
FAMILIES: Mapping[str, tuple[type[Any], str]] = {
    "openai_compatible": (FakeOpenAI, "own-model"),
    "anthropic": (FakeAnthropic, "claude-sonnet-5-5"),
    "ollama": (FakeOllama, "qwen3"),
}


class Notes:
    """A plugin with one kind of records."""

    @hookimpl
    def vr_record_kinds(self) -> list[RecordKind]:
        title = RecordField("title", searchable=True, vectorised=True)
        text = RecordField("text", searchable=True, vectorised=True)
        return [RecordKind("Notes", "Notes of a person.", (title, text), rerank="text")]


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name == "anthropic":
        pytest.importorskip("anthropic")
    return name


@pytest.fixture
def service(family: str) -> Iterator[Any]:
    with FAMILIES[family][0]() as made:
        yield made


@asynccontextmanager
async def asking(family: str, service: Any, **settings: object) -> AsyncIterator[TrialKernel]:
    own = f"plugins.models.{family}"
    given = {
        "kernel.http.allowed_hosts": [service.url.split("/")[2]],
        f"{own}_base_url": service.url,
        f"{own}_model": FAMILIES[family][1],
        f"{own}_api_key": "key-of-the-user",
        "models.attempts": 1,
        "store.backend": "embedded",
        "store.embedder": "words",
        **settings,
    }
    plugins = {"models": models, "knowledge": knowledge, "video": video, "notes": Notes()}
    async with open_kernel(plugins, settings=given) as kernel:
        yield kernel


def answered(request: Any) -> Any:
    """An answer to whatever shape is asked for."""
    properties = (request.schema or {}).get("properties", {})
    if "claims" in properties:
        cited = {"passage": 1, "quote": "crossed the frozen river at dawn"}
        claims = [{"text": "It crossed a river.", "citations": [cited]}]
        return {"answered": True, "claims": claims}
    if "concepts" in properties:
        fox = {"name": "Fox", "quote": "A fox crossed the frozen river"}
        return {"concepts": [fox], "relations": []}
    return "Nothing else."


async def test_questions_and_concepts(family: str, service: Any) -> None:
    service.answer(answered)
    async with asking(family, service) as kernel:
        await kernel.call(
            "knowledge_ingest", collection="Notes", properties={"title": "Fox", "text": FOX}
        )
        found: Any = await kernel.call("knowledge_ask", query="What did the fox cross?")
        assert [claim.supported for claim in found.claims] == [True]
        assert found.model.startswith(f"{family}/")
        made: Any = await kernel.call("knowledge_extract", collections=["Notes"])
        assert made.new_concepts == 1
        spent: Any = await kernel.call("infra_usage", by="provider")
        assert [row.key for row in spent.rows] == [family]
        assert spent.total.input_tokens == service.bill.input_tokens
        assert spent.total.calls == service.bill.calls


async def test_calls_of_tools_and_streams(family: str, service: Any) -> None:
    service.answer(Answer("One, two, three, four, five, six."))
    async with asking(family, service) as kernel:
        door = kernel.services.models
        pieces = [piece async for piece in door.stream("Count.")]
        assert "".join(piece.text for piece in pieces) == "One, two, three, four, five, six."
        assert pieces[-1].reply is not None
        assert pieces[-1].reply.usage.calls == 1


async def test_a_video_is_watched_locally_when_no_model_can(family: str, service: Any) -> None:
    async with asking(family, service) as kernel:
        assert kernel.services.models.ready("vision")
        assert not kernel.services.models.ready("vision", "video")
        with pytest.raises(VrError) as caught:
            await kernel.call("video_create_session", url="https://youtu.be/dQw4w9WgXcQ")
        assert caught.value.code in (Code.UNSUPPORTED, Code.UNAVAILABLE, Code.NOT_ALLOWED)
    assert service.bill.calls == 0
