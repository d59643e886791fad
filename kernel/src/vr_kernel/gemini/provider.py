"""The kernel's protocol of language models, spoken by Gemini. One attempt a method."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import cached_property, partial
from importlib.resources import files
from typing import TYPE_CHECKING, TypeVar

from vr_kernel.config.model_settings import ModelsSettings
from vr_kernel.errors import VrError
from vr_kernel.gemini.catalogue import KNOWN, bare, presets, suggest
from vr_kernel.gemini.contexts import GONE, UNUSABLE, Contexts
from vr_kernel.gemini.embeddings import GeminiEmbedder
from vr_kernel.gemini.errors import is_gone, translated
from vr_kernel.gemini.generate_config import generate_config
from vr_kernel.gemini.parts import check_media
from vr_kernel.gemini.pool import Account, Pool
from vr_kernel.gemini.question import GeminiRequest, Prepared
from vr_kernel.gemini.replies import Reading
from vr_kernel.gemini.streams import read_stream
from vr_kernel.gemini.uploads import Uploads
from vr_kernel.generation import (
    Embeddings,
    Purpose,
    Reply,
    ReplyPiece,
    Request,
    Role,
    Text,
    Turn,
)
from vr_kernel.models.provider import ModelAccess, ModelInfo
from vr_kernel.spending.prices import Price, PriceTable

if TYPE_CHECKING:
    from vr_kernel.items.pictures import Picture

T = TypeVar("T")
GOOGLE = "https://generativelanguage.googleapis.com"
SHORTEST_TIMEOUT_S = 30.0
"""The service refuses a timeout below 10 s; the kernel's own deadline may be shorter."""
PAGE = 1000
"""The most models that one request lists."""


