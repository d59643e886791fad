"""The contract of model providers notices providers that do not keep it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr
from vr_kernel import VrError
from vr_kernel.config.model_settings import ModelsSettings
from vr_kernel.gemini.service import GeminiService
from vr_kernel.generation import Reply, ReplyPiece, Request
from vr_kernel.log import Log
from vr_kernel.models.provider import ModelInfo, ModelProvider
from vr_kernel.state import Place, Rows
from vr_testing import FakeGemini, GeminiWire, MemoryState, ModelProviderContract, ModelWire
from vr_testing.contracts.model import SECRET


class Spoilt:
    """Gemini's provider with something wrong about it."""

    def __init__(self, provider: ModelProvider) -> None:
        self.provider = provider

    def models(self) -> Sequence[ModelInfo]:
        return self.provider.models()

    async def generate(self, model: str, request: Request) -> Reply:
        return await self.provider.generate(model, request)

    async def stream(self, model: str, request: Request) -> AsyncIterator[ReplyPiece]:
        async for piece in self.provider.stream(model, request):
            yield piece


class Retrying(Spoilt):
    async def generate(self, model: str, request: Request) -> Reply:
        try:
            return await self.provider.generate(model, request)
        except VrError:
            return await self.provider.generate(model, request)


class Telltale(Spoilt):
    async def generate(self, model: str, request: Request) -> Reply:
        try:
            return await self.provider.generate(model, request)
        except VrError as error:
            error.hint = f"The request was sent with {SECRET}."
            raise


class Careless(Spoilt):
    async def stream(self, model: str, request: Request) -> AsyncIterator[ReplyPiece]:
        said = ""
        try:
            async for piece in self.provider.stream(model, request):
                said += piece.text
                yield piece
        except VrError:
            yield ReplyPiece(reply=Reply(text=said, model=model))


class Free(Spoilt):
    async def generate(self, model: str, request: Request) -> Reply:
        reply = await self.provider.generate(model, request)
        return Reply(text=reply.text, model=reply.model)


class Forgetful(Spoilt):
    async def generate(self, model: str, request: Request) -> Reply:
        reply = await self.provider.generate(model, request)
        return reply.model_copy(update={"state": {"parts": [{"call": True}] * len(reply.calls)}})


class Deaf(Spoilt):
    async def stream(self, model: str, request: Request) -> AsyncIterator[ReplyPiece]:
        async for piece in self.provider.stream(model, request):
            heard = piece.reply and piece.reply.model_copy(update={"calls": []})
            yield piece.model_copy(update={"reply": heard})


class Toolless(Spoilt):
    async def generate(self, model: str, request: Request) -> Reply:
        return await self.provider.generate(model, replace(request, tools=()))


async def kept() -> Rows:
    return MemoryState().rows.of(Place("gemini"))


def contract(spoil: Callable[[ModelProvider], Spoilt]) -> ModelProviderContract:
    class Contract(ModelProviderContract):
        model = "gemini-3.8-flash"

        @asynccontextmanager
        async def opened(self) -> AsyncIterator[tuple[Spoilt, ModelWire]]:
            with FakeGemini() as fake:
                settings = ModelsSettings(
                    gemini_api_keys=[SecretStr(SECRET)], gemini_base_url=fake.url
                )
                gemini = GeminiService(lambda: settings, kept, Log("error", "json"))
                try:
                    yield spoil(gemini.models), GeminiWire(fake)
                finally:
                    await gemini.aclose()

    return Contract()


BROKEN: Sequence[tuple[type[Spoilt], str, tuple[Any, ...]]] = [
    (Retrying, "test_failure_of_a_request", ("overloaded",)),
    (Telltale, "test_failure_of_a_request", ("bad_request",)),
    (Careless, "test_failure_of_a_stream", ("stream_closed",)),
    (Free, "test_usage_is_what_the_service_bills", ()),
    (Toolless, "test_declared_tools_reach_the_wire", ()),
    (Deaf, "test_calls_come_back_beside_the_words", (True,)),
    (Forgetful, "test_conversation_with_several_calls_goes_on", (False, ("a", "b"))),
]


@pytest.mark.parametrize(("kind", "test", "trouble"), BROKEN)
async def test_broken_provider_fails(
    kind: type[Spoilt], test: str, trouble: tuple[Any, ...]
) -> None:
    with pytest.raises((AssertionError, VrError)):
        await getattr(contract(kind), test)(*trouble)


@pytest.mark.parametrize(("test", "trouble"), [broken[1:] for broken in BROKEN])
async def test_sound_provider_passes_the_same(test: str, trouble: tuple[Any, ...]) -> None:
    await getattr(contract(Spoilt), test)(*trouble)


async def test_trouble_that_a_protocol_does_not_know_passes() -> None:
    class Limited(GeminiWire):
        troubles = frozenset()

    limiting = contract(Retrying)
    opened = limiting.opened

    @asynccontextmanager
    async def limited() -> AsyncIterator[tuple[ModelProvider, ModelWire]]:
        async with opened() as (provider, wire):
            yield provider, Limited(wire._gemini)

    limiting.opened = limited
    await limiting.test_failure_of_a_request("overloaded")
