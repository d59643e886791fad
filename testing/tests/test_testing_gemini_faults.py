"""The fake Gemini, driven by the real client library: everything that goes wrong."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Iterator

import httpx2  # noqa: TID253 - the client that is served
import pytest
from gemini_sdk import sdk_client
from google import genai  # noqa: TID253 - as above
from google.genai import errors, types  # noqa: TID253 - as above
from vr_kernel.generation import Usage
from vr_testing import FakeGemini, Fault

MODEL = "gemini-x"
SAID = "The quick brown fox jumps over the lazy dog, again and again."


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as gemini:
        gemini.answer(SAID)
        yield gemini


@pytest.fixture
async def client(gemini: FakeGemini) -> AsyncIterator[genai.client.AsyncClient]:
    async with sdk_client(gemini.url) as made:
        yield made


async def ask(client: genai.client.AsyncClient, **config) -> types.GenerateContentResponse:
    return await client.models.generate_content(model=MODEL, contents="Go on.", config=config)


async def ask_in_stream(client: genai.client.AsyncClient) -> list[types.GenerateContentResponse]:
    stream = await client.models.generate_content_stream(model=MODEL, contents="Go on.")
    return [piece async for piece in stream]


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (400, "INVALID_ARGUMENT"),
        (401, "UNAUTHENTICATED"),
        (403, "PERMISSION_DENIED"),
        (404, "NOT_FOUND"),
        (429, "RESOURCE_EXHAUSTED"),
        (500, "INTERNAL"),
        (503, "UNAVAILABLE"),
    ],
)
async def test_status(
    gemini: FakeGemini, client: genai.client.AsyncClient, code: int, status: str
) -> None:
    gemini.fail(Fault.status(code), times=2)
    for call in (ask, ask_in_stream):
        with pytest.raises(errors.APIError) as caught:
            await call(client)
        assert (caught.value.code, caught.value.status) == (code, status)
        assert caught.value.details["error"]["message"] == caught.value.message != ""
    assert gemini.bill == Usage()
    assert (await ask(client)).text == SAID


async def test_own_words_of_a_status(gemini: FakeGemini, client: genai.client.AsyncClient) -> None:
    gemini.fail(Fault.status(400, "Unsupported MIME type: application/zip"))
    with pytest.raises(errors.ClientError, match="Unsupported MIME type"):
        await ask(client)


async def test_reset_costs_nothing_and_a_lost_answer_is_paid(
    gemini: FakeGemini, client: genai.client.AsyncClient
) -> None:
    gemini.fail(Fault.reset())
    with pytest.raises(httpx2.TransportError):
        await ask(client)
    assert gemini.bill.calls == 0
    gemini.fail(Fault.lost())
    with pytest.raises(httpx2.TransportError):
        await ask(client)
    assert gemini.bill.calls == 1
    assert gemini.cancelled == 0
    assert (await ask(client)).text == SAID


async def test_hang_ends_when_the_client_gives_up(
    gemini: FakeGemini, client: genai.client.AsyncClient
) -> None:
    gemini.fail(Fault.hang())
    with pytest.raises(httpx2.ReadTimeout):
        await ask(client, http_options=types.HttpOptions(timeout=100))
    await asyncio.to_thread(gemini.wait, lambda: gemini.cancelled == 1)
    assert gemini.bill == Usage()


async def test_hang_ends_when_the_service_closes() -> None:
    async with httpx2.AsyncClient(timeout=30) as http:
        with FakeGemini() as gemini:
            gemini.fail(Fault.hang())
            asking = asyncio.create_task(http.post(f"{gemini.url}/v1/models/m:generateContent"))
            await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == 1)
        with pytest.raises(httpx2.TransportError):
            await asking
        assert gemini.cancelled == 0


async def test_slow_answer_arrives_whole(
    gemini: FakeGemini, client: genai.client.AsyncClient
) -> None:
    gemini.fail(Fault.slow(0), times=2)
    assert (await ask(client)).text == SAID
    assert "".join(piece.text or "" for piece in await ask_in_stream(client)) == SAID


async def test_text_that_is_no_json_or_nothing(
    gemini: FakeGemini, client: genai.client.AsyncClient
) -> None:
    gemini.fail(Fault.invalid_json())
    reply = await ask(client, response_mime_type="application/json")
    assert (reply.text, reply.candidates[0].finish_reason.value) == (SAID[:30], "STOP")
    gemini.fail(Fault.empty())
    reply = await ask(client)
    assert not reply.text
    assert reply.candidates[0].finish_reason is types.FinishReason.STOP


async def test_faults_of_files_caches_and_thinking_meet_only_their_requests(
    gemini: FakeGemini, client: genai.client.AsyncClient
) -> None:
    file = await client.files.upload(file=io.BytesIO(b"x"), config={"mime_type": "image/png"})
    cache = await client.caches.create(model=MODEL, config={"contents": "x" * 40})
    for fault in (
        Fault.file_forbidden(),
        Fault.cache_gone(),
        Fault.cache_refused(),
        Fault.thinking_refused(),
    ):
        gemini.fail(fault)
    assert (await ask(client)).text == SAID
    with pytest.raises(errors.ClientError, match=r"access the File fake00000001 or it may not"):
        await client.models.generate_content(model=MODEL, contents=[file])
    with pytest.raises(errors.ClientError, match="CachedContent not found"):
        await ask(client, cached_content=cache.name)
    with pytest.raises(errors.ClientError, match="total_token_count=100, min_total_token_count"):
        await client.caches.create(model=MODEL, config={"contents": "x" * 40})
    with pytest.raises(errors.ClientError, match="Thinking level HIGH is not supported"):
        await ask(client, thinking_config={"thinking_level": "HIGH"})
    await client.models.generate_content(model=MODEL, contents=[file])


async def test_reset_upload_has_lost_its_second_half(gemini: FakeGemini) -> None:
    async with httpx2.AsyncClient(timeout=30) as http:
        begun = await http.post(
            f"{gemini.url}/upload/v1beta/files",
            headers={"X-Goog-Upload-Command": "start"},
            json={},
        )
        url = begun.headers["x-goog-upload-url"]
        gemini.fail(Fault.reset(), when=lambda request: request.action == "files.upload")
        headers = {"X-Goog-Upload-Command": "upload, finalize", "X-Goog-Upload-Offset": "0"}
        with pytest.raises(httpx2.TransportError):
            await http.post(url, headers=headers, content=b"x" * 1000)
        asked = await http.post(url, headers={"X-Goog-Upload-Command": "query"})
        assert asked.headers["x-goog-upload-status"] == "active"
        assert asked.headers["x-goog-upload-size-received"] == "500"
        rest = {**headers, "X-Goog-Upload-Offset": "500"}
        done = await http.post(url, headers=rest, content=b"x" * 500)
        assert done.json()["file"]["sizeBytes"] == "1000"


async def test_refused_upload_leaves_the_connection_in_order(
    gemini: FakeGemini, client: genai.client.AsyncClient
) -> None:
    gemini.fail(Fault.status(503), when=lambda request: request.action == "files.create")
    with pytest.raises(errors.ServerError):
        await client.files.upload(file=io.BytesIO(b"x"), config={"mime_type": "image/png"})
    assert (await ask(client)).text == SAID


async def test_chance_is_seeded_and_faults_meet_what_they_are_meant_for() -> None:
    async def codes(seed: int) -> list[int]:
        with FakeGemini(seed=seed) as gemini:
            gemini.fail(Fault.status(503), rate=0.3)
            url = f"{gemini.url}/v1beta/models/m:generateContent"
            async with httpx2.AsyncClient() as http:
                return [(await http.post(url, json={})).status_code for _ in range(40)]

    first, again, other = await codes(1), await codes(1), await codes(2)
    assert first == again != other
    assert 3 <= first.count(503) <= 25


async def test_always_until_healed(gemini: FakeGemini, client: genai.client.AsyncClient) -> None:
    gemini.fail(Fault.status(500), times=None)
    for _ in range(3):
        with pytest.raises(errors.ServerError):
            await ask(client)
    gemini.heal()
    assert (await ask(client)).text == "A fake answer to: Go on."


async def test_down_breaks_off_and_refuses_until_it_is_up(
    gemini: FakeGemini, client: genai.client.AsyncClient
) -> None:
    with gemini.hold():
        asking = asyncio.create_task(ask(client))
        await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == 1)
        gemini.down = True
        with pytest.raises(httpx2.TransportError):
            await asking
    with pytest.raises(httpx2.TransportError):
        await ask(client)
    assert (len(gemini.requests), gemini.cancelled) == (1, 0)
    gemini.down = False
    assert (await ask(client)).text == SAID


def test_condition_that_never_holds_is_told(gemini: FakeGemini) -> None:
    with pytest.raises(TimeoutError):
        gemini.wait(lambda: gemini.in_flight == 1, timeout=0.01)
