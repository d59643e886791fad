"""Gemini's models: the requests to them, the keys that are used, and reading their answers."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gemini_service import MODEL, ask, gemini_at, in_tokens, rows_of, video
from vr_kernel import Code, VrError
from vr_kernel.config.model_settings import ModelsSettings
from vr_kernel.gemini.catalogue import KNOWN, PRESETS
from vr_kernel.gemini.service import GeminiService
from vr_kernel.generation import Media, Reply, Usage
from vr_kernel.log import Log
from vr_testing import Answer, FakeGemini, Fault
from vr_testing.gemini.errors import ApiError


@pytest.fixture
def fake() -> Iterator[FakeGemini]:
    with FakeGemini() as service:
        yield service


def keys_of(fake: FakeGemini, action: str = "generateContent") -> list[str]:
    return [request.api_key for request in fake.requests_of(action)]


async def refused(fake: FakeGemini, tmp_path: Path, fault: Fault, model: str = MODEL) -> VrError:
    fake.fail(fault)
    async with gemini_at(fake.url, tmp_path) as gemini:
        with pytest.raises(VrError) as caught:
            await gemini.models.generate(model, ask("Hello."))
    return caught.value


async def test_keys_are_used_in_turn(fake: FakeGemini, tmp_path: Path) -> None:
    async with gemini_at(fake.url, tmp_path, gemini_api_keys=["a", "b", "c"]) as gemini:
        for _ in range(4):
            await gemini.models.generate(MODEL, ask("Hello."))
    assert keys_of(fake) == ["a", "b", "c", "a"]


async def test_models_are_listed_for_nothing(fake: FakeGemini, tmp_path: Path) -> None:
    fake.keys, fake.models = {"good"}, {"gemini-4-argon", "gemini-4-neon"}
    async with gemini_at(fake.url, tmp_path, gemini_api_keys=["bad", "good"]) as gemini:
        assert await gemini.models.list_models() == ["gemini-4-argon", "gemini-4-neon"]
    async with gemini_at(fake.url, tmp_path, gemini_api_keys=["bad"]) as gemini:
        with pytest.raises(VrError) as caught:
            await gemini.models.list_models()
    assert caught.value.code is Code.AUTH
    assert keys_of(fake, "models.list") == ["bad", "good", "bad"]
    assert fake.bill.calls == 0


async def test_key_that_is_throttled_rests_and_the_next_one_answers(
    fake: FakeGemini, tmp_path: Path
) -> None:
    fake.fail(Fault.throttled(60), when=lambda request: request.api_key == "a", times=None)
    async with gemini_at(fake.url, tmp_path, gemini_api_keys=["a", "b"]) as gemini:
        for _ in range(3):
            assert (await gemini.models.generate(MODEL, ask("Hello."))).text
        await gemini.models.generate("gemini-3.5-flash-lite", ask("Another quota."))
    assert keys_of(fake)[:4] == ["a", "b", "b", "b"]
    assert "a" in keys_of(fake)[4:], "a quota belongs to a model"


async def test_all_keys_throttled_names_the_soonest_and_asks_nobody_until_then(
    fake: FakeGemini, tmp_path: Path
) -> None:
    fake.fail(Fault.throttled(20), when=lambda request: request.api_key == "a")
    fake.fail(Fault.throttled(90), when=lambda request: request.api_key == "b")
    async with gemini_at(fake.url, tmp_path, gemini_api_keys=["a", "b"]) as gemini:
        for _ in range(2):
            with pytest.raises(VrError) as caught:
                await gemini.models.generate(MODEL, ask("Hello."))
            assert caught.value.code is Code.QUOTA
            assert caught.value.retryable
            assert caught.value.retry_after == pytest.approx(20, abs=3)
    assert len(fake.requests) == 2


async def test_key_without_a_time_to_rest_is_tried_again(fake: FakeGemini, tmp_path: Path) -> None:
    fake.fail(Fault.throttled())
    async with gemini_at(fake.url, tmp_path) as gemini:
        with pytest.raises(VrError) as caught:
            await gemini.models.generate(MODEL, ask("Hello."))
        assert caught.value.retry_after is None
        assert (await gemini.models.generate(MODEL, ask("Hello."))).text


async def test_key_that_is_not_valid_gives_way_to_one_that_is(
    fake: FakeGemini, tmp_path: Path
) -> None:
    fake.keys = {"good"}
    async with gemini_at(fake.url, tmp_path, gemini_api_keys=["bad", "good"]) as gemini:
        for _ in range(3):
            assert (await gemini.models.generate(MODEL, ask("Hello."))).text
    assert keys_of(fake) == ["bad", "good", "good", "good"]


async def test_missing_key_names_the_variable_and_the_page(tmp_path: Path) -> None:
    async with gemini_at("http://127.0.0.1:9", tmp_path, gemini_api_keys=[]) as gemini:
        with pytest.raises(VrError, match="key") as caught:
            gemini.models.check()
        with pytest.raises(VrError):
            await gemini.models.generate(MODEL, ask("Hello."))
    assert caught.value.code is Code.AUTH
    assert "GEMINI_API_KEY" in caught.value.hint
    assert "https://aistudio.google.com/apikey" in caught.value.hint


async def test_changed_settings_hold_for_the_next_request(fake: FakeGemini, tmp_path: Path) -> None:
    current = ModelsSettings(gemini_api_keys=["a"], gemini_base_url=fake.url)
    gemini = GeminiService(lambda: current, rows_of(), Log("error", "console"))
    await gemini.models.generate(MODEL, ask("Hello."))
    current = ModelsSettings(
        gemini_api_keys=["b"], gemini_base_url=fake.url, gemini_api_version="v1", preset="budget"
    )
    await gemini.models.generate(MODEL, ask("Hello."))
    assert [(r.api_key, r.version) for r in fake.requests] == [("a", "v1beta"), ("b", "v1")]
    assert gemini.models.model_for("default") == PRESETS["budget"].default
    await gemini.aclose()


@pytest.mark.parametrize(
    ("fault", "code", "category", "retryable"),
    [
        (Fault.status(400), Code.INVALID_INPUT, "API_INVALID_ARGUMENT", False),
        (Fault.invalid_key(), Code.AUTH, "API_PERMISSION_DENIED", False),
        (Fault.status(401), Code.AUTH, "API_PERMISSION_DENIED", False),
        (Fault.status(403), Code.AUTH, "API_PERMISSION_DENIED", False),
        (Fault.status(404), Code.NOT_FOUND, "API_NOT_FOUND", False),
        (Fault.status(409), Code.UNAVAILABLE, "SERVICE_ERROR", True),
        (Fault.status(429), Code.QUOTA, "API_QUOTA_EXCEEDED", True),
        (Fault.status(502), Code.UNAVAILABLE, "SERVICE_ERROR", True),
        (Fault.status(504), Code.UNAVAILABLE, "SERVICE_ERROR", True),
        (Fault.reset(), Code.UNAVAILABLE, "NETWORK_ERROR", True),
        (Fault.truncated("clean"), Code.UNAVAILABLE, "REPLY_UNREADABLE", True),
        (Fault.empty(), Code.UNAVAILABLE, "REPLY_EMPTY", True),
        (Fault.max_tokens(), Code.TOO_LARGE, "REPLY_CUT_OFF", False),
        (Fault.prompt_blocked("OTHER"), Code.NOT_ALLOWED, "SAFETY_BLOCKED", False),
        (Fault.answer_blocked("RECITATION"), Code.NOT_ALLOWED, "SAFETY_BLOCKED", False),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
async def test_failures_have_their_codes(
    fake: FakeGemini, tmp_path: Path, fault: Fault, code: Code, category: str, retryable: bool
) -> None:
    error = await refused(fake, tmp_path, fault)
    assert (error.code, error.category, error.retryable) == (code, category, retryable)
    assert len(fake.requests) == 1


async def test_account_without_billing_or_country_is_not_a_bad_key(
    fake: FakeGemini, tmp_path: Path
) -> None:
    where = "User location is not supported for the API use."
    fault = Fault("place", error=lambda _: ApiError(400, where, status="FAILED_PRECONDITION"))
    assert (await refused(fake, tmp_path, fault)).code is Code.NOT_ALLOWED


async def test_errors_repeat_neither_key_nor_address(fake: FakeGemini, tmp_path: Path) -> None:
    said = "Consumer 'api_key:AIzaSyA1234567890abc' suspended, see https://x.y/?key=one now"
    error = await refused(fake, tmp_path, Fault.status(403, said))
    assert "AIza" not in error.message
    assert "http" not in error.message


async def test_unknown_model_is_asked_and_the_nearest_is_named(
    fake: FakeGemini, tmp_path: Path
) -> None:
    error = await refused(fake, tmp_path, Fault.status(404), model="gemini-3.8-flush")
    assert fake.requests[0].model == "gemini-3.8-flush"
    assert "'gemini-3.8-flash'" in error.hint


@pytest.mark.parametrize("model", [*KNOWN, "models/gemini-3.8-flash", "gemini-3.8-flush"])
async def test_who_is_not_known_is_not_suggested(
    fake: FakeGemini, tmp_path: Path, model: str
) -> None:
    error = await refused(fake, tmp_path, Fault.status(404), model=model)
    suggested = [name for name in KNOWN if repr(name) in error.hint]
    assert len(suggested) == 1
    assert suggested[0] != model.removeprefix("models/")
    assert "[models]" in error.hint


@pytest.mark.parametrize(
    ("model", "asked", "sent", "noted"),
    [
        ("gemini-3.8-flash", "minimal", "LOW", True),
        ("gemini-3.1-pro-preview", "medium", "MEDIUM", False),
        ("gemini-3.5-flash-lite", "minimal", "MINIMAL", False),
        ("a-model-of-tomorrow", "minimal", "MINIMAL", False),
        ("gemini-3.8-flash", None, "", False),
    ],
)
async def test_thinking_level_is_the_nearest_that_the_model_takes(
    fake: FakeGemini, tmp_path: Path, model: str, asked: Any, sent: str, noted: bool
) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini:
        reply = await gemini.models.generate(model, ask("Hello.", thinking=asked))
    assert fake.requests[0].thinking_level == sent
    assert bool(reply.notes) == noted


async def test_temperature_is_left_out_where_it_is_not_taken(
    fake: FakeGemini, tmp_path: Path
) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini:
        newer = await gemini.models.generate(MODEL, ask("Hello.", temperature=0.3))
        usual = await gemini.models.generate(MODEL, ask("Hello.", temperature=1.0))
        older = await gemini.models.generate("gemini-3.1-pro-preview", ask("Hi.", temperature=0.3))
    assert [r.config.get("temperature") for r in fake.requests] == [None, None, 0.3]
    assert [len(reply.notes) for reply in (newer, usual, older)] == [1, 0, 0]


async def test_tools_are_offered_and_sources_come_back(fake: FakeGemini, tmp_path: Path) -> None:
    fake.answer(Answer("Yes.", sources=(("A", "https://a.org"), ("B", "https://b.org"))))
    request = ask("Is it?", search=True, url_context=True)
    async with gemini_at(fake.url, tmp_path) as gemini:
        reply = await gemini.models.generate(MODEL, request)
        streamed = [piece async for piece in gemini.models.stream(MODEL, request)][-1].reply
    assert [(source.title, source.url) for source in reply.sources] == [
        ("A", "https://a.org"),
        ("B", "https://b.org"),
    ]
    assert isinstance(streamed, Reply)
    assert streamed.sources == reply.sources
    assert all(fake.requests[0].has_tool(name) for name in ("googleSearch", "urlContext"))


async def test_part_of_a_youtube_video_is_named_on_the_wire(
    fake: FakeGemini, tmp_path: Path
) -> None:
    media = Media.youtube("dQw4w9WgXcQ", start=1.5, end=123456.25, fps=2, resolution="low")
    async with gemini_at(fake.url, tmp_path) as gemini:
        await gemini.models.generate(MODEL, ask(media, "What happens?"))
    (part,) = fake.requests[0].media
    assert part["fileData"] == {"file_uri": "https://www.youtube.com/watch?v=dQw4w9WgXcQ"}
    assert part["videoMetadata"] == {
        "start_offset": "1.5s",
        "end_offset": "123456.25s",
        "fps": 2.0,
    }
    assert part["mediaResolution"] == {"level": "MEDIA_RESOLUTION_LOW"}


async def test_video_that_gemini_may_not_watch_is_not_a_bad_key(
    fake: FakeGemini, tmp_path: Path
) -> None:
    fake.fail(Fault.status(403), when=lambda request: bool(request.media), times=None)
    async with gemini_at(fake.url, tmp_path, gemini_api_keys=["a", "b"]) as gemini:
        with pytest.raises(VrError) as caught:
            await gemini.models.generate(MODEL, ask(Media.youtube("dQw4w9WgXcQ"), "What?"))
    assert (caught.value.code, caught.value.category) == (Code.NOT_ALLOWED, "VIDEO_RESTRICTED")
    assert len(fake.requests) == 1


ABOUT_THE_KEY = [
    ApiError(403, "Your API key was reported as leaked. Please use another API key."),
    ApiError(403, "Generative Language API has not been used in project 1 or it is disabled."),
    ApiError(403, "Permission denied: Consumer 'api_key:AIzaSyA1234567890' has been suspended."),
    ApiError(403, "Requests from referer <empty> are blocked."),
    ApiError(403, "Not allowed.", details=[{"reason": "SERVICE_DISABLED"}]),
    ApiError(400, "API key expired. Please renew the API key."),
]


@pytest.mark.parametrize("said", ABOUT_THE_KEY, ids=str)
async def test_key_that_is_refused_says_nothing_of_the_video(
    fake: FakeGemini, tmp_path: Path, said: ApiError
) -> None:
    fault = Fault("key", error=lambda _: said)
    fake.fail(fault, when=lambda request: request.api_key == "bad", times=None)
    watched = ask(Media.youtube("dQw4w9WgXcQ"), "What?")
    async with gemini_at(fake.url, tmp_path, gemini_api_keys=["bad", "good"]) as gemini:
        assert (await gemini.models.generate(MODEL, watched)).text
    assert keys_of(fake) == ["bad", "good"]
    async with gemini_at(fake.url, tmp_path, gemini_api_keys=["bad"]) as gemini:
        with pytest.raises(VrError) as caught:
            await gemini.models.generate(MODEL, watched)
    assert (caught.value.code, caught.value.category) == (Code.AUTH, "API_PERMISSION_DENIED")


@pytest.mark.parametrize(
    "finish", ["OTHER", "MALFORMED_FUNCTION_CALL", "FINISH_REASON_UNSPECIFIED", "NO_IMAGE"]
)
async def test_answer_that_did_not_come_to_its_end_is_none(
    fake: FakeGemini, tmp_path: Path, finish: str
) -> None:
    fake.answer(Answer("The first half of an", finish=finish))
    async with gemini_at(fake.url, tmp_path) as gemini:
        with pytest.raises(VrError, match=finish) as whole:
            await gemini.models.generate(MODEL, ask("Hello."))
        with pytest.raises(VrError) as streamed:
            [piece async for piece in gemini.models.stream(MODEL, ask("Hello."))]
    errors = [whole.value, streamed.value]
    for error in errors:
        assert (error.category, error.retryable) == ("REPLY_TRUNCATED", True)
        assert error.detail == "The first half of an"
    assert sum((error.usage or Usage() for error in errors), Usage()) == in_tokens(fake.bill)


async def test_files_go_inline_until_the_request_is_full(fake: FakeGemini, tmp_path: Path) -> None:
    async with (
        gemini_at(fake.url, tmp_path) as gemini,
        video(tmp_path, 15_000_000) as first,
        video(tmp_path, 15_000_001, "b.mp4") as second,
    ):
        await gemini.models.generate(MODEL, ask(first, second, "Compare."))
    (request,) = fake.requests_of("generateContent")
    assert ["inlineData" in part for part in request.media] == [True, False]
    assert len(fake.requests_of("files.create")) == 1


async def test_embeddings_go_in_batches_and_have_unit_length(
    fake: FakeGemini, tmp_path: Path
) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini:
        found = await gemini.models.embed(
            "gemini-embedding-001", [f"text {n}" for n in range(201)], "document", 8
        )
        query = await gemini.models.embed("gemini-embedding-2", ["text 0"], "query", None)
    assert len(found.vectors) == 201
    assert found.usage.calls == 3
    assert all(math.isclose(math.hypot(*vector), 1, rel_tol=1e-9) for vector in found.vectors)
    assert len(query.vectors[0]) == 3072
    first, *_, last = fake.requests
    assert first.body["requests"][0]["taskType"] == "RETRIEVAL_DOCUMENT"
    assert last.text == "task: search result | query: text 0", "that model is told in words"
    assert fake.bill.input_tokens == found.usage.input_tokens + query.usage.input_tokens


async def test_embeddings_that_fail_half_way_carry_what_was_paid(
    fake: FakeGemini, tmp_path: Path
) -> None:
    fake.fail(Fault.status(503), when=lambda request: "text 100" in request.text)
    async with gemini_at(fake.url, tmp_path) as gemini:
        with pytest.raises(VrError) as caught:
            await gemini.models.embed(
                "gemini-embedding-2", [f"text {n}" for n in range(150)], "document", None
            )
    assert caught.value.usage == in_tokens(fake.bill)


async def test_system_instruction_counts_as_tokens(fake: FakeGemini, tmp_path: Path) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini:
        without = await gemini.models.count_tokens(MODEL, ask("Hello."))
        within = await gemini.models.count_tokens(MODEL, ask("Hello.", system="Be brief. " * 9))
    assert within > without > 0


def test_every_preset_and_role_names_known_models(tmp_path: Path) -> None:
    for preset, choice in PRESETS.items():
        settings = ModelsSettings(preset=preset)
        gemini = GeminiService(lambda: settings, rows_of(), Log("error", "console"))  # noqa: B023
        assert gemini.models.model_for("deep") == choice.default
        assert gemini.models.model_for("fast") == choice.flash
        assert gemini.models.model_for("embedding") == choice.embedding
        assert {choice.default, choice.flash, choice.embedding} <= set(KNOWN)


def test_configured_models_come_before_the_preset(tmp_path: Path) -> None:
    settings = ModelsSettings(gemini_model="models/gemini-x", gemini_flash_model="gemini-y")
    gemini = GeminiService(lambda: settings, rows_of(), Log("error", "console"))
    assert gemini.models.model_for("vision") == "gemini-x"
    assert gemini.models.model_for("fast") == "gemini-y"


def test_import_loads_neither_the_sdk_nor_http() -> None:
    heavy = "[name for name in sys.modules if 'genai' in name or name == 'httpx2']"
    code = f"import sys, vr_kernel.gemini; print({heavy})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("1.5", 1.5),
        ("-3", None),
        ("9" * 20, 86_400.0),
        ("inf", None),
        ("nan", None),
        ("soon", None),
    ],
)
def test_when_to_come_back_is_a_number_that_json_has(header: str, seconds: float | None) -> None:
    from vr_kernel.gemini.errors import service_error

    assert service_error(429, {}, {"retry-after": header}).retry_after == seconds
