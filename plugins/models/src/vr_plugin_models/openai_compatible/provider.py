"""The kernel's protocol of language models, spoken to OpenAI-compatible services."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from vr_kernel import (
    Code,
    Embeddings,
    ModelInfo,
    Picture,
    Purpose,
    Reply,
    ReplyPiece,
    Request,
    VrError,
)

from vr_plugin_models.endpoint import Endpoint
from vr_plugin_models.openai_compatible.clients import Clients
from vr_plugin_models.openai_compatible.dialect import Dialect
from vr_plugin_models.openai_compatible.embeddings import embed
from vr_plugin_models.openai_compatible.messages import chat_body
from vr_plugin_models.openai_compatible.replies import Reading
from vr_plugin_models.outcomes import estimated
from vr_plugin_models.requests import said, tokens_of
from vr_plugin_models.sdk_errors import translated
from vr_plugin_models.service_models import ServiceModels

if TYPE_CHECKING:
    from openai import AsyncOpenAI

T = TypeVar("T")
_NEXT_ADDRESS = frozenset({Code.AUTH, Code.NOT_FOUND, Code.QUOTA})
"""Refusals of one address after which the next one is tried, such as of z.ai's coding plan."""


class OpenAIModels(ServiceModels):
    """An OpenAI-compatible service as a `ModelProvider`."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._clients = Clients(endpoint)
        self._dialects: dict[str, Dialect] = {}

    def adapted(self, info: ModelInfo) -> ModelInfo:
        """Take tools from the description of a model that has refused some."""
        dialect = self._dialects.get(info.name)
        return info if dialect is None or dialect.tools else replace(info, tools=False)

    async def list_models(self) -> list[str]:
        """The models that the service offers now.

        Raises:
            VrError: like `generate`.
        """
        with self.translated(""):
            client = await self._clients.at(self._clients.addresses[-1])
            listed = await client.models.list()
            return sorted(model.id for model in listed.data)

    def translated(self, model: str) -> AbstractContextManager[None]:
        """The errors of the SDK as the kernel's; see `ServiceModels`."""
        return translated(self.failures, model)

    async def generate(self, model: str, request: Request) -> Reply:
        """The whole answer; see `ModelProvider.generate`."""

        async def send(client: AsyncOpenAI, body: dict[str, Any]) -> Reply:
            reading = Reading(model)
            completion: Any = await client.chat.completions.create(**body)
            reading.take(completion.to_dict())
            return self._whole(reading, request)

        return await self._ask(model, request, send)

    async def stream(self, model: str, request: Request) -> AsyncIterator[ReplyPiece]:
        """The answer in pieces; see `ModelProvider.stream`. Close it to end the request."""

        async def send(client: AsyncOpenAI, body: dict[str, Any]) -> Any:
            completions: Any = client.chat.completions
            options = {"include_usage": True}
            return await completions.create(**body, stream=True, stream_options=options)

        chunks = await self._ask(model, request, send)
        reading = Reading(model)
        try:
            take = lambda chunk: reading.take(chunk.to_dict(), "delta")  # noqa: E731 - one line
            async for text in self.texts(chunks, reading, take, model):
                yield ReplyPiece(text=text)
        finally:
            await chunks.close()
        yield ReplyPiece(reply=self._whole(reading, request))

    async def embed(
        self,
        model: str,
        items: Sequence[str | Picture],
        purpose: Purpose,
        dimension: int | None,
    ) -> Embeddings:
        """One vector an item, of unit length; see `ModelProvider.embed`."""
        try:
            with self.translated(model):
                client = await self._clients.at(self._clients.addresses[-1])
                told = self.endpoint.row.takes_dimensions
                return await embed(client, model, items, purpose, dimension, takes_dimensions=told)
        except VrError as error:
            raise await self.completed(error, model) from None

    async def count_tokens(self, model: str, request: Request) -> int:  # noqa: ARG002 - the protocol's
        """Estimate the tokens of the request: such services do not count."""
        return tokens_of(request)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._clients.aclose()

    async def _ask(
        self,
        model: str,
        request: Request,
        send: Callable[[AsyncOpenAI, dict[str, Any]], Awaitable[T]],
    ) -> T:
        """Make one attempt, at the next address when one refuses the account."""
        self.require_room(model, tokens_of(request))
        dialect = self._dialects.setdefault(model, Dialect.of(self.endpoint.row))
        fields = partial(chat_body, model, request, dialect)
        addresses = self._clients.addresses
        for address in addresses:
            try:
                client = await self._clients.at(address)
                return await self.learning(model, dialect, fields, partial(send, client))
            except VrError as error:
                if address == addresses[-1] or error.code not in _NEXT_ADDRESS:
                    raise await self.completed(error, model) from None
        raise AssertionError("a service has an address")

    def _whole(self, reading: Reading, request: Request) -> Reply:
        reply = reading.reply()
        return reply if reading.usage is not None else estimated(said(request), reply)
