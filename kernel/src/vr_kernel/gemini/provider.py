"""The kernel's protocol of language models, spoken by Gemini. One attempt a method."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from vr_kernel.config.settings import ModelsSettings
from vr_kernel.errors import Code, VrError
from vr_kernel.gemini.catalogue import KNOWN, bare, suggest
from vr_kernel.gemini.contexts import GONE, UNUSABLE, Contexts
from vr_kernel.gemini.embeddings import Embedder
from vr_kernel.gemini.errors import FORBIDDEN, ServiceError, is_gone, translated
from vr_kernel.gemini.generate_config import conditions
from vr_kernel.gemini.parts import Plan, check_media, contents, media_of, plan
from vr_kernel.gemini.pool import Account, Pool
from vr_kernel.gemini.replies import Reading
from vr_kernel.gemini.streams import read_stream
from vr_kernel.gemini.uploads import Uploads
from vr_kernel.generation import (
    EmbeddingPurpose,
    Embeddings,
    Media,
    ModelInfo,
    Reply,
    ReplyPiece,
    Request,
    Role,
    Text,
    Turn,
)

if TYPE_CHECKING:
    from google.genai import types

T = TypeVar("T")
Ask = Callable[[Account, "list[types.Content]", "types.GenerateContentConfig"], Awaitable[T]]
SHORTEST_TIMEOUT_S = 30.0
"""The service refuses to be given less than 10 s; the door's own deadline may be shorter."""


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
        self._embedder = Embedder(pool, self._timeout_ms)

    def check(self) -> None:
        """Whether a key is configured.

        Raises:
            VrError: AUTH, naming GEMINI_API_KEY and where to get one.
        """
        self._pool.check()

    def model_for(self, role: Role) -> str | None:
        """The configured model, else the one of the preset."""
        return suggest(role, self._settings())

    def models(self) -> Sequence[ModelInfo]:
        """The models of the catalogue."""
        return [known.info for known in KNOWN.values()]

    async def generate(self, model: str, request: Request) -> Reply:
        """The whole answer; see `ModelProvider.generate`."""
        model = bare(model)

        async def ask(
            account: Account, said: list[types.Content], config: types.GenerateContentConfig
        ) -> Reply:
            reading = Reading(model)
            with translated(model, account.key):
                response = await account.client.aio.models.generate_content(
                    model=model, contents=list(said), config=config
                )
                reading.take(response)
            return reading.reply()

        reply, notes = await self._ask(model, request, ask)
        return reply.model_copy(update={"notes": notes})

    async def stream(self, model: str, request: Request) -> AsyncIterator[ReplyPiece]:
        """The answer in pieces; see `ModelProvider.stream`. Close it to end the request."""
        model = bare(model)
        reading = Reading(model)

        async def ask(
            account: Account, said: list[types.Content], config: types.GenerateContentConfig
        ) -> tuple[str, AsyncGenerator[str]]:
            with account.arrivals.noted() as arrived:
                with translated(model, account.key):
                    responses = await account.client.aio.models.generate_content_stream(
                        model=model, contents=list(said), config=config
                    )
                texts = read_stream(responses, arrived, reading, account.key)
                return await anext(texts, ""), texts

        (text, texts), notes = await self._ask(model, request, ask)
        async with aclosing(texts):
            if text:
                yield ReplyPiece(text=text)
            async for text in texts:
                yield ReplyPiece(text=text)
        reply = reading.reply(streamed=True)
        yield ReplyPiece(reply=reply.model_copy(update={"notes": notes}))

    async def embed(
        self, model: str, items: Sequence[str], purpose: EmbeddingPurpose, dimension: int | None
    ) -> Embeddings:
        """One vector a text, of unit length.

        Raises:
            VrError: like `generate`, with what was paid until then.
        """
        return await self._embedder.run(bare(model), items, purpose, dimension)

    async def count_tokens(self, model: str, request: Request) -> int:
        """How many tokens the request has, its system instruction counted as words."""
        model = bare(model)

        async def ask(
            account: Account, said: list[types.Content], config: types.GenerateContentConfig
        ) -> int:
            from google.genai import types

            with translated(model, account.key):
                counted = await account.client.aio.models.count_tokens(
                    model=model,
                    contents=list(said),
                    config=types.CountTokensConfig(http_options=config.http_options),
                )
                return counted.total_tokens or 0

        # The service counts no system instruction.
        spoken = [Turn("user", (Text(request.system),))] if request.system else []
        whole = replace(request, turns=(*spoken, *request.turns), cached_content="")
        tokens, _ = await self._ask(model, whole, ask)
        return tokens

    async def _ask(self, model: str, request: Request, ask: Ask[T]) -> tuple[T, list[str]]:
        """One attempt, from the context cache where there is one that fits; and notes on it."""
        check_media(model, request.turns)
        accounts = await self._pool.accounts()  # The SDK is loaded there, in a thread.
        config, notes = conditions(model, request, self._timeout_ms())
        if not request.cached_content:
            return await self._ask_whole(model, request, config, ask), notes
        usable = await self._contexts.usable(request, model)
        if usable is None or usable[0].account not in {account.hint for account in accounts}:
            return await self._ask_whole(model, request, config, ask), [*notes, UNUSABLE]
        cache, rest = usable
        short = config.model_copy(update={"cached_content": cache.name, "system_instruction": None})
        try:
            return await self._ask_whole(model, rest, short, ask, only=cache.account), notes
        except VrError as error:
            if not is_gone(error):
                raise
        await self._contexts.forget(cache.name)
        return await self._ask_whole(model, request, config, ask), [*notes, GONE]

    async def _ask_whole(
        self,
        model: str,
        request: Request,
        config: types.GenerateContentConfig,
        ask: Ask[T],
        *,
        only: str = "",
    ) -> T:
        how = plan(request.turns)
        ours = [await self._uploads.at(media.uri) for media in media_of(request.turns) if media.uri]
        held = [upload.account for upload in ours if upload is not None]
        holder = await self._uploads.holder([media.digest for media in how.large])

        async def attempt(account: Account) -> T:
            return await self._attempt(account, request, how, config, ask)

        only = only or (held[0] if held else "")
        return await self._pool.run(model, attempt, only=only, prefer=holder)

    async def _attempt(
        self,
        account: Account,
        request: Request,
        how: Plan,
        config: types.GenerateContentConfig,
        ask: Ask[T],
    ) -> T:
        """Ask with one key; files that the service holds no longer go up again, once."""
        used: list[str] = []

        async def upload(media: Media) -> str:
            uri = (await self._uploads.ensure(account, media)).uri
            used.append(uri)
            return uri

        said = await contents(request.turns, how, upload)
        try:
            return await ask(account, said, config)
        except VrError as error:
            if not is_gone(error) or config.cached_content:
                raise
            for uri in used:
                await self._uploads.forget(uri)
            if not used:
                raise await self._unseen(request, error) from None
        return await ask(account, await contents(request.turns, how, upload), config)

    async def _unseen(self, request: Request, error: VrError) -> VrError:
        """What a refusal means for a request that names addresses alone."""
        addresses = [media for media in media_of(request.turns) if media.uri]
        gone = False
        for media in addresses:
            gone = gone or await self._uploads.at(media.uri) is not None
            await self._uploads.forget(media.uri)
        if gone:
            return VrError(
                "The service holds the uploaded file no longer.",
                Code.NOT_FOUND,
                category="FILE_NOT_FOUND",
                hint="Upload it again.",
            )
        watched = any(media.kind == "youtube" for media in addresses)
        if watched and isinstance(error, ServiceError) and error.status == FORBIDDEN:
            return VrError(
                "Gemini may not watch this video; it is private, restricted or too new.",
                Code.NOT_ALLOWED,
                category="VIDEO_RESTRICTED",
                hint="Use a public video, or download it and give the file.",
            )
        return error

    def _timeout_ms(self) -> int:
        return int(max(self._settings().deadline_s, SHORTEST_TIMEOUT_S) * 1000)
