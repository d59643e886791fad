"""Another process stands still in the middle of writing into the knowledge base."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from knowledge_samples import all_plugins
from vr_kernel import Config, Kernel, VrError

COLLECTION = "Notes"


@contextmanager
def held(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as neighbour:
        neighbour.execute("BEGIN IMMEDIATE")
        yield
        neighbour.rollback()


async def ingest(kernel: Kernel, text: str) -> None:
    properties = {"title": text, "text": text, "video_id": text}
    await kernel.call("knowledge_ingest", collection=COLLECTION, properties=properties)


async def test_a_record_is_there_when_it_is_journalled_and_found_when_the_other_goes_on(
    config: Config,
) -> None:
    async with Kernel.open(config, all_plugins()) as kernel:
        await ingest(kernel, "first")
        assert await kernel.services.store.catch_up(30) == 0
        with held(config.paths.state / "knowledge.db"):
            await ingest(kernel, "second")
            assert await kernel.services.store.catch_up(0.05) == 1
        assert await kernel.services.store.catch_up(30) == 0
        found = await kernel.call("knowledge_search", query="second")
        assert "second" in {hit.properties["title"] for hit in found.results}


@pytest.mark.slow
async def test_who_opens_the_knowledge_base_to_read_waits_for_nobody(config: Config) -> None:
    async with Kernel.open(config, all_plugins()) as kernel:
        await ingest(kernel, "first")
        assert await kernel.services.store.catch_up(30) == 0
    with held(config.paths.state / "knowledge.db"):
        async with Kernel.open(config, all_plugins()) as kernel:
            assert await kernel.services.store.catch_up(30) == 0
            found = await kernel.call("knowledge_search", query="first")
            assert [hit.properties["title"] for hit in found.results] == ["first"]


@pytest.mark.slow
async def test_a_search_waits_for_its_own_records_alone(config: Config) -> None:
    async with Kernel.open(config, all_plugins()) as kernel:
        await ingest(kernel, "first")
        assert await kernel.services.store.catch_up(30) == 0
        with held(config.paths.state / "knowledge.db"):
            await ingest(kernel, "second")
            found = await kernel.call("knowledge_search", query="first")
            assert "first" in {hit.properties["title"] for hit in found.results}
            assert found.pending == 1


@pytest.mark.slow
async def test_closing_beside_a_process_that_holds_every_file_ends(config: Config) -> None:
    with ExitStack() as stack:
        async with asyncio.timeout(60):
            async with Kernel.open(config, all_plugins()) as kernel, kernel.serving():
                await ingest(kernel, "first")
                assert await kernel.services.store.catch_up(30) == 0
                assert await kernel.services.leases.acquire("anything")
                for path in await asyncio.to_thread(lambda: [*config.paths.state.rglob("*.db")]):
                    stack.enter_context(held(path))
                late = asyncio.create_task(ingest(kernel, "second"))
                await asyncio.sleep(0)
            with pytest.raises(VrError, match="Another process holds"):
                await late
