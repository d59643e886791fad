"""The fake Gemini, driven by the real client library: everything that works."""

from __future__ import annotations

import asyncio
import io
import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import AsyncIterator

import httpx2  # noqa: TID253 - the client that is served
import pytest
from gemini_sdk import sdk_client
from google import genai  # noqa: TID253 - as above
from google.genai import errors, types  # noqa: TID253 - as above
from pydantic import BaseModel
from vr_kernel.generation import Usage
from vr_testing import Answer, FakeGemini, RecordedRequest

MODEL = "gemini-x"


class Film(BaseModel):
    title: str
    year: int
    tags: list[str]


@pytest.fixture
async def client(gemini: FakeGemini) -> AsyncIterator[genai.client.AsyncClient]:
    async with sdk_client(gemini.url, "good") as made:
        yield made


def upload(client: genai.client.AsyncClient, content: bytes = b"film" * 100):
    return client.files.upload(
        file=io.BytesIO(content), config={"mime_type": "video/mp4", "display_name": "a film"}
    )


async def test_text(gemini: FakeGemini, client: genai.client.AsyncClient) -> None:
    gemini.answer("Four.", when=lambda request: "2 + 2" in request.text)
    config = types.GenerateContentConfig(
        system_instruction="Be brief.",
        thinking_config=types.ThinkingConfig(thinking_level=types.ThinkingLevel.LOW),
    )
    reply = await client.models.generate_content(model=MODEL, contents="2 + 2?", config=config)
    assert reply.text == "Four."
    assert reply.candidates[0].finish_reason is types.FinishReason.STOP
    (request,) = gemini.requests
    assert (request.method, request.action) == ("POST", "generateContent")
    assert request.path == "/v1beta/models/gemini-x:generateContent"
    assert (request.model, request.text, request.api_key) == (MODEL, "2 + 2?", "good")
    assert (request.system, request.thinking_level) == ("Be brief.", "LOW")
    assert request.size > 0


@pytest.mark.parametrize("version", ["v1", "v1beta"])
def test_synchronous_client_and_either_version(gemini: FakeGemini, version: str) -> None:
    gemini.answer("Yes.")
    options = types.HttpOptions(base_url=gemini.url, api_version=version)
    with genai.Client(api_key="k", http_options=options) as client:
        assert client.models.generate_content(model=MODEL, contents="?").text == "Yes."
        pieces = client.models.generate_content_stream(model=MODEL, contents="?")
        assert "".join(piece.text or "" for piece in pieces) == "Yes."
        file = client.files.upload(file=io.BytesIO(b"x"), config={"mime_type": "text/plain"})
        assert client.files.get(name=file.name).state is types.FileState.ACTIVE
    assert {request.version for request in gemini.requests} == {version}


async def test_unscripted_structured_answer_fits_the_schema(
    gemini: FakeGemini, client: genai.client.AsyncClient
) -> None:
    for schema in ({"response_schema": Film}, {"response_json_schema": Film.model_json_schema()}):
        reply = await client.models.generate_content(
            model=MODEL,
            contents="A film?",
            config={"response_mime_type": "application/json", **schema},
        )
        assert Film.model_validate_json(reply.text).tags
    assert all(set(r.schema["properties"]) == {"title", "year", "tags"} for r in gemini.requests)


async def test_answers_are_taken_in_order_and_used_up(
    gemini: FakeGemini, client: genai.client.AsyncClient
) -> None:
    async def ask() -> str:
        return (await client.models.generate_content(model=MODEL, contents="Go on.")).text

    gemini.answer("first", times=1)
    gemini.answer({"n": 2}, times=1)
    gemini.answer(lambda request: Answer(request.text.upper()), times=1)
    gemini.answer("then always")
    assert [await ask() for _ in range(5)] == [
        "first",
        '{"n": 2}',
        "GO ON.",
        "then always",
        "then always",
    ]


