"""The kernel's protocol of language models, spoken to OpenAI-compatible services."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from vr_kernel import (
    Code,
    Embeddings,
    ModelAccess,
    ModelInfo,
    Picture,
    Price,
    Purpose,
    Reply,
    ReplyPiece,
    Request,
    Role,
    VrError,
)

from vr_plugin_models.endpoint import Endpoint
from vr_plugin_models.failures import Failures
from vr_plugin_models.openai_compatible.clients import Clients, translated
from vr_plugin_models.openai_compatible.dialect import Dialect
from vr_plugin_models.openai_compatible.embeddings import embed
from vr_plugin_models.openai_compatible.messages import chat_body, said, tokens_of
from vr_plugin_models.openai_compatible.replies import Reading
from vr_plugin_models.outcomes import estimated

if TYPE_CHECKING:
    from openai import AsyncOpenAI

T = TypeVar("T")
LESSONS = 6
"""Most refusals that one attempt learns from; none of them is paid for."""
_NEXT_ADDRESS = frozenset({Code.AUTH, Code.NOT_FOUND, Code.QUOTA})
"""Refusals of one address after which the next one is tried, such as of z.ai's coding plan."""


class OpenAIModels:
    """An OpenAI-compatible service as a `ModelProvider`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.name = endpoint.row.name
        self._endpoint = endpoint
        self._clients = Clients(endpoint)
        self._dialects: dict[str, Dialect] = {}

    def check(self) -> None:
        """Check that key and address are configured; see `Endpoint.check`."""
        self._endpoint.check()

    def access(self) -> ModelAccess:
        """The way to the service."""
        return self._endpoint.access()

    def model_for(self, role: Role) -> str | None:
        """The model for a role."""
        return self._endpoint.model_for(role)

    def models_for(self, role: Role, model: str = "") -> Sequence[str]:
        """The models for a role, or those after a model."""
        return self._endpoint.models_for(role, model)

    def presets(self, role: Role) -> dict[str, str]:
        """The presets that are models of this service."""
        return self._endpoint.presets(role)

    def models(self) -> Sequence[ModelInfo]:
        """The models that are known."""
        return [self._known(info) for info in self._endpoint.models()]

    def info(self, model: str) -> ModelInfo:
        """What is known of a model that `models` does not list."""
        return self._known(self._endpoint.info(model))

    def price(self, model: str) -> Price | None:
        """The price of a model."""
        return self._endpoint.price(model)

    async def list_models(self) -> list[str]:
        """The models that the service offers now.

        Raises:
            VrError: like `generate`.
        """
        with translated(self._failures(), ""):
            client = await self._clients.at(self._clients.addresses[-1])
            listed = await client.models.list()
            return sorted(model.id for model in listed.data)

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
            async for text in self._texts(chunks, reading):
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
        failures = self._failures()
        with translated(failures, model):
            client = await self._clients.at(self._clients.addresses[-1])
            return await embed(client, model, items, purpose, dimension)

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
        self._require_room(model, request)
        addresses = self._clients.addresses
        for address in addresses:
            try:
                client = await self._clients.at(address)
                return await self._learning(client, model, request, send)
            except VrError as error:
                if address == addresses[-1] or error.code not in _NEXT_ADDRESS:
                    raise await self._completed(error, model) from None
        raise AssertionError("a service has an address")

    async def _learning(
        self,
        client: AsyncOpenAI,
        model: str,
        request: Request,
        send: Callable[[AsyncOpenAI, dict[str, Any]], Awaitable[T]],
    ) -> T:
        """Send a request, again in another dialect while the service refuses the dialect."""
        dialect = self._dialects.setdefault(model, Dialect.of(self._endpoint.row))
        for lesson in range(LESSONS):
            body = await chat_body(model, request, dialect)
            try:
                with translated(self._failures(), model):
                    return await send(client, body)
            except VrError as error:
                refused = error.code is Code.INVALID_INPUT
                if not refused or lesson == LESSONS - 1 or not dialect.learn(error.message, body):
                    raise
        raise AssertionError("the last lesson raises")

    async def _texts(self, chunks: Any, reading: Reading) -> AsyncGenerator[str]:
        failures = self._failures()
        begun = False
        try:
            with translated(failures, self.name):
                async for chunk in chunks:
                    text = reading.take(chunk.to_dict(), "delta")
                    begun = True
                    if text:
                        yield text
        except VrError as error:
            if begun and error.code is Code.UNAVAILABLE:
                raise failures.truncated(reading.text) from None
            raise
        if not reading.is_finished:
            raise failures.truncated(reading.text)

    def _whole(self, reading: Reading, request: Request) -> Reply:
        reply = reading.reply()
        return reply if reading.usage is not None else estimated(said(request), reply)

    async def _completed(self, error: VrError, model: str) -> VrError:
        """The error, with the models that the service offers when it does not know this one."""
        if error.code is not Code.NOT_FOUND:
            return error
        try:
            offered = await self.list_models()
        except VrError:
            return error
        return self._failures().unknown_model(error, model, offered)

    def _require_room(self, model: str, request: Request) -> None:
        """Refuse a request that is larger than the model's window, before it is paid for.

        Raises:
            VrError: TOO_LARGE, category CONTEXT_EXCEEDED.
        """
        window, tokens = self.info(model).context, tokens_of(request)
        if window and tokens > window:
            raise VrError(
                f"The request has about {tokens:,} tokens; {self.name}/{model} takes {window:,}.",
                Code.TOO_LARGE,
                category="CONTEXT_EXCEEDED",
                hint="Send less at once, or name a model with a larger window in [models].",
            )

    def _known(self, info: ModelInfo) -> ModelInfo:
        dialect = self._dialects.get(info.name)
        return info if dialect is None or dialect.tools else replace(info, tools=False)

    def _failures(self) -> Failures:
        endpoint, row = self._endpoint, self._endpoint.row
        return Failures(
            row.title,
            variable=row.variable,
            key_page=row.key_page,
            address=endpoint.address,
            key=endpoint.key,
            local=row.local,
        )
