"""`infra_cache`: the cached results, and the contexts that a provider keeps."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from vr_kernel.call import Call
from vr_kernel.tools import IDEMPOTENT, READ_ONLY, tool

LISTED_ENTRIES = 100
BYTES_PER_MB = 1_000_000


class CachedResult(BaseModel):
    """One entry of the result cache."""

    content_id: str
    tool: str
    model: str
    cached_at: datetime
    size_kb: float


class ContextEntry(BaseModel):
    """A context that Gemini keeps for a file and a model, until it expires."""

    content_id: str
    model: str
    name: str
    expires_at: datetime


class CacheReport(BaseModel):
    """The result cache after the action.

    `entries` only for `list`, `removed` for `clear`, `contexts` for `context`.
    """

    action: str
    cache_dir: str
    total_files: int
    total_size_mb: float
    ttl_days: float
    removed: int = 0
    entries: list[CachedResult] = []
    contexts: list[ContextEntry] = []


@tool(
    effects=READ_ONLY | IDEMPOTENT,
    words="clear the cache; delete old results; free disk space; how much room do cached results"
    " take; the answer is stale, make it anew; forget the kept result of this video; do not"
    " reuse the previous answer; which results are cached; files and contexts that Gemini or"
    " Google keeps for us, until they expire; start from scratch; it still shows what it said"
    " yesterday; do it again and not from memory; when do kept results expire; what is in"
    " temporary storage; empty the temporary storage; why is the answer the same as before; how"
    " big is the cache; throw kept results away; fetch it afresh; free some gigabytes; remove"
    " the kept context that costs storage; why did that come back at once; what do you still"
    " hold from earlier runs; is that answer fresh or from before; the video has changed, so"
    " watch it anew; how long are results kept; disk is full, what can go; drop everything that"
    " is kept for this file; uploads that still lie at Google; reset what you remember of old"
    " calls; wipe the cached answers; is anything kept that is out of date; how much disk do"
    " stored results occupy; stored answers; purge temporary files; recompute instead of"
    " reusing; outdated cached analysis",
)
async def infra_cache(
    call: Call,
    action: Literal["stats", "list", "clear", "context"] = "stats",
    content_id: Annotated[str | None, Field(max_length=128, description="Only this one")] = None,
) -> CacheReport:
    """Show or clear cached results; show contexts kept at Gemini."""
    cache = call.services.cache
    removed = await cache.clear(content_id) if action == "clear" else 0
    entries = await cache.entries(LISTED_ENTRIES, content_id) if action == "list" else []
    contexts = await call.services.gemini.context_caches() if action == "context" else []
    stats = await cache.stats()
    return CacheReport(
        action=action,
        cache_dir=str(cache.path.parent),
        total_files=stats.entries,
        total_size_mb=stats.size / BYTES_PER_MB,
        ttl_days=cache.ttl_days,
        removed=removed,
        entries=[
            CachedResult(
                content_id=entry.content_id,
                tool=entry.tool,
                model=entry.model,
                cached_at=datetime.fromtimestamp(entry.cached_at, UTC),
                size_kb=round(entry.size / 1000, 1),
            )
            for entry in entries
        ],
        contexts=[
            ContextEntry(
                content_id=context.content_id,
                model=context.model,
                name=context.name,
                expires_at=datetime.fromtimestamp(context.expires_at, UTC),
            )
            for context in contexts
            if content_id in (None, context.content_id)
        ],
    )
