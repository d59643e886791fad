"""The memory of what the Gemini API keeps for us: uploaded files and context caches, as rows."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

from pydantic import BaseModel, ValidationError

from vr_kernel.errors import VrError
from vr_kernel.generation import Usage
from vr_kernel.log import Log
from vr_kernel.state.rows import ROW_CHANGED, Delete, OpenRows, Put, Row, Rows

T = TypeVar("T")
E = TypeVar("E", bound="Upload | ContextCache")
UPLOAD, CONTEXT, REFUSAL, AT = "upload", "context", "refusal", "at"
"""First parts of keys; an entry is found by what it is of, and again by its address."""


class Upload(BaseModel):
    """A file that the service holds for one account.

    Times are Unix times, in seconds.
    """

    digest: str
    mime: str
    account: str
    uri: str
    name: str
    size: int
    expires_at: float
    active: bool
    """True once the file can be used; the service processes a new file first."""

    @property
    def key(self) -> str:
        """The key of its row."""
        return row_key(UPLOAD, self.digest, self.mime, self.account)

    @property
    def address(self) -> str:
        """The name that the service gave it."""
        return self.uri


class ContextCache(BaseModel):
    """A context cache that the service holds for one account."""

    content: str
    """Names what is cached: the content, and the part of it."""
    model: str
    system: str
    """Digest of the system instruction that is cached with it, empty for none."""
    account: str
    name: str
    content_id: str
    """SHA-256 of the file, or the address of an uploaded one."""
    tokens: int
    expires_at: float

    @property
    def key(self) -> str:
        """The key of its row."""
        return row_key(CONTEXT, self.content, self.model, self.system, self.account)

    @property
    def address(self) -> str:
        """The name that the service gave it."""
        return self.name

    @property
    def usage(self) -> Usage:
        """The cost of making it."""
        return Usage(calls=1, input_tokens=self.tokens)


class KeptAtGemini:
    """The memory of one installation. Without it everything works, only less is reused."""

    def __init__(self, rows: OpenRows, log: Log) -> None:
        self._rows = rows
        self._log = log

    async def upload(self, digest: str, mime: str, account: str) -> Upload | None:
        """The live upload of a content for an account."""
        return await self._found(Upload, row_key(UPLOAD, digest, mime, account))

    async def upload_at(self, uri: str) -> Upload | None:
        """The live upload of that address."""
        return await self._found_at(Upload, uri)

    async def uploads_of(self, digest: str) -> list[Upload]:
        """The live uploads of a content, for every account."""
        found = await self._listed(Upload, row_key(UPLOAD, digest, ""))
        return [it for it in found if it.digest == digest]

    async def keep_upload(self, upload: Upload) -> None:
        """Remember an upload, instead of an earlier one."""
        await self._keep(upload)

    async def forget_upload(self, uri: str) -> None:
        """Forget an upload that the service no longer has."""
        await self._forget(Upload, uri)

    async def context(self, content: str, model: str, system: str) -> list[ContextCache]:
        """The live caches of a content, for every account."""
        found = await self._listed(ContextCache, row_key(CONTEXT, content, model, system, ""))
        return [it for it in found if it.model == model]

    async def context_named(self, name: str) -> ContextCache | None:
        """The live cache of that name."""
        return await self._found_at(ContextCache, name)

    async def contexts(self) -> list[ContextCache]:
        """Every live cache."""
        return await self._listed(ContextCache, row_key(CONTEXT, ""))

    async def keep_context(self, context: ContextCache) -> None:
        """Remember a cache, instead of an earlier one."""
        await self._keep(context)

    async def add_context(self, context: ContextCache, until: float) -> ContextCache:
        """Remember a new one, unless an equal one lives longer; returns the one that is kept."""

        async def add(rows: Rows) -> ContextCache:
            row = await rows.get(context.key)
            known = _entry(ContextCache, row)
            if known is not None and known.expires_at > until:
                return known
            await _replace(rows, row, context)
            return context

        return await self._attempt(add, default=context)

    async def forget_context(self, name: str) -> None:
        """Forget a cache that the service no longer has."""
        await self._forget(ContextCache, name)

    async def is_refused(self, content: str, model: str, system: str) -> bool:
        """Check if the service recently refused to cache it."""

        async def read(rows: Rows) -> bool:
            return await rows.get(row_key(REFUSAL, content, model, system)) is not None

        return await self._attempt(read, default=False)

    async def keep_refusal(self, content: str, model: str, system: str, until: float) -> None:
        """Remember until then that the service would not cache it."""
        put = Put(row_key(REFUSAL, content, model, system), value=True, expires_at=until)
        await self._attempt(lambda rows: rows.write(put, paid=True), default=None)

    async def _found(self, kind: type[E], key: str) -> E | None:
        async def read(rows: Rows) -> E | None:
            return _entry(kind, await rows.get(key))

        return await self._attempt(read, default=None)

    async def _found_at(self, kind: type[E], address: str) -> E | None:
        return await self._found(kind, row_key(AT, address))

    async def _listed(self, kind: type[E], beginning: str) -> list[E]:
        """Entries whose key begins so; what ends last comes first."""

        async def read(rows: Rows) -> list[E]:
            found = await rows.list(beginning, limit=sys.maxsize)
            entries = [it for row in found if (it := _entry(kind, row)) is not None]
            return sorted(entries, key=lambda it: it.expires_at, reverse=True)

        nothing: list[E] = []
        return await self._attempt(read, default=nothing)

    async def _keep(self, entry: Upload | ContextCache) -> None:
        async def keep(rows: Rows) -> None:
            await _replace(rows, await rows.get(entry.key), entry)

        await self._attempt(keep, default=None)

    async def _forget(self, kind: type[E], address: str) -> None:
        async def forget(rows: Rows) -> None:
            known = await rows.get(row_key(AT, address))
            entry = _entry(kind, known)
            row = await rows.get(entry.key) if entry else None
            if known is not None and row is not None:
                deletes = Delete(known.key, known.version), Delete(row.key, row.version)
                await rows.write(*deletes, paid=True)

        await self._attempt(forget, default=None)

    async def _attempt(self, work: Callable[[Rows], Awaitable[T]], *, default: T) -> T:
        """Do work on the rows, again when another process was faster."""
        try:
            rows = await self._rows()
            while True:
                try:
                    return await work(rows)
                except VrError as error:
                    if error.category != ROW_CHANGED:
                        raise
        except VrError as error:
            self._log.warning("gemini registry unavailable", error=error.message)
            return default


def row_key(*parts: str) -> str:
    """Return the key of a row; with an empty last part, what keys of several begin with."""
    return "/".join(parts)


def puts_of(entry: Upload | ContextCache, expected: int | None = None) -> tuple[Put, Put]:
    """Return the rows that keep an entry."""
    end = entry.expires_at
    return (
        Put(entry.key, entry.model_dump(), expected, end),
        Put(row_key(AT, entry.address), entry.model_dump(), expires_at=end),
    )


async def _replace(rows: Rows, row: Row | None, entry: Upload | ContextCache) -> None:
    """Keep an entry instead of that of a row, which is no longer found by its address."""
    former = _entry(type(entry), row)
    gone = [Delete(row_key(AT, former.address))] if former else []
    await rows.write(*gone, *puts_of(entry, row.version if row else 0), paid=True)


def _entry(kind: type[E], row: Row | None) -> E | None:
    try:
        return cast("E", kind.model_validate(row.value)) if row else None
    except ValidationError:
        return None
