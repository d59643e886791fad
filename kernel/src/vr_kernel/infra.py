"""The kernel's own tools, offered through the same hooks as any plugin's."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from vr_kernel.call import Call
from vr_kernel.hookspecs import hookimpl
from vr_kernel.plugins import State
from vr_kernel.tools import IDEMPOTENT, READ_ONLY, tool

LISTED_ENTRIES = 100
BYTES_PER_MB = 1_000_000


class PluginInfo(BaseModel):
    """One installed plugin."""

    name: str
    version: str
    state: State
    reason: str
    tools: list[str]


class PluginList(BaseModel):
    """Every installed plugin, loaded or not."""

    plugins: list[PluginInfo]


class CachedResult(BaseModel):
    """One entry of the result cache."""

    content_id: str
    tool: str
    model: str
    cached_at: datetime
    size_kb: float


class CacheReport(BaseModel):
    """The result cache after the action; `entries` only for `list`, `removed` for `clear`."""

    action: str
    cache_dir: str
    total_files: int
    total_size_mb: float
    ttl_days: float
    removed: int = 0
    entries: list[CachedResult] = []


@tool(effects=READ_ONLY | IDEMPOTENT)
async def infra_plugins(call: Call) -> PluginList:
    """List installed plugins: state, reason, tools."""
    return PluginList(
        plugins=[
            PluginInfo(
                name=s.name, version=s.version, state=s.state, reason=s.reason, tools=s.tools
            )
            for s in call.services.plugins()
        ]
    )


@tool(effects=READ_ONLY | IDEMPOTENT)
async def infra_cache(
    call: Call,
    action: Literal["stats", "list", "clear"] = "stats",
    content_id: Annotated[str | None, Field(max_length=128, description="Only this one")] = None,
) -> CacheReport:
    """Show or clear cached analysis results."""
    cache = call.services.cache
    removed = await cache.clear(content_id) if action == "clear" else 0
    entries = await cache.entries(LISTED_ENTRIES, content_id) if action == "list" else []
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
    )


@hookimpl
def vr_tools() -> list[Any]:
    """The kernel's tools."""
    return [infra_plugins, infra_cache]
