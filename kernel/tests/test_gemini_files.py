"""Files at the service: uploaded once, resumed, expired, refused; and what remembers them."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from gemini_service import LARGE, MODEL, ask, folders, gemini_at, video
from vr_kernel import Code, VrError
from vr_kernel.gemini.resumable import CHUNK
from vr_kernel.generation import Media
from vr_testing import FakeGemini, Fault


@pytest.fixture
def fake() -> Iterator[FakeGemini]:
    with FakeGemini() as service:
        service.own_files_only = True
        yield service


def uploads(fake: FakeGemini) -> int:
    return len(fake.requests_of("files.create"))


def stored_digest(fake: FakeGemini, address: str, key: str) -> str:
    """SHA-256 of what the service has, which it shows as base64 of the hexadecimal."""
    there = f"{fake.url}/v1beta/files/{address.rsplit('/', 1)[1]}"
    with urlopen(Request(there, headers={"x-goog-api-key": key})) as response:
        return base64.b64decode(json.load(response)["sha256Hash"]).decode()


async def test_equal_content_goes_up_once_also_at_the_same_time(
    fake: FakeGemini, tmp_path: Path
) -> None:
    fake.file_polls = 1
    async with (
        gemini_at(fake.url, tmp_path) as gemini,
        video(tmp_path) as one,
        video(tmp_path, name="b.mp4") as two,
    ):
        addresses = await asyncio.gather(*(gemini.upload(media) for media in (one, two, one)))
        await gemini.models.generate(MODEL, ask(two, "What is it?"))
    assert len(set(addresses)) == 1
    assert uploads(fake) == 1
    assert fake.requests_of("generateContent")[0].file_ids == [addresses[0].rsplit("/", 1)[1]]
    assert fake.requests_of("files.upload")[0].api_key == "", "the address is the secret"


async def test_upload_that_one_caller_gives_up_goes_on_for_the_other(
    fake: FakeGemini, tmp_path: Path
) -> None:
    fake.file_polls = 1
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        with (tmp_path / "a.mp4").open("rb") as file:
            first = asyncio.create_task(gemini.upload(replace(media, file=file)))
            second = asyncio.create_task(gemini.upload(media))
            await asyncio.to_thread(fake.wait, lambda: uploads(fake) == 1)
            first.cancel()
            await asyncio.wait({first})
        assert await second
    assert uploads(fake) == 1


async def test_content_arrives_whole(fake: FakeGemini, tmp_path: Path) -> None:
    path = tmp_path / "noise.mp4"
    path.write_bytes(random.Random(7).randbytes(CHUNK + 1_000_000))
    async with gemini_at(fake.url, tmp_path) as gemini:
        with path.open("rb") as file:
            file.seek(7)
            address = await gemini.upload(Media("video/mp4", file=file))
            assert file.tell() == 7
    assert stored_digest(fake, address, "one") == hashlib.sha256(path.read_bytes()).hexdigest()


async def test_registry_survives_a_restart(fake: FakeGemini, tmp_path: Path) -> None:
    async with video(tmp_path) as media:
        for _ in range(2):
            async with gemini_at(fake.url, tmp_path) as gemini:
                await gemini.upload(media)
    assert uploads(fake) == 1


async def test_damaged_registry_heals(fake: FakeGemini, tmp_path: Path) -> None:
    folders(tmp_path).state.mkdir()
    (folders(tmp_path).rows).write_bytes(b"no database" * 1000)
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        assert await gemini.upload(media) == await gemini.upload(media)
    assert uploads(fake) == 1


async def test_registry_that_cannot_be_written_costs_only_reuse(
    fake: FakeGemini, tmp_path: Path
) -> None:
    folders(tmp_path).state.write_text("no folder")
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        assert (await gemini.models.generate(MODEL, ask(media, "What is it?"))).text


async def test_expired_file_goes_up_again_in_the_same_attempt(
    fake: FakeGemini, tmp_path: Path
) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        await gemini.models.generate(MODEL, ask(media, "One?"))
        fake.expire_files()
        assert (await gemini.models.generate(MODEL, ask(media, "Two?"))).text
        assert [p async for p in gemini.models.stream(MODEL, ask(media, "Three?"))][-1].reply
    assert uploads(fake) == 2


async def test_file_that_is_refused_again_is_an_error_after_one_more_try(
    fake: FakeGemini, tmp_path: Path
) -> None:
    fake.fail(Fault.file_forbidden(), times=None)
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        with pytest.raises(VrError):
            await gemini.models.generate(MODEL, ask(media, "What is it?"))
    assert len(fake.requests_of("generateContent")) == 2


async def test_address_of_a_file_that_is_gone_says_so(fake: FakeGemini, tmp_path: Path) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        there = Media("video/mp4", uri=await gemini.upload(media))
        fake.expire_files()
        with pytest.raises(VrError) as caught:
            await gemini.models.generate(MODEL, ask(there, "What is it?"))
        assert caught.value.category == "FILE_NOT_FOUND"
        assert await gemini.upload(media) != there.uri


async def test_key_that_expired_says_nothing_of_the_file(fake: FakeGemini, tmp_path: Path) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        there = Media("video/mp4", uri=await gemini.upload(media))
        name = await gemini.cached_content(MODEL, media)
        fake.fail(Fault.status(400, "API key expired. Please renew the API key."), times=None)
        for question in (ask(there, "What?"), ask(media, "What?", cached_content=name)):
            with pytest.raises(VrError) as caught:
                await gemini.models.generate(MODEL, question)
            assert caught.value.code is Code.AUTH
        fake.heal()
        assert await gemini.upload(media) == there.uri
        assert await gemini.cached_content(MODEL, media) == name
    assert uploads(fake) == 1


async def test_request_with_a_file_uses_the_key_that_uploaded_it(
    fake: FakeGemini, tmp_path: Path
) -> None:
    async with (
        gemini_at(fake.url, tmp_path, gemini_api_keys=["a", "b"]) as gemini,
        video(tmp_path) as media,
    ):
        address = await gemini.upload(media)
        for part in (media, Media("video/mp4", uri=address), media):
            await gemini.models.generate(MODEL, ask(part, "What is it?"))
    assert uploads(fake) == 1
    assert len({request.api_key for request in fake.requests_of("generateContent")}) == 1


async def test_files_that_are_uploaded_apart_can_be_asked_about_together(
    fake: FakeGemini, tmp_path: Path
) -> None:
    async with (
        gemini_at(fake.url, tmp_path, gemini_api_keys=["a", "b"]) as gemini,
        video(tmp_path) as one,
        video(tmp_path, 30_000_000, "b.mp4") as two,
    ):
        there = [Media("video/mp4", uri=await gemini.upload(media)) for media in (one, two)]
        assert (await gemini.models.generate(MODEL, ask(*there, "Compare."))).text


async def test_throttled_key_hands_a_file_over_to_another(fake: FakeGemini, tmp_path: Path) -> None:
    fake.fail(
        Fault.throttled(60),
        when=lambda request: request.action == "generateContent" and request.api_key == "a",
    )
    async with (
        gemini_at(fake.url, tmp_path, gemini_api_keys=["a", "b"]) as gemini,
        video(tmp_path) as media,
    ):
        assert (await gemini.models.generate(MODEL, ask(media, "What is it?"))).text
    assert [request.api_key for request in fake.requests_of("files.create")] == ["a", "b"]


async def test_file_that_cannot_be_read_is_unsupported(fake: FakeGemini, tmp_path: Path) -> None:
    fake.processing_fails = True
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        with pytest.raises(VrError) as caught:
            await gemini.models.generate(MODEL, ask(media, "What is it?"))
        assert caught.value.code is Code.UNSUPPORTED
        fake.processing_fails = False
        assert await gemini.upload(media)


async def test_file_that_is_not_ready_in_time_is_only_waited_for_the_next_time(
    fake: FakeGemini, tmp_path: Path
) -> None:
    fake.file_polls = 3
    async with (
        gemini_at(fake.url, tmp_path, upload_deadline_s=0.25) as gemini,
        video(tmp_path) as media,
    ):
        with pytest.raises(VrError) as caught:
            await gemini.upload(media)
        assert (caught.value.category, caught.value.retryable) == ("UPLOAD_NOT_READY", True)
    reports: list[str] = []
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        await gemini.upload(media, lambda _done, _total, words: reports.append(words))
    assert uploads(fake) == 1


@pytest.mark.parametrize("fault", [Fault.reset(), Fault.lost(), Fault.status(503)])
async def test_upload_that_is_cut_goes_on_where_it_was(
    fake: FakeGemini, tmp_path: Path, fault: Fault
) -> None:
    fake.fail(fault, when=lambda request: request.action == "files.upload", times=2)
    done: list[float] = []
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        address = await gemini.upload(
            media, lambda sent, total, _words: done.append(sent if total else 0)
        )
    assert uploads(fake) == 1
    assert len(fake.requests_of("files.query")) == 2
    assert max(done) == LARGE
    assert stored_digest(fake, address, "one") == hashlib.sha256(bytes(LARGE)).hexdigest()


async def test_cut_upload_asks_until_it_knows_how_much_arrived(
    fake: FakeGemini, tmp_path: Path
) -> None:
    fake.fail(Fault.reset(), when=lambda request: request.action == "files.upload")
    fake.fail(Fault.status(503), when=lambda request: request.action == "files.query")
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        address = await gemini.upload(media)
    assert len(fake.requests_of("files.query")) == 2
    assert stored_digest(fake, address, "one") == media.digest


async def test_empty_file_goes_up(fake: FakeGemini, tmp_path: Path) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path, 0) as media:
        address = await gemini.upload(media)
    assert stored_digest(fake, address, "one") == media.digest


@pytest.mark.slow
async def test_upload_that_never_gets_on_is_given_up(fake: FakeGemini, tmp_path: Path) -> None:
    fake.fail(Fault.status(503), when=lambda request: request.action == "files.upload", times=None)
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        with pytest.raises(VrError) as caught:
            await gemini.upload(media)
    assert (caught.value.code, caught.value.retryable) == (Code.UNAVAILABLE, True)


async def test_file_above_the_limit_is_refused_before_it_is_sent(
    fake: FakeGemini, tmp_path: Path
) -> None:
    path = tmp_path / "huge.mp4"
    with path.open("wb") as made:
        made.truncate(2 * 1024**3 + 1)
    async with gemini_at(fake.url, tmp_path) as gemini:
        with path.open("rb") as file, pytest.raises(VrError) as caught:
            await gemini.upload(Media("video/mp4", file=file, digest="known"))
    assert caught.value.category == "FILE_TOO_LARGE"
    assert fake.requests == []