async def test_search_and_addresses_are_named_as_sources(
    gemini: FakeGemini, client: genai.client.AsyncClient
) -> None:
    tools = [types.Tool(google_search=types.GoogleSearch()), types.Tool(url_context={})]
    reply = await client.models.generate_content(
        model=MODEL, contents="Read https://example.com/a and search.", config={"tools": tools}
    )
    candidate = reply.candidates[0]
    assert candidate.grounding_metadata.grounding_chunks[0].web.uri.startswith("https://")
    assert candidate.url_context_metadata.url_metadata[0].retrieved_url == "https://example.com/a"
    gemini.answer(Answer("Found.", sources=(("A page", "https://a.example/"),)))
    reply = await client.models.generate_content(model=MODEL, contents="?", config={"tools": tools})
    (chunk,) = reply.candidates[0].grounding_metadata.grounding_chunks
    assert (chunk.web.title, chunk.web.uri) == ("A page", "https://a.example/")


async def test_limit_cuts_the_answer(gemini: FakeGemini, client: genai.client.AsyncClient) -> None:
    gemini.answer("x" * 100)
    reply = await client.models.generate_content(
        model=MODEL, contents="?", config={"max_output_tokens": 5}
    )
    assert reply.text == "x" * 20
    assert reply.candidates[0].finish_reason is types.FinishReason.MAX_TOKENS
    assert gemini.bill.output_tokens == 5


async def test_tokens_are_counted_as_they_are_billed(
    gemini: FakeGemini, client: genai.client.AsyncClient
) -> None:
    clip = types.Part(
        file_data=types.FileData(file_uri="https://www.youtube.com/watch?v=x"),
        video_metadata=types.VideoMetadata(start_offset="10s", end_offset="20s", fps=2),
    )
    picture = types.Part.from_bytes(data=b"pixels", mime_type="image/png")
    contents = types.Content(role="user", parts=[clip, picture, types.Part(text="What?")])
    counted = await client.models.count_tokens(model=MODEL, contents=contents)
    assert counted.total_tokens == 10 * 2 * 258 + 258 + 2
    assert gemini.bill == Usage()
    await client.models.generate_content(model=MODEL, contents=contents)
    assert gemini.bill.input_tokens == counted.total_tokens
    assert [len(request.media) for request in gemini.requests] == [2, 2]


async def test_low_resolution_costs_less(
    gemini: FakeGemini, client: genai.client.AsyncClient
) -> None:
    part = types.Part(
        file_data=types.FileData(file_uri="https://youtu.be/x"),
        media_resolution=types.PartMediaResolution(level="MEDIA_RESOLUTION_LOW"),
    )
    counted = await client.models.count_tokens(model=MODEL, contents=[part])
    assert counted.total_tokens == 60 * 66


async def test_embeddings(gemini: FakeGemini, client: genai.client.AsyncClient) -> None:
    said = ["a cat on a mat", "on a mat a cat", "the moon at night"]
    contents = [types.Content(parts=[types.Part(text=text)]) for text in said]

    async def embed() -> list[list[float]]:
        found = await client.models.embed_content(
            model="gemini-embedding-001", contents=contents, config={"output_dimensionality": 64}
        )
        return [embedding.values for embedding in found.embeddings]

    vectors = await embed()
    assert [len(vector) for vector in vectors] == [64] * 3
    assert all(abs(sum(v * v for v in vector) - 1) < 1e-6 for vector in vectors)
    cat, same_words, moon = vectors
    assert cat != same_words
    assert _dot(cat, same_words) > 0.9
    assert _dot(cat, moon) < 0.5
    assert await embed() == vectors
    found = await client.models.embed_content(model="gemini-embedding-001", contents="one")
    assert len(found.embeddings[0].values) == gemini.dimension
    assert gemini.bill.calls == 3


