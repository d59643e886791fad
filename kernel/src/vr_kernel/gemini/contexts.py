"""Context caches: content that the service keeps ready for one model, found again and renewed."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from vr_kernel.config.model_settings import ModelsSettings
from vr_kernel.errors import Code, VrError
from vr_kernel.gemini.errors import is_gone, translated
from vr_kernel.gemini.parts import check_media, contents, plan
from vr_kernel.gemini.pool import Account, Pool
from vr_kernel.gemini.registry import ContextCache, KeptAtGemini
from vr_kernel.gemini.sources import Source
from vr_kernel.gemini.uploads import Uploads
from vr_kernel.generation import Media, Request, Turn
from vr_kernel.generation.conversation import OF_WORKSPACE
from vr_kernel.jobs.lease import Lease
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.log import Log
from vr_kernel.running.joining import Joined
from vr_kernel.storage.database_faults import is_of_state

if TYPE_CHECKING:
    from google.genai import types

REFUSED_S = 86_400.0
"""Seconds until a content that the service would not cache is offered again."""
MARGIN_S = 30.0
"""A cache that ends sooner is not used any more."""
GONE = "The context cache was gone; the whole content was sent."
UNUSABLE = "The context cache does not fit this request; the whole content was sent."
Make = Callable[[], Awaitable[ContextCache]]
Pay = Callable[[Make], Awaitable[ContextCache]]
"""Makes a cache, and accounts for it."""
_Key = tuple[str, str, str]


class Contexts:
    """The context caches of one installation."""

    def __init__(
        self,
        registry: KeptAtGemini,
        pool: Pool,
        uploads: Uploads,
        leases: LedgerLeases | None,
        settings: Callable[[], ModelsSettings],
        log: Log,
    ) -> None:
        self._registry = registry
        self._pool = pool
        self._uploads = uploads
        self._leases = leases
        self._settings = settings
        self._log = log
        self._under_way: Joined[str | None] = Joined()

    async def ensure(self, model: str, content: Media, system: str, pay: Pay) -> str | None:
        """Return the name of a cache of that content for that model; it is made once, when needed.

        None when there can be none: for an address that is not an upload of ours, for
        content that the service refused within a day, and when it cannot be reached now.

        Raises:
            VrError: category STATE_UNAVAILABLE, when what is paid cannot be written down.
        """
        known, name = await self.find(model, content, system)
        if known:
            return name
        content = await identified(content)
        key = (_digest(content.identity), model, system_digest(system))
        return await self._under_way.run(key, lambda: self._make_once(key, content, system, pay))

    async def find(self, model: str, content: Media, system: str) -> tuple[bool, str | None]:
        """Look for a cache of that content: whether there is no need to make one, and its name."""
        content = await identified(content)
        if content.file is None and await self._uploads.at(content.uri) is None:
            return True, None
        return await self._known((_digest(content.identity), model, system_digest(system)))

    async def usable(self, request: Request, model: str) -> tuple[ContextCache, Request] | None:
        """The request's cache, and the request without what the cache holds; None if unfit.

        A cache fits a request that begins with its content, has its system instruction and uses no
        tool.
        """
        known = await self._registry.context_named(request.cached_content)
        if known is None or known.model != model or known.system != system_digest(request.system):
            return None
        if request.search or request.url_context or not request.turns:
            return None
        first, *others = request.turns
        head = first.parts[0] if first.parts else None
        if not isinstance(head, Media):
            return None
        if _digest((await identified(head)).identity) != known.content:
            return None
        rest = [replace(first, parts=first.parts[1:])] if len(first.parts) > 1 else []
        if not (rest or others):
            return None
        return known, replace(request, turns=(*rest, *others), system="")

    async def refresh(self, name: str) -> bool:
        """Restart the time to live of a cache; False when the cache is gone.

        Raises:
            VrError: when the service cannot be asked now.
        """
        known = await self._registry.context_named(name)
        if known is None:
            return False
        ttl = self._settings().context_cache_ttl_s

        async def renew(account: Account) -> types.CachedContent:
            from google.genai import types

            with translated(secret=account.key):
                return await account.client.aio.caches.update(
                    name=name, config=types.UpdateCachedContentConfig(ttl=f"{ttl:g}s")
                )

        try:
            renewed = await self._pool.run(known.model, renew, only=known.account)
        except VrError as error:
            if not is_gone(error):
                raise
            await self._registry.forget_context(name)
            return False
        end = _end(renewed, ttl)
        await self._registry.keep_context(known.model_copy(update={"expires_at": end}))
        return True

    async def forget(self, name: str) -> None:
        """Forget a cache that the service no longer has."""
        await self._registry.forget_context(name)

    async def every(self, workspace: str = "") -> list[ContextCache]:
        """Every live cache of a workspace; an empty name means the owner's."""
        found = []
        for cache in await self._registry.contexts():
            upload = await self._uploads.at(cache.content_id)  # it may be named by its address
            named = upload.digest if upload else cache.content_id
            if named.rpartition(OF_WORKSPACE)[0] == workspace:
                content_id = cache.content_id.rpartition(OF_WORKSPACE)[2]
                found.append(cache.model_copy(update={"content_id": content_id}))
        return found

    async def clear(self, content_id: str | None = None, workspace: str | None = None) -> int:
        """End the caches of one content or of all, in one workspace or all; returns how many."""
        found = await (self._registry.contexts() if workspace is None else self.every(workspace))
        chosen = [cache for cache in found if content_id in (None, cache.content_id)]
        for cache in chosen:
            await self._end(cache)
        return len(chosen)

    async def _known(self, key: _Key) -> tuple[bool, str | None]:
        """Say if it is known that there is, or cannot be, a cache; and return its name."""
        hints = {account.hint for account in await self._pool.accounts()}
        soon = time.time() + MARGIN_S
        for cache in await self._registry.context(*key):
            if cache.account in hints and cache.expires_at > soon:
                return True, cache.name
        return await self._registry.is_refused(*key), None

    async def _make_once(self, key: _Key, content: Media, system: str, pay: Pay) -> str | None:
        """Make the cache in one process only, unless another one did so meanwhile."""
        known, name = False, None

        async def made() -> bool:
            nonlocal known, name
            known, name = await self._known(key)
            return known

        async with self._owned(f"context/{'/'.join(key)}", made) as lease:
            if known or (lease is None and await made()):  # without a ledger `made` was not called
                return name
            return await self._make(key, content, system, pay)

    def _owned(
        self, name: str, until: Callable[[], Awaitable[bool]]
    ) -> AbstractAsyncContextManager[Lease | None]:
        if self._leases is None:
            return nullcontext()
        # While the ledger is unavailable, another process may be doing this work.
        return self._leases.held(name, until=until, without=lambda error: not error.retryable)

    async def _make(self, key: _Key, content: Media, system: str, pay: Pay) -> str | None:
        model = key[1]
        try:
            check_media(model, [Turn("user", (content,))])
            upload = await self._uploads.at(content.uri) if content.uri else None
            holder = await self._uploads.holder([content.digest])
            made = await pay(
                lambda: self._pool.run(
                    model,
                    lambda account: self._create(account, key, content, system),
                    only=upload.account if upload else "",
                    prefer=holder,
                )
            )
        except VrError as error:
            if is_of_state(error):  # nothing was sent: the cost could not be recorded
                raise
            self._log.info("no context cache", model=model, error=error.message)
            if error.code in {Code.INVALID_INPUT, Code.UNSUPPORTED, Code.NOT_FOUND}:
                await self._registry.keep_refusal(*key, time.time() + REFUSED_S)
            return None
        kept = await self._registry.add_context(made, time.time() + MARGIN_S)
        if kept.name != made.name:  # a process that took over was faster
            await self._end(made)
        return kept.name

    async def _create(
        self, account: Account, key: _Key, content: Media, system: str
    ) -> ContextCache:
        from google.genai import types

        async def upload(media: Media) -> str:
            return (await self._uploads.ensure(account, media)).uri

        turns = [Turn("user", (content,))]
        ttl = self._settings().context_cache_ttl_s
        config = types.CreateCachedContentConfig(
            contents=await contents(turns, plan(turns), upload),
            system_instruction=system or None,
            ttl=f"{ttl:g}s",
        )
        with translated(key[1], account.key):
            made = await account.client.aio.caches.create(model=key[1], config=config)
            name = str(made.name or "")
        if not name:
            raise VrError("The context cache has no name.", Code.UNAVAILABLE, retryable=True)
        metadata = made.usage_metadata
        return ContextCache(
            content=key[0],
            model=key[1],
            system=key[2],
            account=account.hint,
            name=name,
            content_id=content.digest or content.uri,
            tokens=(metadata.total_token_count if metadata else 0) or 0,
            expires_at=_end(made, ttl),
        )

    async def _end(self, cache: ContextCache) -> None:
        async def delete(account: Account) -> None:
            with translated(secret=account.key):
                await account.client.aio.caches.delete(name=cache.name)

        try:
            await self._pool.run(cache.model, delete, only=cache.account)
        except VrError as error:
            self._log.info("context cache left to end by itself", error=error.message)
        await self._registry.forget_context(cache.name)


def system_digest(system: str) -> str:
    """Return a digest of system instructions; empty for none."""
    return _digest(system) if system else ""


async def identified(media: Media) -> Media:
    """The media with the digest of its file."""
    if media.file is None or media.digest:
        return media
    return replace(media, digest=await Source(media).digest())


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _end(cache: types.CachedContent, ttl: float) -> float:
    return cache.expire_time.timestamp() if cache.expire_time else time.time() + ttl
