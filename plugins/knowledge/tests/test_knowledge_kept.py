"""Records of a plugin that was removed: kept, named, and found again when it returns."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from refined_kernels import ingest, knowledge_kernel
from vr_kernel import WRITES_LOCAL, Call, Record, RecordField, RecordKind, hookimpl, tool
from vr_testing import TrialKernel

FILMS = RecordKind(
    "Films", "", (RecordField("text", vectorised=True, searchable=True),), rerank="text"
)


class Kept(BaseModel):
    """Nothing."""


@tool(effects=WRITES_LOCAL)
async def film_keep(call: Call) -> Kept:
    """Record two films."""
    call.record(*(Record("Films", {"text": f"a fox in film {n}"}) for n in range(2)))
    return Kept()


class Films:
    """A plugin that may be removed."""

    @hookimpl
    def vr_record_kinds(self) -> list[RecordKind]:
        return [FILMS]

    @hookimpl
    def vr_tools(self) -> list[Any]:
        return [film_keep]


async def found(kernel: TrialKernel) -> list[str]:
    async with asyncio.timeout(60):
        while (await kernel.call("knowledge_stats")).pending:
            pass  # it waits itself, and a server has to make its collections first
    hits = (await kernel.call("knowledge_search", query="fox", search_type="keyword")).results
    return sorted(hit.properties["text"] for hit in hits)


async def test_what_a_removed_plugin_recorded_is_kept_named_and_comes_back(
    each_store: dict[str, Any], tmp_path: Path
) -> None:
    where = {"settings": each_store, "folder": tmp_path}
    async with knowledge_kernel(plugins={"films": Films()}, **where) as kernel:
        await kernel.call("film_keep")
        await ingest(kernel, "Notes", {"text": "a fox"})
        assert len(await found(kernel)) == 3
        assert (await kernel.call("knowledge_stats")).kept == []
    async with knowledge_kernel(**where) as kernel:
        assert await found(kernel) == ["a fox"]
        stats = await kernel.call("knowledge_stats")
        assert stats.kept == ["Films: 2 kept, plugin films is not installed"]
        assert "Films" not in [each.collection for each in stats.collections]
    async with knowledge_kernel(plugins={"films": Films()}, **where) as kernel:
        assert await found(kernel) == ["a fox", "a fox in film 0", "a fox in film 1"]
        assert (await kernel.call("knowledge_stats")).kept == []


async def test_a_replay_without_the_plugin_loses_nothing(tmp_path: Path) -> None:
    async with knowledge_kernel(plugins={"films": Films()}, folder=tmp_path) as kernel:
        await kernel.call("film_keep")
    (tmp_path / "state" / "knowledge.db").unlink(missing_ok=True)
    async with knowledge_kernel(folder=tmp_path) as kernel:
        assert await found(kernel) == []
    async with knowledge_kernel(plugins={"films": Films()}, folder=tmp_path) as kernel:
        assert await found(kernel) == ["a fox in film 0", "a fox in film 1"]
