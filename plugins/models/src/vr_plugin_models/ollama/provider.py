"""The kernel's protocol of language models, spoken to Ollama."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from vr_kernel import (
    Code,
    Embeddings,
    ModelInfo,
    Picture,
    Purpose,
    Reply,
    ReplyPiece,
    Request,
    Usage,
    VrError,
    estimate_tokens,
    texts_of,
)

from vr_plugin_models.catalogue.embedding_models import prefix_of
from vr_plugin_models.endpoint import Endpoint
from vr_plugin_models.ollama.context import context_for, require_uncut
from vr_plugin_models.ollama.errors import translated
from vr_plugin_models.ollama.messages import chat_fields
from vr_plugin_models.ollama.replies import OllamaReading
from vr_plugin_models.outcomes import count_of, estimated
from vr_plugin_models.requests import said, tokens_of
from vr_plugin_models.service_models import ServiceModels
from vr_plugin_models.vectors import units

if TYPE_CHECKING:
    from ollama import AsyncClient

LONGEST_WINDOW = 10**8
"""Tokens; what a server says beyond it is no window."""
_ABLE = {"vision": "image"}


class OllamaModels(ServiceModels):
    """An Ollama server as a `ModelProvider`."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._shown: dict[str, ModelInfo] = {}
        self._made: Any = None

    def adapted(self, info: ModelInfo) -> ModelInfo:
        """The description by the server, once it was asked."""
        return self._shown.get(info.name, info)

    async def look(self, model: str) -> None:
        """Ask the server what a model can do; see `ModelProvider`.

        Raises:
            VrError: as `generate`.
        """
        await self._known(await self._client(), model)

    async def list_models(self) -> list[str]:
        """The models that were pulled; see `ServiceModels`."""
        client = await self._client()
        with self.translated(""):
            return sorted(str(each.model) for each in (await client.list()).models)

    def translated(self, model: str) -> AbstractContextManager[None]:
        """The errors of the library as the kernel's; see `ServiceModels`."""
        return translated(self.failures, model)

    async def completed(self, error: VrError, model: str) -> VrError:
        """The error; of a model that is not there, with those that are, and the way to get it."""
        if error.code is not Code.NOT_FOUND:
            return error
        error = await super().completed(error, model)
        error.hint = f"Get it: ollama pull {model}. {error.hint}"
        return error

    async def generate(self, model: str, request: Request) -> Reply:
        """The whole answer; see `ModelProvider.generate`."""
        client, fields = await self._prepared(model, request)
        reading = OllamaReading(model)
        try:
            with self.translated(model):
                reading.take(await client.chat(**fields))
        except VrError as error:
            raise await self.completed(error, model) from None
        return self._whole(reading, model, request)

    async def stream(self, model: str, request: Request) -> AsyncIterator[ReplyPiece]:
        """The answer in pieces; see `ModelProvider.stream`. Close it to end the request."""
        client, fields = await self._prepared(model, request)
        lines: Any = await client.chat(**fields, stream=True)
        reading = OllamaReading(model)
        try:
            async for text in self.texts(lines, reading, reading.take, model):
                yield ReplyPiece(text=text)
        except VrError as error:
            raise await self.completed(error, model) from None
        finally:
            await lines.aclose()
        yield ReplyPiece(reply=self._whole(reading, model, request))

    async def embed(
        self,
        model: str,
        items: Sequence[str | Picture],
        purpose: Purpose,
        dimension: int | None,
    ) -> Embeddings:
        """One vector an item, of unit length; a text that is too long is refused, and not cut."""
        prefix = prefix_of(model, purpose)
        texts = [f"{prefix}{text}" for text in texts_of(model, items)]
        client = await self._client()
        try:
            with self.translated(model):
                made = await client.embed(
                    model=model, input=texts, truncate=False, dimensions=dimension
                )
                vectors = units(made.embeddings, len(texts), dimension)
        except VrError as error:
            raise await self.completed(error, model) from None
        tokens = count_of(made.prompt_eval_count) or sum(map(estimate_tokens, texts))
        return Embeddings(
            vectors=vectors,
            model=made.model or model,
            usage=Usage(calls=1, input_tokens=tokens),
        )

    async def count_tokens(self, model: str, request: Request) -> int:  # noqa: ARG002 - the protocol's
        """Estimate the tokens of the request: the server does not count before it answers."""
        return tokens_of(request)

    async def aclose(self) -> None:
        """Close every connection."""
        made, self._made = self._made, None
        if made is not None:
            await made.close()

    async def _prepared(self, model: str, request: Request) -> tuple[AsyncClient, dict[str, Any]]:
        """The client, and the arguments of a chat with room for the whole request."""
        client = await self._client()
        known = await self._known(client, model)
        tokens = tokens_of(request)
        self.require_room(model, tokens)
        context = context_for(tokens, request.max_output_tokens, known.context)
        fields = await chat_fields(model, request, context=context, thinks=bool(known.thinking))
        if keep_alive := self.endpoint.setting("keep_alive"):
            fields["keep_alive"] = keep_alive
        return client, fields

    async def _known(self, client: AsyncClient, model: str) -> ModelInfo:
        """The description of a model by the server; asked once."""
        if model not in self._shown:
            try:
                with self.translated(model):
                    shown = await client.show(model)
            except VrError as error:
                raise await self.completed(error, model) from None
            self._shown[model] = _read(self.endpoint.info(model), shown)
        return self._shown[model]

    def _whole(self, reading: OllamaReading, model: str, request: Request) -> Reply:
        if not reading.has_usage:
            return estimated(said(request), reading.reply())
        # A schema limits what may be said; it is no part of what the model reads.
        expected = estimate_tokens(said(replace(request, schema=None)))
        require_uncut(model, reading.usage.input_tokens, expected, reading.usage)
        return reading.reply()

    async def _client(self) -> AsyncClient:
        if self._made is None:
            library = await asyncio.to_thread(import_module, "ollama")
            self._made = self._made or self._make(library)  # others may have waited as well
        made: AsyncClient = self._made
        return made

    def _make(self, library: Any) -> AsyncClient:
        key = self.endpoint.key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        made: AsyncClient = library.AsyncClient(
            host=self.endpoint.address,
            headers=headers,
            timeout=None,
            **self.endpoint.http_options,
        )
        return made


def _read(info: ModelInfo, shown: Any) -> ModelInfo:
    """The model as the server describes it; servers before 0.6.4 do not say what it can do."""
    able = set(shown.capabilities or ())
    sizes = [
        int(value)
        for name, value in (shown.modelinfo or {}).items()
        if name.endswith(".context_length") and type(value) is int and 0 < value <= LONGEST_WINDOW
    ]
    info = replace(info, context=max(sizes, default=info.context))
    if not able:
        return info
    return replace(
        info,
        accepts=frozenset({"text", *(_ABLE[name] for name in able & _ABLE.keys())}),
        thinking=("low", "medium", "high") if "thinking" in able else (),
        tools="tools" in able,
        embeds="embedding" in able,
    )
