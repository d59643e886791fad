"""The tools that need a language model, with one provider of each family and no Gemini."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from vr_kernel import Code, RecordField, RecordKind, VrError, hookimpl
from vr_plugin_knowledge import plugin as knowledge
from vr_plugin_models import plugin as models
from vr_plugin_video import plugin as video
from vr_testing import (
    Answer,
    FakeAnthropic,
    FakeGemini,
    FakeOllama,
    FakeOpenAI,
    Fault,
    TrialKernel,
    open_kernel,
)

import video_research

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
async def asking(
    family: str, service: Any, *, roots: Sequence[Path] = (), **settings: object
) -> AsyncIterator[TrialKernel]:
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
    async with open_kernel(plugins, settings=given, roots=roots) as kernel:
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


SEEN = {
    "title": "Embeddings",
    "summary": "About vectors.",
    "key_points": ["Vectors are near."],
    "timestamps": [{"time": "0:09", "description": "The question", "quote": ""}],
    "topics": ["search"],
    "sentiment": "neutral",
}
TALK = Path(video_research.__file__).with_name("talk.mp4")


@pytest.mark.slow
async def test_a_model_that_sees_is_given_pictures_and_words(family: str, service: Any) -> None:
    service.answer(SEEN)
    sees = {f"plugins.models.{family}_vision_model": FAMILIES[family][1]}
    async with asking(family, service, roots=[TALK.parent], **sees) as kernel:
        found: Any = await kernel.call("video_analyze", file_path=str(TALK))
        assert (found.engine, found.title) == ("model", "Embeddings")
        assert found.model.startswith(f"{family}/")
        assert any("pictures and words" in limit for limit in found.limits)
        (asked,) = [each for each in service.requests if each.generates]
        assert 4 <= len(asked.media) <= 24
        assert "00:07" in asked.text
        assert "Welcome." in asked.text
        again: Any = await kernel.call("video_analyze", file_path=str(TALK))
        assert again.cached


@pytest.mark.slow
async def test_a_model_that_sees_nothing_is_given_words(family: str, service: Any) -> None:
    service.answer(SEEN)
    if family == "anthropic":
        pytest.skip("all of its models see")
    if family == "ollama":
        service.capabilities = {"tools"}
    async with asking(family, service, roots=[TALK.parent]) as kernel:
        found: Any = await kernel.call("video_analyze", file_path=str(TALK))
        assert any("words alone" in limit for limit in found.limits)
        (asked,) = [each for each in service.requests if each.generates]
        assert (list(asked.media), "Welcome." in asked.text) == ([], True)


@pytest.mark.slow
async def test_a_model_that_sees_answers_when_gemini_fails() -> None:
    with FakeGemini() as gemini, FakeOpenAI() as service:
        gemini.fail(Fault.status(503), times=None)
        service.answer(SEEN)
        order = {
            "models.vision": ["gemini/gemini-3.8-flash", "openai_compatible/own-model"],
            "models.gemini_api_keys": ["any"],
            "models.gemini_base_url": gemini.url,
            "plugins.models.openai_compatible_vision_model": "own-model",
        }
        async with asking("openai_compatible", service, roots=[TALK.parent], **order) as kernel:
            found: Any = await kernel.call("video_analyze", file_path=str(TALK))
        assert found.model == "openai_compatible/own-model"
        assert any("No model watched" in limit for limit in found.limits)


@pytest.mark.slow
async def test_a_film_without_words_needs_a_model_that_sees(tmp_path: Path) -> None:
    silent = tmp_path / "silent.mp4"
    _film(silent)
    with FakeOpenAI() as service:
        own = {"plugins.video.ocr": "off"}
        async with asking("openai_compatible", service, roots=[tmp_path], **own) as kernel:
            with pytest.raises(VrError) as caught:
                await kernel.call("video_analyze", file_path=str(silent), engine="gemini")
    assert (caught.value.code, caught.value.category) == (Code.UNSUPPORTED, "MEDIA_UNSUPPORTED")


def _film(path: Path) -> None:
    """Write two seconds of gray."""
    av = pytest.importorskip("av")
    np = pytest.importorskip("numpy")
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width = stream.height = 64
        stream.pix_fmt = "yuv420p"
        for _ in range(20):
            frame = av.VideoFrame.from_ndarray(np.full((64, 64, 3), 99, np.uint8), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