def _dot(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


async def test_file_is_uploaded_processed_used_and_deleted(
    gemini: FakeGemini, client: genai.client.AsyncClient
) -> None:
    gemini.file_polls = 2
    file = await upload(client, b"x" * 20_000_000)
    assert (file.state, file.size_bytes) == (types.FileState.PROCESSING, 20_000_000)
    assert (file.mime_type, file.display_name) == ("video/mp4", "a film")
    assert (file.expiration_time - file.create_time).total_seconds() == 48 * 3600
    assert len(gemini.requests_of("files.upload")) == 3
    with pytest.raises(errors.ClientError, match="not in an ACTIVE state"):
        await client.models.generate_content(model=MODEL, contents=[file, "What?"])
    states = [(await client.files.get(name=file.name)).state.value for _ in range(3)]
    assert states == ["PROCESSING", "PROCESSING", "ACTIVE"]
    await client.models.generate_content(model=MODEL, contents=[file, "What?"])
    assert gemini.requests[-1].file_ids == [file.name.removeprefix("files/")]
    assert gemini.bill.input_tokens == 160 * 258 + 2
    assert [each.name async for each in await client.files.list()] == [file.name]
    await client.files.delete(name=file.name)
    with pytest.raises(errors.ClientError, match="do not have permission to access the File"):
        await client.files.get(name=file.name)


async def test_processing_can_fail(gemini: FakeGemini, client: genai.client.AsyncClient) -> None:
    gemini.processing_fails = True
    file = await upload(client)
    assert (await client.files.get(name=file.name)).state is types.FileState.FAILED


async def test_upload_is_resumed_where_it_broke_off(gemini: FakeGemini) -> None:
    start = {
        "X-Goog-Upload-Protocol": "resumable",
        "X-Goog-Upload-Command": "start",
        "X-Goog-Upload-Header-Content-Type": "audio/wav",
    }
    async with httpx2.AsyncClient() as http:
        begun = await http.post(f"{gemini.url}/upload/v1beta/files", headers=start, json={})
        url = begun.headers["x-goog-upload-url"]

        async def send(command: str, offset: int, data: bytes) -> httpx2.Response:
            headers = {"X-Goog-Upload-Command": command, "X-Goog-Upload-Offset": str(offset)}
            return await http.post(url, headers=headers, content=data)

        first = await send("upload", 0, b"abc")
        assert first.headers["x-goog-upload-status"] == "active"
        wrong = await send("upload, finalize", 5, b"def")
        assert wrong.status_code == 400
        asked = await send("query", 0, b"")
        assert asked.headers["x-goog-upload-size-received"] == "3"
        done = await send("upload, finalize", 3, b"def")
        assert done.headers["x-goog-upload-status"] == "final"
        shown = done.json()["file"]
        assert (shown["sizeBytes"], shown["mimeType"]) == ("6", "audio/wav")


async def test_upload_in_chunks_of_unknown_length(gemini: FakeGemini) -> None:
    async def data() -> AsyncIterator[bytes]:
        yield b"abc"
        yield b"defg"

    start = {"X-Goog-Upload-Command": "start"}
    async with httpx2.AsyncClient() as http:
        begun = await http.post(f"{gemini.url}/upload/v1beta/files", headers=start, json={})
        done = await http.post(
            begun.headers["x-goog-upload-url"],
            headers={"X-Goog-Upload-Command": "upload, finalize", "X-Goog-Upload-Offset": "0"},
            content=data(),
        )
    assert done.json()["file"]["sizeBytes"] == "7"


async def test_files_and_caches_expire(
    gemini: FakeGemini, client: genai.client.AsyncClient
) -> None:
    file = await upload(client)
    cache = await client.caches.create(model=MODEL, config={"contents": [file]})
    gemini.expire_files()
    with pytest.raises(errors.ClientError) as file_gone:
        await client.models.generate_content(model=MODEL, contents=[file])
    name = file.name.removeprefix("files/")
    assert file_gone.value.code == 403
    assert file_gone.value.message == (
        f"You do not have permission to access the File {name} or it may not exist."
    )
    gemini.expire_caches()
    with pytest.raises(errors.ClientError, match="CachedContent not found") as cache_gone:
        await client.models.generate_content(
            model=MODEL, contents="?", config={"cached_content": cache.name}
        )
    assert cache_gone.value.code == 403
    made = cache.usage_metadata.total_token_count
    assert gemini.bill == Usage(calls=1, input_tokens=made), "only the cache was made"


async def test_cache_is_made_used_prolonged_and_deleted(
    gemini: FakeGemini, client: genai.client.AsyncClient
) -> None:
    config = types.CreateCachedContentConfig(
        contents=[types.Content(role="user", parts=[types.Part(text="x" * 4000)])],
        system_instruction="y" * 40,
        ttl="60s",
        display_name="long",
    )
    cache = await client.caches.create(model=MODEL, config=config)
    assert cache.usage_metadata.total_token_count == 1010
    reply = await client.models.generate_content(
        model=MODEL, contents="What?", config={"cached_content": cache.name}
    )
    assert reply.usage_metadata.cached_content_token_count == 1010
    assert reply.usage_metadata.prompt_token_count == 1012
    assert gemini.bill.cached_tokens == 1010
    longer = await client.caches.update(name=cache.name, config={"ttl": "600s"})
    assert longer.expire_time > cache.expire_time
    listed = [each.name async for each in await client.caches.list()]
    assert listed == [cache.name]
    with pytest.raises(errors.ClientError, match="setting system_instruction"):
        await client.models.generate_content(
            model=MODEL,
            contents="?",
            config={"cached_content": cache.name, "system_instruction": "Be brief."},
        )
    with pytest.raises(errors.ClientError, match="has to be the same"):
        await client.models.generate_content(
            model="another", contents="?", config={"cached_content": cache.name}
        )
    await client.caches.delete(name=cache.name)
    with pytest.raises(errors.ClientError, match="CachedContent not found"):
        await client.caches.get(name=cache.name)


async def test_small_cache_is_refused(gemini: FakeGemini, client: genai.client.AsyncClient) -> None:
    gemini.min_cache_tokens = 1024
    with pytest.raises(errors.ClientError) as caught:
        await client.caches.create(model=MODEL, config={"contents": "x" * 400})
    assert caught.value.message == (
        "Cached content is too small. total_token_count=100, min_total_token_count=1024"
    )


async def test_interaction_runs_in_the_background(
    gemini: FakeGemini, client: genai.client.AsyncClient
) -> None:
    report = Answer("A report.", thought="plan", sources=(("A page", "https://a.example/"),))
    gemini.answer(report, when=lambda request: "cats" in request.text)
    gemini.background_polls = 2
    begun = await client.interactions.create(
        agent="deep-research", input="About cats.", background=True
    )
    assert begun.status == "in_progress"
    found = [await client.interactions.get(begun.id) for _ in range(3)]
    assert [each.status for each in found] == ["in_progress", "in_progress", "completed"]
    assert found[-1].output_text == "A report."
    assert found[-1].steps[-1].content[0].annotations[0].url == "https://a.example/"
    assert found[-1].usage.total_output_tokens == gemini.bill.output_tokens == 3
    at_once = await client.interactions.create(model=MODEL, input="Cats?")
    assert (at_once.status, at_once.output_text) == ("completed", "A fake answer to: Cats?")
    assert [request.model for request in gemini.requests_of("interactions.create")] == [
        "deep-research",
        MODEL,
    ]


async def test_sixty_requests_at_once_and_those_who_hang_up(
    gemini: FakeGemini, client: genai.client.AsyncClient
) -> None:
    with gemini.hold():
        asking = [
            asyncio.create_task(client.models.generate_content(model=MODEL, contents=f"{number}?"))
            for number in range(60)
        ]
        await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == 60)
        for task in asking[:20]:
            task.cancel()
        await asyncio.to_thread(gemini.wait, lambda: gemini.cancelled == 20)
        assert gemini.bill.calls == 0
    answered = await asyncio.gather(*asking[20:])
    assert len({reply.text for reply in answered}) == 40
    assert (gemini.peak_in_flight, gemini.in_flight) == (60, 0)
    assert gemini.bill.calls == 40
    gemini.forget()
    assert (gemini.requests, gemini.cancelled, gemini.peak_in_flight) == ([], 0, 0)


