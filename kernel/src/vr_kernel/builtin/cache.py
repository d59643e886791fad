"""`infra_cache`: the cached results, and the contexts that a provider keeps."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from vr_kernel.call import Call, produced_by
from vr_kernel.tools import DESTRUCTIVE, IDEMPOTENT, tool

LISTED_ENTRIES = 100
BYTES_PER_MB = 1_000_000


class CachedResult(BaseModel):
    """One entry of the result cache; `file` is the database in `cache_dir` that has it."""

    file: str
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

    `entries` only for `list`, `removed` for `clear`, `contexts` for `context`; `cache_dir` for the
    owner of the server.
    """

    action: str
    cache_dir: str
    total_files: int
    total_size_mb: float
    ttl_days: float
    removed: int = 0
    entries: list[CachedResult] = []
    contexts: list[ContextEntry] = []


@tool(effects=DESTRUCTIVE | IDEMPOTENT)
async def infra_cache(
    call: Call,
    action: Literal["stats", "list", "clear", "context"] = "stats",
    content_id: Annotated[str | None, Field(max_length=128, description="Only this one")] = None,
) -> CacheReport:
    """Show or clear your cached results; show your contexts kept at Gemini."""
    inside = produced_by(call).context
    cache = inside.cache
    removed = await cache.clear(content_id) if action == "clear" else 0
    entries = await cache.entries(LISTED_ENTRIES, content_id) if action == "list" else []
    contexts = await inside.gemini.context_caches() if action == "context" else []
    stats = await cache.stats()
    return CacheReport(
        action=action,
        cache_dir=str(cache.folder) if cache.folder and call.services.identity.is_owner else "",
        total_files=stats.entries,
        total_size_mb=stats.size / BYTES_PER_MB,
        ttl_days=cache.ttl_days,
        removed=removed,
        entries=[
            CachedResult(
                file=cache.path.name if cache.path else "",
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