class GeminiModels:
    """Gemini as a `ModelProvider`."""

    name = "gemini"

    def __init__(
        self,
        settings: Callable[[], ModelsSettings],
        pool: Pool,
        uploads: Uploads,
        contexts: Contexts,
    ) -> None:
        self._settings = settings
        self._pool = pool
        self._uploads = uploads
        self._contexts = contexts
        self._embedder = GeminiEmbedder(pool, self._timeout_ms)

    def check(self) -> None:
        """Check that a key is configured.

        Raises:
            VrError: AUTH, naming GEMINI_API_KEY and where to get one.
        """
        self._pool.check()

    def model_for(self, role: Role) -> str | None:
        """The configured model, else the one of the preset."""
        return suggest(role, self._settings())

    def models_for(self, role: Role, model: str = "") -> Sequence[str]:
        """The model for a role, or one that is named, and the fallback that is configured."""
        settings = self._settings()
        after = bare(settings.gemini_fallback_model) if role != "embedding" else ""
        names = [model or suggest(role, settings), after]
        return [name for name in dict.fromkeys(names) if name]

    def access(self) -> ModelAccess:
        """The way to the service; another address is that of a proxy, so none is local."""
        settings = self._settings()
        address = settings.gemini_base_url or GOOGLE
        return ModelAccess(address, "GEMINI_API_KEY", bool(settings.gemini_api_keys))

    def presets(self, role: Role) -> dict[str, str]:
        """The model of each preset for a role."""
        return presets(role)

    def models(self) -> Sequence[ModelInfo]:
        """The models of the catalogue."""
        return [known.info for known in KNOWN.values()]

    def price(self, model: str) -> Price | None:
        """The price of a model, by the list that comes with this release."""
        return self._prices.of(bare(model))

    @property
    def prices_of(self) -> str:
        """The date of that list."""
        return self._prices.as_of

    async def list_models(self) -> list[str]:
        """The models that the service offers to the account of the key; costs nothing.

        Raises:
            VrError: like `generate`.
        """

        async def listed(account: Account) -> list[str]:
            with translated("", account.key):
                models = account.client.aio.models
                found = await models.list(config={"page_size": PAGE})
                return sorted([bare(model.name or "") async for model in found])

        return await self._pool.run("", listed)

    async def generate(self, model: str, request: Request) -> Reply:
        """The whole answer; see `ModelProvider.generate`."""
        reply, notes = await self._ask(bare(model), request, _generate)
        return reply.model_copy(update={"notes": notes})

    async def stream(self, model: str, request: Request) -> AsyncIterator[ReplyPiece]:
        """The answer in pieces; see `ModelProvider.stream`. Close it to end the request."""
        model = bare(model)
        reading = Reading(model)
        (text, texts), notes = await self._ask(model, request, partial(_begin_stream, reading))
        async with aclosing(texts):
            if text:
                yield ReplyPiece(text=text)
            async for text in texts:
                yield ReplyPiece(text=text)
        reply = reading.reply(streamed=True)
        yield ReplyPiece(reply=reply.model_copy(update={"notes": notes}))

    async def embed(
        self,
        model: str,
        items: Sequence[str | Picture],
        purpose: Purpose,
        dimension: int | None,
    ) -> Embeddings:
        """One vector an item, of unit length.

        Raises:
            VrError: like `generate`, with what was paid until then.
        """
        return await self._embedder.run(bare(model), items, purpose, dimension)

    async def count_tokens(self, model: str, request: Request) -> int:
        """Count the tokens of the request, its system instruction and tools as the user's words."""
        # The service counts neither of them.
        words = [request.system, *(json.dumps(tool.identity) for tool in request.tools)]
        spoken = [Turn("user", (Text(text),)) for text in words if text]
        whole = replace(request, turns=(*spoken, *request.turns), cached_content="")
        tokens, _ = await self._ask(bare(model), whole, _count_tokens)
        return tokens

    @cached_property
    def _prices(self) -> PriceTable:
        return PriceTable((files(__package__) / "prices.json").read_text("utf-8"))

    async def _ask(
        self, model: str, request: Request, send: Callable[[Prepared], Awaitable[T]]
    ) -> tuple[T, list[str]]:
        """Make one attempt, with the context cache if one fits; returns answer and notes."""
        check_media(model, request.turns)
        accounts = await self._pool.accounts()  # This loads the SDK, in a thread.
        config, notes = generate_config(model, request, self._timeout_ms())
        whole = GeminiRequest(model, request, config, send, self._uploads, tuple(notes))
        for question in await self._ways(whole, {account.hint for account in accounts}):
            only, prefer = await question.only_account(), await question.best_account()
            try:
                answer = await self._pool.run(model, question.put, only=only, prefer=prefer)
            except VrError as error:
                if question.cache is None or not is_gone(error):
                    raise
                await self._contexts.forget(question.cache.name)
            else:
                return answer, [*question.notes]
        raise AssertionError("a whole question is answered, or raises")

    async def _ways(
        self, whole: GeminiRequest[T], accounts: Collection[str]
    ) -> list[GeminiRequest[T]]:
        """The ways to send a request, in order: with its context cache if that fits, then whole."""
        if not whole.request.cached_content:
            return [whole]
        # The service takes no tools together with a context cache.
        usable = await self._contexts.usable(whole.request, whole.model)
        if usable is None or whole.request.tools or usable[0].account not in accounts:
            return [whole.with_note(UNUSABLE)]
        return [whole.from_cache(*usable), whole.with_note(GONE)]

    def _timeout_ms(self) -> int:
        return int(max(self._settings().deadline_s, SHORTEST_TIMEOUT_S) * 1000)


async def _generate(prepared: Prepared) -> Reply:
    reading = Reading(prepared.model)
    with translated(prepared.model, prepared.account.key):
        response = await prepared.account.client.aio.models.generate_content(
            model=prepared.model, contents=list(prepared.contents), config=prepared.config
        )
        reading.take(response)
    return reading.reply()


async def _begin_stream(reading: Reading, prepared: Prepared) -> tuple[str, AsyncGenerator[str]]:
    account, model = prepared.account, prepared.model
    with account.tracking.tracked() as arrived:
        with translated(model, account.key):
            responses = await account.client.aio.models.generate_content_stream(
                model=model, contents=list(prepared.contents), config=prepared.config
            )
        texts = read_stream(responses, arrived, reading, account.key)
        return await anext(texts, ""), texts


async def _count_tokens(prepared: Prepared) -> int:
    from google.genai import types

    with translated(prepared.model, prepared.account.key):
        counted = await prepared.account.client.aio.models.count_tokens(
            model=prepared.model,
            contents=list(prepared.contents),
            config=types.CountTokensConfig(http_options=prepared.config.http_options),
        )
        return counted.total_tokens or 0