async def test_latency_is_waited_for_and_may_be_changed(
    gemini: FakeGemini, client: genai.client.AsyncClient
) -> None:
    gemini.latency = 600
    asking = asyncio.create_task(client.models.generate_content(model=MODEL, contents="?"))
    await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == 1)
    asking.cancel()
    await asyncio.to_thread(gemini.wait, lambda: gemini.cancelled == 1)
    gemini.latency = 0.05
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await client.models.generate_content(model=MODEL, contents="?")
    assert loop.time() - begun >= 0.05


async def test_keys_models_and_foreign_files(
    gemini: FakeGemini, client: genai.client.AsyncClient
) -> None:
    gemini.own_files_only = True
    file = await upload(client)
    gemini.keys = {"good", "other"}
    gemini.models = {MODEL}
    await client.models.generate_content(model=MODEL, contents=[file])
    with pytest.raises(errors.ClientError, match="is not found for API version v1beta"):
        await client.models.generate_content(model="gone", contents="?")
    options = types.HttpOptions(base_url=gemini.url, api_version="v1beta")
    with (
        genai.Client(api_key="other", http_options=options) as other,
        pytest.raises(errors.ClientError, match="do not have permission to access the File"),
    ):
        other.models.generate_content(model=MODEL, contents=[file])
    with (
        genai.Client(api_key="bad", http_options=options) as bad,
        pytest.raises(errors.ClientError) as caught,
    ):
        bad.models.generate_content(model=MODEL, contents="?")
    assert caught.value.code == 400
    assert caught.value.message == "API key not valid. Please pass a valid API key."
    assert caught.value.details["error"]["details"][0]["reason"] == "API_KEY_INVALID"


