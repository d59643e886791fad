"""Context caches: made, found again, renewed, refused, gone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from gemini_service import MODEL, ask, folders, gemini_at, video
from vr_kernel import VrError
from vr_kernel.generation import Media, Request, Text, ToolSpec, Turn
from vr_testing import FakeGemini, Fault
from waiting import until


@pytest.fixture
def fake() -> Iterator[FakeGemini]:
    with FakeGemini() as service:
        service.own_files_only = True
        yield service


def made(fake: FakeGemini) -> int:
    return len(fake.requests_of("cachedContents.create"))


async def test_cache_is_made_once_and_holds_the_beginning_of_requests(
    fake: FakeGemini, tmp_path: Path
) -> None:
    async with (
        gemini_at(fake.url, tmp_path, gemini_api_keys=["a", "b"]) as gemini,
        video(tmp_path) as media,
    ):
        names = await asyncio.gather(
            *(gemini.cached_content(MODEL, media, system="S") for _ in range(3))
        )
        assert len(set(names)) == 1
        name = names[0]
        assert name
        for _ in range(2):
            reply = await gemini.models.generate(
                MODEL, ask(media, "What is it?", system="S", cached_content=name)
            )
            assert (reply.notes, reply.usage.cached_tokens > 0) == ([], True)
    async with (
        gemini_at(fake.url, tmp_path, gemini_api_keys=["a", "b"]) as again,
        video(tmp_path) as media,
    ):
        assert await again.cached_content(MODEL, media, system="S") == name
    assert made(fake) == 1
    (making,) = fake.requests_of("cachedContents.create")
    for sent in fake.requests_of("generateContent"):
        assert (sent.system, sent.media, sent.text) == ("", [], "What is it?")
        assert sent.cached_content == name.removeprefix("cachedContents/")
        assert sent.api_key == making.api_key


async def test_cache_is_made_once_by_two_programs(fake: FakeGemini, tmp_path: Path) -> None:
    slow = Fault.slow(0.001)
    fake.fail(slow, when=lambda request: request.action == "cachedContents.create", times=None)
    async with (
        gemini_at(fake.url, tmp_path) as one,
        gemini_at(fake.url, tmp_path) as two,
        video(tmp_path, 3_000_000) as media,
    ):
        names = await asyncio.gather(*(it.cached_content(MODEL, media) for it in (one, two)))
        assert names[0] == names[1] is not None
        assert await two.clear_context_caches() == 1
    assert made(fake) == 1


async def test_cache_that_another_program_could_not_make_is_made(
    fake: FakeGemini, tmp_path: Path
) -> None:
    fake.fail(Fault.hang(), when=lambda request: request.action == "cachedContents.create")
    async with (
        gemini_at(fake.url, tmp_path) as one,
        gemini_at(fake.url, tmp_path) as two,
        video(tmp_path, 3_000_000) as media,
    ):
        first = asyncio.create_task(one.cached_content(MODEL, media))
        await asyncio.to_thread(fake.wait, lambda: made(fake) == 1)
        second = asyncio.create_task(two.cached_content(MODEL, media))
        first.cancel()
        assert await second
    assert made(fake) == 2


async def test_conversation_builds_on_the_cache_of_its_first_turn(
    fake: FakeGemini, tmp_path: Path
) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        name = await gemini.cached_content(MODEL, media)
        turns = (
            Turn("user", (media, Text("One?"))),
            Turn("model", (Text("One."),)),
            Turn("user", (Text("Two?"),)),
        )
        reply = await gemini.models.generate(MODEL, Request(turns, cached_content=name or ""))
    assert reply.usage.cached_tokens
    assert fake.requests_of("generateContent")[0].text == "One?\nOne.\nTwo?"


@pytest.mark.parametrize(
    "change",
    [{"system": "Other"}, {"search": True}, {"cached_content": "cachedContents/unknown"}],
    ids=str,
)
async def test_request_that_a_cache_does_not_fit_is_sent_whole(
    fake: FakeGemini, tmp_path: Path, change: dict[str, object]
) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        name = await gemini.cached_content(MODEL, media, system="S")
        request = ask(media, "What is it?", system="S", cached_content=name)
        reply = await gemini.models.generate(MODEL, replace(request, **change))
    (sent,) = fake.requests_of("generateContent")
    assert (len(sent.media), sent.cached_content, len(reply.notes)) == (1, "", 1)


async def test_cache_of_a_key_that_is_gone_is_not_used(fake: FakeGemini, tmp_path: Path) -> None:
    async with (
        gemini_at(fake.url, tmp_path, gemini_api_keys=["a"]) as gemini,
        video(tmp_path) as media,
    ):
        name = await gemini.cached_content(MODEL, media)
    async with (
        gemini_at(fake.url, tmp_path, gemini_api_keys=["b"]) as gemini,
        video(tmp_path) as media,
    ):
        reply = await gemini.models.generate(MODEL, ask(media, "What?", cached_content=name))
        assert await gemini.cached_content(MODEL, media) != name
    assert len(reply.notes) == 1


async def test_another_part_of_the_content_is_another_cache(
    fake: FakeGemini, tmp_path: Path
) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        whole = await gemini.cached_content(MODEL, media)
        part = await gemini.cached_content(MODEL, replace(media, start=10.0))
        reply = await gemini.models.generate(
            MODEL, ask(replace(media, start=10.0), "What?", cached_content=whole)
        )
    assert whole != part
    assert len(reply.notes) == 1


async def test_tools_go_without_a_cache(fake: FakeGemini, tmp_path: Path) -> None:
    tools = (ToolSpec("look", "Looks.", {"type": "object"}),)
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        name = await gemini.cached_content(MODEL, media)
        request = ask(media, "What is it?", cached_content=name, tools=tools)
        reply = await gemini.models.generate(MODEL, request)
    assert len(reply.notes) == 1
    assert not fake.requests_of("generateContent")[0].cached_content


@pytest.mark.parametrize("expired", [True, False])
async def test_cache_that_is_gone_costs_no_answer(
    fake: FakeGemini, tmp_path: Path, expired: bool
) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        name = await gemini.cached_content(MODEL, media)
        if expired:
            fake.expire_caches()
        else:
            fake.fail(Fault.cache_gone())
        request = ask(media, "What is it?", cached_content=name)
        first = await gemini.models.generate(MODEL, request)
        pieces = [piece async for piece in gemini.models.stream(MODEL, request)]
        assert await gemini.cached_content(MODEL, media) != name
    assert (bool(first.text), len(first.notes)) == (True, 1)
    assert pieces[-1].reply is not None
    asked = fake.requests_of("generateContent", "streamGenerateContent")
    assert [bool(sent.cached_content) for sent in asked] == [True, False, False]


async def test_refusal_is_remembered_for_a_day(fake: FakeGemini, tmp_path: Path) -> None:
    fake.min_cache_tokens = 10**9
    for _ in range(2):
        async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
            assert await gemini.cached_content(MODEL, media) is None
            assert await gemini.cached_content(MODEL, media) is None
    assert made(fake) == 1


async def test_trouble_of_the_moment_is_not_a_refusal(fake: FakeGemini, tmp_path: Path) -> None:
    fake.fail(Fault.status(503), when=lambda request: request.action == "cachedContents.create")
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        assert await gemini.cached_content(MODEL, media) is None
        assert await gemini.cached_content(MODEL, media)


async def test_youtube_is_never_offered(fake: FakeGemini, tmp_path: Path) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini:
        assert await gemini.cached_content(MODEL, Media.youtube("dQw4w9WgXcQ")) is None
    assert fake.requests == []


async def test_uploaded_file_is_cached_by_its_address(fake: FakeGemini, tmp_path: Path) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        there = Media("video/mp4", uri=await gemini.upload(media))
        name = await gemini.cached_content(MODEL, there)
        reply = await gemini.models.generate(MODEL, ask(there, "What?", cached_content=name))
        assert [cache.content_id for cache in await gemini.context_caches()] == [there.uri]
    assert reply.usage.cached_tokens


async def test_refresh_prolongs_a_live_cache_and_forgets_a_dead_one(
    fake: FakeGemini, tmp_path: Path
) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        name = await gemini.cached_content(MODEL, media) or ""
    async with gemini_at(fake.url, tmp_path, context_cache_ttl_s=7200) as gemini:
        (before,) = await gemini.context_caches()
        assert await gemini.refresh(name)
        (after,) = await gemini.context_caches()
        assert after.expires_at - before.expires_at == pytest.approx(3600, abs=60)
        fake.expire_caches()
        assert not await gemini.refresh(name)
        assert await gemini.context_caches() == []
    assert fake.requests_of("cachedContents.patch")[0].body == {"ttl": "7200s"}


async def test_prewarm_works_in_the_background_with_a_file_of_its_own(
    fake: FakeGemini, tmp_path: Path
) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini:
        async with video(tmp_path) as media:
            gemini.prewarm(MODEL, media)
            gemini.prewarm(MODEL, media)
        (cache,) = await until(gemini.context_caches)
        async with video(tmp_path) as media:
            assert await gemini.cached_content(MODEL, media) == cache.name
    assert made(fake) == 1


async def test_closing_ends_what_is_prewarmed(fake: FakeGemini, tmp_path: Path) -> None:
    fake.fail(Fault.hang(), when=lambda request: request.action == "cachedContents.create")
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        gemini.prewarm(MODEL, media)
        await asyncio.to_thread(fake.wait, lambda: made(fake) == 1)
    await asyncio.to_thread(fake.wait, lambda: fake.cancelled == 1)


async def test_caches_are_cleared_by_content_and_all_together(
    fake: FakeGemini, tmp_path: Path
) -> None:
    async with (
        gemini_at(fake.url, tmp_path) as gemini,
        video(tmp_path) as one,
        video(tmp_path, 30_000_000, "b.mp4") as two,
    ):
        for media in (one, two):
            await gemini.cached_content(MODEL, media)
        await gemini.cached_content(MODEL, two, system="S")
        assert await gemini.clear_context_caches(one.digest) == 1
        assert {cache.content_id for cache in await gemini.context_caches()} == {two.digest}
        assert await gemini.clear_context_caches() == 2
        assert await gemini.context_caches() == []
    assert len(fake.requests_of("cachedContents.delete")) == 3


async def test_caches_are_cleared_at_the_end_when_that_is_wanted(
    fake: FakeGemini, tmp_path: Path
) -> None:
    async with (
        gemini_at(fake.url, tmp_path, clear_context_caches=True) as gemini,
        video(tmp_path) as media,
    ):
        assert await gemini.cached_content(MODEL, media)
    assert len(fake.requests_of("cachedContents.delete")) == 1


async def test_closing_what_was_never_used_opens_nothing(tmp_path: Path) -> None:
    async with gemini_at("http://127.0.0.1:9", tmp_path, clear_context_caches=True):
        pass
    assert not folders(tmp_path).state.exists()


async def test_wrong_kind_of_media_is_not_cached(fake: FakeGemini, tmp_path: Path) -> None:
    async with gemini_at(fake.url, tmp_path) as gemini, video(tmp_path) as media:
        archive = replace(media, mime="application/zip")
        assert await gemini.cached_content(MODEL, archive) is None
        with pytest.raises(VrError):
            await gemini.models.generate(MODEL, ask(archive, "What?"))
    assert fake.requests == []
