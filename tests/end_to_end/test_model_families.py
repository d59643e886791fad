"""The tools that need a language model, with one provider of each family and no Gemini."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from vr_kernel import PAID, Code, RecordField, RecordKind, VrError, hookimpl
from vr_plugin_content import plugin as content
from vr_plugin_knowledge import plugin as knowledge
from vr_plugin_models import plugin as models
from vr_plugin_research import plugin as research
from vr_plugin_search import plugin as search_plugin
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
from youtube_server import KEY, FakeYouTube, player, thread
from youtube_server import video as youtube_video

import video_research

FOX = "A fox crossed the frozen river at dawn and went into the forest."
FAMILIES: Mapping[str, tuple[type[Any], str]] = {
    "gemini": (FakeGemini, "gemini-3.8-flash"),
    "azure_openai": (FakeOpenAI, "own-deployment"),
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
    where = service.url.removesuffix("/v1") if family == "azure_openai" else service.url
    reached = {
        f"{own}_base_url": where,
        f"{own}_model": FAMILIES[family][1] if family in FAMILIES else "",
        f"{own}_api_key": "key-of-the-user",
    }
    if family == "gemini":
        reached = {"models.gemini_base_url": where, "models.gemini_api_keys": ["any"]}
    given = {
        "kernel.http.allowed_hosts": [service.url.split("/")[2]],
        **reached,
        "models.attempts": 1,
        "store.backend": "embedded",
        "store.embedder": "words",
        **settings,
    }
    plugins = {
        "models": models,
        "knowledge": knowledge,
        "video": video,
        "content": content,
        "search": search_plugin,
        "research": research,
        "notes": Notes(),
    }
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


JUDGED = {
    "sentiment_positive": 6,
    "sentiment_negative": 3,
    "sentiment_neutral": 3,
    "themes_positive": ["clear slides"],
    "themes_critical": ["too fast"],
    "consensus": "Most find it useful.",
}
CROSSED = {"text": "It crossed.", "quote": "crossed the frozen river", "place": ""}
READ = {"title": "Fox", "summary": "A walk.", "key_points": [CROSSED], "entities": ["Fox"]}
COMPARED = {
    "summary": "Two walks.",
    "commonalities": [{"text": "Both are of a fox.", "files": ["a.md", "b.md"]}],
    "differences": [],
    "files": [
        {"file": name, "title": "Fox", "summary": "A walk.", "key_points": [CROSSED]}
        for name in ("a.md", "b.md")
    ],
}
EXTRACTED = {
    "data": {"animal": "fox"},
    "evidence": [{"path": "/animal", "quote": "A fox crossed", "place": ""}],
}
QUESTION = "What did the fox cross at dawn?"
ASKED = {"question": QUESTION, "queries": ["fox dawn"]}
PLANNED = {
    "questions": [ASKED],
    "phases": [{"name": "Read", "tasks": [{"task": "Read all"}]}],
    "task_decomposition": ["Read all"],
}
FOUND = {
    "claim": "It crossed a river.",
    "question": 1,
    "quote": "crossed the frozen river",
    "stance": "supports",
}
CLAIMED = {"claim": "It crossed a river.", "question": 1, "supports": ["F1"]}
VIDEO = "dQw4w9WgXcQ"
CAPTIONS = '<transcript><text start="1.0" dur="2.5">Welcome to the river.</text></transcript>'
WORDS_FROM_CAPTIONS = "video_transcript"
"""It asks a model that listens, where there are no captions; no other one can."""


def shaped(request: Any) -> Any:
    """An answer to whatever any of the tools asks for."""
    properties = (request.schema or {}).get("properties", {})
    known = {
        "consensus": JUDGED,
        "commonalities": COMPARED,
        "evidence": EXTRACTED,
        "entities": READ,
        "key_points": SEEN,
        "phases": PLANNED,
        "findings": {"findings": [FOUND]},
        "executive_summary": {"executive_summary": "It crossed.", "claims": [CLAIMED]},
        "key_claims": {"title": "Fox", "summary": "A walk."},
        "questions": {"questions": [ASKED]},
        "queries": {"queries": []},
        "tier": {"tier": "INFERENCE", "confidence": 0.5, "reasoning": "One source."},
    }
    if properties.keys() == {"topics"}:
        return {"topics": [{"topic": "Foxes", "agreement": "Both cross.", "sources": [1, 2]}]}
    for field, answer in known.items():
        if field in properties:
            return answer
    if "scores" in properties:
        return {"scores": [{"passage": 1, "score": 0.9}]}
    return answered(request)


async def analyze(kernel: TrialKernel) -> Any:
    found: Any = await kernel.call("video_analyze", file_path=str(TALK))
    assert found.title == "Embeddings"
    return found.model


async def analyze_many(kernel: TrialKernel) -> Any:
    found: Any = await kernel.call("video_batch_analyze", directory=str(TALK.parent))
    (item,) = found.items
    assert item.error is None
    return None


async def begin(kernel: TrialKernel) -> Any:
    made: Any = await kernel.call("video_create_session", file_path=str(TALK))
    assert made.status == "created"
    return None


async def go_on(kernel: TrialKernel) -> Any:
    (session,) = (await kernel.call("video_list_sessions")).sessions
    asked = {"session_id": session.session_id}
    await kernel.call("video_continue_session", **asked, prompt="What is it about?")
    found: Any = await kernel.call("video_continue_session", **asked, prompt="And then?")
    assert (found.response, found.turn_count) == ("Nothing else.", 2)
    return found.model


async def comments(kernel: TrialKernel) -> Any:
    found: Any = await kernel.call("video_comments", url=f"https://youtu.be/{VIDEO}", analyze=True)
    assert found.reactions.consensus == "Most find it useful."
    return found.model


async def transcript(kernel: TrialKernel) -> Any:
    found: Any = await kernel.call(WORDS_FROM_CAPTIONS, file_path=str(TALK))
    assert "Welcome." in found.segments[0].text
    return None


async def search(kernel: TrialKernel) -> Any:
    await kernel.call(
        "knowledge_ingest", collection="Notes", properties={"title": "Fox", "text": FOX}
    )
    found: Any = await kernel.call("knowledge_search", query="fox", collections=["Notes"])
    assert found.reranked
    return found.reranker.removeprefix("model/")


async def ask(kernel: TrialKernel) -> Any:
    found: Any = await kernel.call("knowledge_ask", query="What did the fox cross?")
    assert [claim.supported for claim in found.claims] == [True]
    return found.model


async def extract(kernel: TrialKernel) -> Any:
    made: Any = await kernel.call("knowledge_extract", collections=["Notes"])
    assert made.new_concepts == 1
    return None


async def read(kernel: TrialKernel) -> Any:
    found: Any = await kernel.call("content_analyze", text=FOX)
    assert [point.status for point in found.key_points] == ["verified"]
    return found.model


async def read_many(kernel: TrialKernel) -> Any:
    paths = [str(path) for path in written(kernel)]
    found: Any = await kernel.call("content_batch_analyze", file_paths=paths)
    assert found.comparison.commonalities[0].files == ["a.md", "b.md"]
    return found.model


async def take(kernel: TrialKernel) -> Any:
    schema = {"type": "object", "properties": {"animal": {"type": "string"}}}
    found: Any = await kernel.call("content_extract", schema=schema, content=FOX)
    assert (found.data, found.evidence[0].status) == ({"animal": "fox"}, "verified")
    return found.model


async def plan(kernel: TrialKernel) -> Any:
    found: Any = await kernel.call("research_plan", topic=QUESTION)
    assert [each.question for each in found.questions] == [QUESTION]
    return found.model


async def deep(kernel: TrialKernel) -> Any:
    documents = [str(path) for path in written(kernel)]
    asked = {"topic": QUESTION, "documents": documents, "search_in": [], "depth": 1}
    found: Any = await kernel.call("research_deep", **asked)
    stands(found)
    return found.models[0]


async def documents(kernel: TrialKernel) -> Any:
    paths = [str(path) for path in written(kernel)]
    found: Any = await kernel.call("research_document", instruction=QUESTION, file_paths=paths)
    stands(found)
    assert [each.topic for each in found.cross_references] == ["Foxes"]
    return found.models[0]


def stands(report: Any) -> None:
    """The claim of a report has quotes, all of which stand."""
    (claim,) = report.findings
    assert {each.status for each in claim.citations} == {"verified"}


async def assess(kernel: TrialKernel) -> Any:
    asked = {"claim": "It crossed a river.", "sources": [FOX]}
    found: Any = await kernel.call("research_assess_evidence", **asked)
    assert [each.status for each in found.supporting] == ["verified"]
    return found.model


async def look_up(kernel: TrialKernel) -> Any:
    found: Any = await kernel.call("web_search", query="fox", provider="gemini")
    assert found.response
    return None


async def commission(kernel: TrialKernel) -> Any:
    begun: Any = await kernel.call("research_web", topic="How foxes cross rivers")
    asked = {"interaction_id": begun.interaction_id}
    ended: Any = await kernel.call("research_web_status", **asked, wait_s=50)
    assert (ended.status, ended.interaction_id) == ("completed", begun.interaction_id)
    return None


async def follow_up(kernel: TrialKernel) -> Any:
    begun: Any = await kernel.call("research_web", topic="How foxes swim in rivers")
    asked = {"interaction_id": begun.interaction_id}
    await kernel.call("research_web_status", **asked, wait_s=50)
    found: Any = await kernel.call("research_web_followup", **asked, question="And in winter?")
    assert found.status == "completed"
    return None


def written(kernel: TrialKernel) -> list[Path]:
    """Two documents in a folder that may be read."""
    folder = kernel.services.policy.roots[-1]
    paths = [folder / name for name in ("a.md", "b.md")]
    for path in paths:
        path.write_text(f"# {path.stem}\n\n{FOX}\n", "utf-8")
    return paths


PAID_TOOLS: Mapping[str, Callable[[TrialKernel], Awaitable[Any]]] = {
    "video_analyze": analyze,
    "video_batch_analyze": analyze_many,
    "video_create_session": begin,
    "video_continue_session": go_on,
    "video_comments": comments,
    WORDS_FROM_CAPTIONS: transcript,
    "content_analyze": read,
    "content_batch_analyze": read_many,
    "content_extract": take,
    "knowledge_search": search,
    "knowledge_ask": ask,
    "knowledge_extract": extract,
    "research_plan": plan,
    "research_deep": deep,
    "research_document": documents,
    "research_assess_evidence": assess,
    "web_search": look_up,
    "research_web": commission,
    "research_web_followup": follow_up,
}
"""Each tool that may cost something, in an order in which each finds what it needs."""
GEMINI_ALONE = {"web_search", "research_web", "research_web_followup"}
"""Tools that ask for what only Gemini has: its Google Search, and its Deep Research."""


@pytest.mark.slow
async def test_every_paid_tool_works_with_every_family(
    family: str, service: Any, tmp_path: Path
) -> None:
    """The list is that of the tools themselves; results name the model, and the ledger adds up."""
    service.answer(shaped, times=None)
    youtube = FakeYouTube(videos={VIDEO: youtube_video(VIDEO)})
    youtube.threads[VIDEO] = [thread(1, "Great."), thread(2)]
    with youtube.running():
        settings: dict[str, object] = {
            f"plugins.models.{family}_vision_model": FAMILIES[family][1],
            "models.judge": [f"{family}/{FAMILIES[family][1]}"],
            "plugins.knowledge.reranker_provider": "model",
            "plugins.knowledge.refining_deadline_s": 60,
            "plugins.video.youtube_api_key": KEY,
            "plugins.video.youtube_api_endpoint": youtube.url,
            "plugins.video.youtube_site": youtube.url,
        }
        if family == "gemini":
            settings.pop("plugins.models.gemini_vision_model")
        async with asking(family, service, roots=[TALK.parent, tmp_path], **settings) as kernel:
            paid = {name for name, tool in kernel.tools.items() if PAID in tool.effects}
            assert paid == PAID_TOOLS.keys()
            works = PAID_TOOLS.keys() - (set() if family == "gemini" else GEMINI_ALONE)
            models = {name: await PAID_TOOLS[name](kernel) for name in PAID_TOOLS if name in works}
            spent: Any = await kernel.call("infra_usage", by="provider")
            tools: Any = await kernel.call("infra_usage", by="tool")
    told = {name: model for name, model in models.items() if model}
    assert {model.partition("/")[0] for model in told.values()} == {family}, told
    assert [row.key for row in spent.rows] == [family]
    assert spent.total.input_tokens == service.bill.input_tokens
    free = {WORDS_FROM_CAPTIONS, "video_create_session", "video_batch_analyze"}
    assert {row.key for row in tools.rows} >= works - free


@pytest.mark.slow
async def test_a_session_that_is_estimated_begins_and_pays_nothing() -> None:
    """With a model that does not watch; a session and its turns are as they were."""
    with FakeOllama() as service:
        service.answer("It is about vectors.", times=None)
        own = {"plugins.models.ollama_base_url": service.url}
        async with asking("ollama", service, roots=[TALK.parent], **own) as kernel:
            begun = {"file_path": str(TALK)}
            first: Any = (await kernel.preview("video_create_session", begun)).result
            assert (first.cost_usd, first.requests) == (0.0, 0)
            assert (await kernel.call("video_list_sessions")).sessions == []
            made: Any = await kernel.call("video_create_session", **begun)
            asked = {"session_id": made.session_id, "prompt": "What is it about?"}
            turn: Any = (await kernel.preview("video_continue_session", asked)).result
            assert (turn.basis, turn.models) == ("exact", ["ollama/qwen3"])
            assert [each for each in service.requests if each.generates] == []
            (session,) = (await kernel.call("video_list_sessions")).sessions
            assert session.turn_count == 0


@pytest.mark.slow
@pytest.mark.parametrize("family", sorted(FAMILIES.keys() - {"gemini"}), indirect=True)
async def test_a_session_about_youtube_goes_by_its_captions(family: str, service: Any) -> None:
    service.answer("They say welcome.")
    youtube = FakeYouTube(
        videos={VIDEO: youtube_video(VIDEO)},
        players={VIDEO: player(("en", False))},
        texts={"en": CAPTIONS},
    )
    with youtube.running():
        site = {"plugins.video.youtube_site": youtube.url}
        async with asking(family, service, **site) as kernel:
            made: Any = await kernel.call("video_create_session", url=f"https://youtu.be/{VIDEO}")
            asked = {"session_id": made.session_id, "prompt": "How does it begin?"}
            found: Any = await kernel.call("video_continue_session", **asked)
    assert found.response == "They say welcome."
    (request,) = [each for each in service.requests if each.generates]
    assert (list(request.media), "Welcome to the river." in request.text) == ([], True)
    assert any("words alone" in limit for limit in found.limits)


@pytest.mark.slow
async def test_a_small_window_sees_the_last_turns_of_a_session() -> None:
    """The video has its part of the window, and the turns have theirs."""
    window = 8_000
    with FakeOllama() as service:
        service.window = window
        for number in range(4):
            service.answer(f"answer-{number} " + "word " * 650, times=1)
        own: dict[str, object] = {"plugins.models.ollama_base_url": service.url}
        async with asking("ollama", service, roots=[TALK.parent], **own) as kernel:
            made: Any = await kernel.call("video_create_session", file_path=str(TALK))
            asked = {"session_id": made.session_id, "prompt": "And then?"}
            turns: list[Any] = [
                await kernel.call("video_continue_session", **asked) for _ in range(4)
            ]
    last = [each for each in service.requests if each.generates][-1]
    assert [f"answer-{number}" in last.text for number in range(3)] == [False, True, True]
    assert "The model saw the last 2 of 3 turns." in turns[-1].limits
    assert not any("The model saw" in limit for limit in turns[-2].limits)


@pytest.mark.slow
async def test_a_session_goes_on_with_a_model_that_sees_when_gemini_fails() -> None:
    with FakeGemini() as gemini, FakeOpenAI() as service:
        service.answer("It is about vectors.", times=None)
        order = {
            "models.vision": ["gemini/gemini-3.8-flash", "openai_compatible/own-model"],
            "models.gemini_api_keys": ["any"],
            "models.gemini_base_url": gemini.url,
            "plugins.models.openai_compatible_vision_model": "own-model",
        }
        async with asking("openai_compatible", service, roots=[TALK.parent], **order) as kernel:
            made: Any = await kernel.call("video_create_session", file_path=str(TALK))
            gemini.fail(Fault.status(503), times=None)
            asked = {"session_id": made.session_id, "prompt": "What is it about?"}
            found: Any = await kernel.call("video_continue_session", **asked)
        (request,) = [each for each in service.requests if each.generates]
    assert (found.response, found.model) == ("It is about vectors.", "openai_compatible/own-model")
    assert any("No model watched" in limit for limit in found.limits)
    assert 4 <= len(request.media) <= 24
    assert "Welcome." in request.text


@pytest.mark.slow
@pytest.mark.parametrize("family", sorted(FAMILIES.keys() - {"gemini"}), indirect=True)
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
    if family in ("anthropic", "gemini"):
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
            once_more: Any = await kernel.call("video_analyze", file_path=str(TALK))
            assert (once_more.title, once_more.model) == (found.title, found.model)
            assert len([each for each in service.requests if each.generates]) == 1
            gemini.heal()
            gemini.answer(SEEN, times=None)
            again: Any = await kernel.call("video_analyze", file_path=str(TALK))
        assert found.model == "openai_compatible/own-model"
        assert any("No model watched" in limit for limit in found.limits)
        assert (again.model, again.cached) == ("gemini/gemini-3.8-flash", False)


@pytest.mark.slow
@pytest.mark.parametrize("cause", ["fault", "budget"])
async def test_the_next_model_is_given_pictures_when_the_first_does_not_answer(cause: str) -> None:
    """One that is free answers within any budget."""
    with FakeOpenAI() as dear, FakeOllama() as free:
        free.answer(SEEN)
        free.answer("It is about vectors.")
        order: dict[str, object] = {
            "models.vision": ["openai/gpt-4o", "ollama/qwen3-vl"],
            "plugins.models.ollama_base_url": free.url,
        }
        if cause == "budget":
            order["models.call_budget_usd"] = 0
        else:
            dear.fail(Fault.status(503), times=None)
        async with asking("openai", dear, roots=[TALK.parent], **order) as kernel:
            found: Any = await kernel.call("video_analyze", file_path=str(TALK))
            made: Any = await kernel.call("video_create_session", file_path=str(TALK))
            asked = {"session_id": made.session_id, "prompt": "What is it about?"}
            turn: Any = await kernel.call("video_continue_session", **asked)
    assert [found.model, turn.model] == ["ollama/qwen3-vl"] * 2
    for result in (found, turn):
        assert any("openai/gpt-4o did not answer" in limit for limit in result.limits)
        assert any("ollama/qwen3-vl does not watch" in limit for limit in result.limits)
    if cause == "budget":
        assert [each for each in dear.requests if each.generates] == []


@pytest.mark.slow
async def test_after_all_failed_the_first_is_asked_again() -> None:
    with FakeOpenAI() as first, FakeOllama() as second:
        order: dict[str, object] = {
            "models.vision": ["openai/gpt-4o", "ollama/qwen3-vl"],
            "plugins.models.ollama_base_url": second.url,
        }
        for service in (first, second):
            service.fail(Fault.status(503), times=None)
            service.answer(SEEN)
        async with asking("openai", first, roots=[TALK.parent], **order) as kernel:
            with pytest.raises(VrError):
                await kernel.call("video_analyze", file_path=str(TALK))
            first.heal()
            found: Any = await kernel.call("video_analyze", file_path=str(TALK))
    assert found.model == "openai/gpt-4o"


@pytest.mark.slow
async def test_a_film_without_words_needs_a_model_that_sees(tmp_path: Path) -> None:
    silent = tmp_path / "silent.mp4"
    _film(silent)
    with FakeOpenAI() as service:
        own = {"plugins.video.ocr": "off"}
        async with asking("openai_compatible", service, roots=[tmp_path], **own) as kernel:
            for tool, more in (
                ("video_analyze", {"engine": "gemini"}),
                ("video_create_session", {}),
            ):
                with pytest.raises(VrError) as caught:
                    await kernel.call(tool, file_path=str(silent), **more)
                raised = (caught.value.code, caught.value.category)
                assert raised == (Code.UNSUPPORTED, "MEDIA_UNSUPPORTED")
            assert (await kernel.call("video_list_sessions")).sessions == []


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
