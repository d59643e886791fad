"""One question to a Gemini model, sent with any key that may be used for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from vr_kernel.errors import Code, VrError
from vr_kernel.gemini.errors import FORBIDDEN, ServiceError, is_gone
from vr_kernel.gemini.parts import Plan, contents, media_of, plan
from vr_kernel.gemini.pool import Account
from vr_kernel.gemini.registry import ContextCache
from vr_kernel.gemini.uploads import Uploads
from vr_kernel.generation import Media, Request

if TYPE_CHECKING:
    from google.genai import types

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request in the SDK's types, and the account that sends it."""

    account: Account
    model: str
    contents: list[types.Content]
    config: types.GenerateContentConfig


@dataclass(frozen=True)
class GeminiRequest(Generic[T]):
    """A request to a model, and the way to send it.

    Args:
        model: its name at the service.
        request: the whole of it, or what a context cache does not hold.
        config: the settings for the answer.
        send: sends it once, with one key.
        uploads: the files that are at the service.
        notes: remarks on how it is put.
        cache: the context cache that holds the beginning of the request, if one does.
    """

    model: str
    request: Request
    config: types.GenerateContentConfig
    send: Callable[[Prepared], Awaitable[T]]
    uploads: Uploads
    notes: tuple[str, ...] = ()
    cache: ContextCache | None = None

    def with_note(self, note: str) -> GeminiRequest[T]:
        """The same question with one more remark."""
        return replace(self, notes=(*self.notes, note))

    def from_cache(self, cache: ContextCache, rest: Request) -> GeminiRequest[T]:
        """The same question to a context cache, which holds all but `rest`."""
        update = {"cached_content": cache.name, "system_instruction": None}
        config = self.config.model_copy(update=update)
        return replace(self, request=rest, config=config, cache=cache)

    async def only_account(self) -> str:
        """The one account that can answer: the holder of its cache or files; empty for any."""
        if self.cache is not None:
            return self.cache.account
        found = [await self.uploads.at(media.uri) for media in self._addresses]
        return next((upload.account for upload in found if upload is not None), "")

    async def best_account(self) -> str:
        """The account that holds most of the files that cannot be sent inline."""
        return await self.uploads.holder([media.digest for media in self._plan.large])

    async def put(self, account: Account) -> T:
        """Ask with one key; files that the service no longer has are uploaded again, once.

        Raises:
            VrError: what the service says.
        """
        used: list[str] = []
        prepared = await self._prepared(account, used)
        try:
            return await self.send(prepared)
        except VrError as error:
            if self.cache is not None or not is_gone(error):
                raise
            for uri in used:
                await self.uploads.forget(uri)
            if not used:
                raise await self._unseen(error) from None
        return await self.send(await self._prepared(account, used))

    @cached_property
    def _plan(self) -> Plan:
        return plan(self.request.turns)

    @property
    def _addresses(self) -> list[Media]:
        return [media for media in media_of(self.request.turns) if media.uri]

    async def _prepared(self, account: Account, used: list[str]) -> Prepared:
        """Prepare the request for one key: upload missing files, add their addresses to `used`."""

        async def upload(media: Media) -> str:
            uri = (await self.uploads.ensure(account, media)).uri
            used.append(uri)
            return uri

        said = await contents(self.request.turns, self._plan, upload)
        return Prepared(account, self.model, said, self.config)

    async def _unseen(self, error: VrError) -> VrError:
        """The error of a refused request whose media are all given by address."""
        gone = False
        for media in self._addresses:
            gone = gone or await self.uploads.at(media.uri) is not None
            await self.uploads.forget(media.uri)
        if gone:
            return VrError(
                "The service holds the uploaded file no longer.",
                Code.NOT_FOUND,
                category="FILE_NOT_FOUND",
                hint="Upload it again.",
            )
        watched = any(media.kind == "youtube" for media in self._addresses)
        if watched and isinstance(error, ServiceError) and error.status == FORBIDDEN:
            return VrError(
                "Gemini may not watch this video; it is private, restricted or too new.",
                Code.NOT_ALLOWED,
                category="VIDEO_RESTRICTED",
                hint="Use a public video, or download it and give the file.",
            )
        return error
