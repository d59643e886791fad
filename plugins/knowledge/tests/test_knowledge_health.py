"""Checks of the store for `vr doctor`: its file can be read, and is up to date."""

from __future__ import annotations

import asyncio
import inspect
import sqlite3
from contextlib import closing

import pytest
from knowledge_samples import all_plugins
from vr_kernel import Config, Diagnosis, Kernel, VrError
from vr_kernel.state import Entry
from vr_plugin_knowledge import plugin
from vr_plugin_knowledge.embedded_store.health import (
    MOST_VECTORS,
    lag,
    readable,
    size,
    store_checks,
)


async def examine(kernel: Kernel) -> dict[str, Diagnosis]:
    """Findings of the plugin's checks, by name."""
    found = {}
    for check in plugin.vr_health(kernel._plugins.contexts["knowledge"].services):
        answer = check.examine()
        found[check.name] = await answer if inspect.isawaitable(answer) else answer
    return found


async def record(kernel: Kernel) -> None:
    """Store one note, with its vector."""
    note = {"title": "The fox", "text": "A fox in the forest."}
    await kernel.call("knowledge_ingest", collection="Notes", properties=note)
    async with asyncio.timeout(30):
        assert await kernel.services.store.catch_up(30) == 0
        while await kernel.services.store.pending_vectors():
            await kernel.call("knowledge_search", query="fox")


def levels(found: dict[str, Diagnosis]) -> dict[str, str]:
    """The levels alone."""
    return {name: str(diagnosis.level) for name, diagnosis in found.items()}


CHECKS = ("store file", "store and journal", "store vectors", "store size", "collections")
ALL_WELL = dict.fromkeys(CHECKS, "ok")


async def test_nothing_is_made_by_looking(kernel: Kernel, config: Config) -> None:
    assert levels(await examine(kernel)) == ALL_WELL
    assert not config.paths.state.exists()


async def test_a_store_that_has_all_is_well(config: Config) -> None:
    async with Kernel.open(config, all_plugins()) as kernel:
        await record(kernel)
    async with Kernel.open(config, all_plugins()) as kernel:
        assert levels(await examine(kernel)) == ALL_WELL


async def test_a_collection_without_its_plugin_is_named(config: Config) -> None:
    async with Kernel.open(config, all_plugins()) as kernel:
        await record(kernel)
    alone = {name: each for name, each in all_plugins().items() if name != "sample"}
    async with Kernel.open(config, alone) as kernel:
        found = (await examine(kernel))["collections"]
    assert found.what == "Notes: 1 kept, their plugin is not installed."
    assert "Install" in found.fix


async def test_a_store_behind_the_journal_says_by_how_much(config: Config) -> None:
    late = Entry("Notes", "late", {"title": "The owl"})
    async with Kernel.open(config, all_plugins()) as kernel:
        await record(kernel)
        await kernel.services.journal.commit([late], workspace="default", provenance={})
        found = await examine(kernel)
    assert levels(found)["store and journal"] == "warning"
    assert "does not have yet: 1." in found["store and journal"].what
    assert "vr knowledge stats" in found["store and journal"].fix


async def test_a_lost_journal_is_named(config: Config) -> None:
    async with Kernel.open(config, all_plugins()) as kernel:
        await record(kernel)
    for file in config.paths.state.glob("journal.db*"):
        file.unlink()
    async with Kernel.open(config, all_plugins()) as kernel:
        found = (await examine(kernel))["store and journal"]
    assert found.level == "fault"
    assert "lost" in found.what


async def test_a_damaged_store_is_named_and_left_alone(config: Config) -> None:
    content = b"no database at all " * 500
    config.paths.state.mkdir(parents=True)
    path = config.paths.state / "knowledge.db"
    path.write_bytes(content)
    with pytest.raises(VrError) as caught:
        readable(path)
    assert "rebuilds it from the journal" in caught.value.hint
    assert size(path).what.startswith("Not tried")
    async with Kernel.open(config, all_plugins()) as kernel:
        (behind,) = [
            it
            for it in store_checks(kernel._plugins.contexts["knowledge"].services)
            if it.name == "store and journal"
        ]
        found = await behind.examine()
    assert (found.level, found.what[:9]) == ("ok", "Not tried")
    assert path.read_bytes() == content


async def test_a_store_of_another_layout_is_named(config: Config) -> None:
    config.paths.state.mkdir(parents=True)
    path = config.paths.state / "knowledge.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    found = readable(path)
    assert (found.level, "layout 99" in found.what) == ("warning", True)


async def test_texts_without_vector_are_counted(config: Config) -> None:
    async with Kernel.open(config, all_plugins()) as kernel:
        await record(kernel)
    with closing(sqlite3.connect(config.paths.state / "knowledge.db")) as connection:
        connection.execute("DELETE FROM vector")
        connection.commit()
    async with Kernel.open(config, all_plugins()) as kernel:
        found = (await examine(kernel))["store vectors"]
    assert found.level == "warning"
    assert found.what.endswith(": 1.")


async def test_a_store_that_has_outgrown_one_file_is_named(config: Config) -> None:
    async with Kernel.open(config, all_plugins()) as kernel:
        await record(kernel)
    for count, level in ((MOST_VECTORS, "ok"), (MOST_VECTORS + 1, "warning")):
        with closing(sqlite3.connect(config.paths.state / "knowledge.db")) as connection:
            connection.execute("UPDATE scope SET items = ?", (count,))
            connection.commit()
        async with Kernel.open(config, all_plugins()) as kernel:
            found = (await examine(kernel))["store size"]
        assert found.level == level
    assert "Notes has 200,001 records" in found.what
    assert "migrate --to weaviate" in found.fix


def test_the_lag_is_put_into_words() -> None:
    assert lag(0).level == "ok"
    assert lag(7).level == "warning"
    assert lag(-7).level == "fault"