def test_failing_script_fails_the_test() -> None:
    def broken(request: RecordedRequest) -> str:
        raise AssertionError(f"unexpected: {request.text}")

    def use() -> None:
        with FakeGemini() as gemini:
            gemini.answer(broken)
            with pytest.raises(urllib.error.HTTPError, match="500") as refused:
                _ask(gemini.url)
            refused.value.close()

    with pytest.raises(AssertionError, match="unexpected: hello"):
        use()


def test_other_processes_reach_it_and_nothing_is_left_behind() -> None:
    before = set(threading.enumerate())
    program = (
        "import sys, urllib.request, json;"
        "body = json.dumps({'contents': [{'parts': [{'text': 'hello'}]}]}).encode();"
        "print(urllib.request.urlopen(sys.argv[1], body).read().decode())"
    )
    with FakeGemini() as gemini:
        url = f"{gemini.url}/v1beta/models/m:generateContent"
        done = subprocess.run([sys.executable, "-c", program, url], capture_output=True, check=True)
        assert "A fake answer to: hello" in done.stdout.decode()
        assert gemini.requests[0].text == "hello"
    assert set(threading.enumerate()) - before == set()


def test_closing_twice_or_before_the_start_does_no_harm() -> None:
    gemini = FakeGemini()
    gemini.close()
    gemini.close()
    with FakeGemini() as gemini:
        gemini.close()
    assert len({gemini, FakeGemini}) == 2


def test_module_serves_by_hand() -> None:
    command = [sys.executable, "-m", "vr_testing.gemini"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            url = process.stdout.readline().strip().partition("=")[2]
            assert "hello" in json.dumps(_ask(url))
        finally:
            process.terminate()


def _ask(url: str):
    body = json.dumps({"contents": [{"parts": [{"text": "hello"}]}]}).encode()
    with urllib.request.urlopen(f"{url}/v1beta/models/m:generateContent", body) as reply:
        return json.loads(reply.read())
