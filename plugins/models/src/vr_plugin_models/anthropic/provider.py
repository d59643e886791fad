"""The kernel's protocol of language models, spoken to Anthropic."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
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
    require_extra,
)

from vr_plugin_models.anthropic.dialect import ClaudeDialect
from vr_plugin_models.anthropic.messages import message_body
from vr_plugin_models.anthropic.replies import ClaudeReading
from vr_plugin_models.catalogue.known_models import output_limit
from vr_plugin_models.endpoint import Endpoint
from vr_plugin_models.outcomes import estimated
from vr_plugin_models.requests import said, tokens_of
from vr_plugin_models.sdk_errors import translated
from vr_plugin_models.sdk_headers import withheld
from vr_plugin_models.service_models import ServiceModels

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

T = TypeVar("T")
CONNECT_S = 15.0
_COUNTED = ("model", "messages", "system", "tools")
"""Fields of a request that the count of its tokens takes."""


class AnthropicModels(ServiceModels):
    """Anthropic, or a service that speaks its protocol, as a `ModelProvider`."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._dialects: dict[str, ClaudeDialect] = {}
        self._made: AsyncAnthropic | None = None

    def adapted(self, info: ModelInfo) -> ModelInfo:
        """Add PDF to what a model reads that sees pictures."""
        sees = "image" in info.accepts
        return replace(info, accepts=info.accepts | {"pdf"}) if sees else info

    async def list_models(self) -> list[str]:
        """The models that the service offers now; see `ServiceModels`."""
        client = await self._client()
        with self.translated(""):
            listed = await client.models.list(limit=1000)
            return sorted(model.id for model in listed.data)

    def translated(self, model: str) -> AbstractContextManager[None]:
        """The errors of the SDK as the kernel's; see `ServiceModels`."""
        return translated(self.failures, model, "anthropic")

    async def generate(self, model: str, request: Request) -> Reply:
        """The whole answer; see `ModelProvider.generate`."""

        async def send(client: AsyncAnthropic, body: dict[str, Any]) -> Reply:
            reading = ClaudeReading(model)
            message = await client.messages.create(**_arguments(body))
            reading.take_whole(message.to_dict())
            return _whole(reading, request)

        return await self._ask(model, request, send)

    async def stream(self, model: str, request: Request) -> AsyncIterator[ReplyPiece]:
        """The answer in pieces; see `ModelProvider.stream`. Close it to end the request."""

        async def send(client: AsyncAnthropic, body: dict[str, Any]) -> Any:
            return await client.messages.create(**_arguments(body), stream=True)

        events = await self._ask(model, request, send)
        reading = ClaudeReading(model)
        try:
            take = lambda event: reading.take(event.to_dict())  # noqa: E731 - one line
            async for text in self.texts(events, reading, take, model):
                yield ReplyPiece(text=text)
        finally:
            await events.close()
        yield ReplyPiece(reply=_whole(reading, request))

    async def embed(
        self,
        model: str,
        items: Sequence[str | Picture],  # noqa: ARG002 - the protocol's
        purpose: Purpose,  # noqa: ARG002
        dimension: int | None,  # noqa: ARG002
    ) -> Embeddings:
        """Refuse: there are no such models here.

        Raises:
            VrError: UNSUPPORTED.
        """
        raise VrError(
            f"{self.name}/{model} does not make vectors.",
            Code.UNSUPPORTED,
            category="EMBEDDINGS_UNSUPPORTED",
            hint="Name another provider's model: [models] embedding = ['provider/model'].",
        )

    async def count_tokens(self, model: str, request: Request) -> int:
        """Count the tokens of the request, as the service counts them."""

        async def send(client: AsyncAnthropic, body: dict[str, Any]) -> int:
            counted = {name: body[name] for name in _COUNTED if name in body}
            return (await client.messages.count_tokens(**counted)).input_tokens

        return await self._ask(model, request, send)

    async def aclose(self) -> None:
        """Close every connection."""
        made, self._made = self._made, None
        if made is not None:
            await made.close()

    async def _ask(
        self,
        model: str,
        request: Request,
        send: Callable[[AsyncAnthropic, dict[str, Any]], Awaitable[T]],
    ) -> T:
        """Make one attempt, again in another dialect while the service refuses the dialect."""
        self.require_room(model, tokens_of(request))
        client = await self._client()
        thinks = "thinking" if self.info(model).thinking else "none"
        dialect = self._dialects.setdefault(
            model, ClaudeDialect(thinking="adaptive" if thinks == "thinking" else "none")
        )
        limit = output_limit(self.name, model)
        fields = partial(message_body, model, request, dialect, limit)
        try:
            return await self.learning(model, dialect, fields, partial(send, client))
        except VrError as error:
            raise await self.completed(error, model) from None

    async def _client(self) -> AsyncAnthropic:
        if self._made is None:
            sdk = await asyncio.to_thread(
                require_extra,
                "anthropic",
                "The library for Anthropic is not installed.",
                'pip install "video-research[anthropic]"',
            )
            self._made = self._made or self._make(sdk)  # others may have waited as well
        made: AsyncAnthropic = self._made
        return made

    def _make(self, sdk: Any) -> AsyncAnthropic:
        key, headers = self.endpoint.key, {}
        if self.name != "anthropic" or self.endpoint.address != self.endpoint.row.address:
            own = {"Authorization": f"Bearer {key}"}
            headers = withheld("ANTHROPIC_CUSTOM_HEADERS", own, sdk.Omit())
        made: AsyncAnthropic = sdk.AsyncAnthropic(
            api_key=key,
            default_headers=headers,
            base_url=self.endpoint.address,
            max_retries=0,  # the kernel retries
            http_client=sdk.DefaultAsyncHttpxClient(
                timeout=sdk.Timeout(None, connect=CONNECT_S),  # the kernel has the deadline
                **self.endpoint.http_options,
            ),
        )
        return made


def _arguments(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body as arguments of the SDK, which has none for a temperature any more."""
    fields = dict(body)
    if "temperature" in fields:
        fields["extra_body"] = {"temperature": fields.pop("temperature")}
    return fields


def _whole(reading: ClaudeReading, request: Request) -> Reply:
    reply = reading.reply()
    return reply if reading.has_usage else estimated(said(request), reply)
