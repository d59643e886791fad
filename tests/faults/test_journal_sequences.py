"""Any order of work, starts, losses and ways out: the journal loses nothing in silence."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from vr_kernel import Store
from vr_plugin_knowledge import plugin as knowledge
from vr_plugin_knowledge.transfer.recovering import recover_with
from vr_testing import TrialKernel, open_kernel

KIND = "ConceptKnowledge"
NAMES = st.sampled_from("abc")
SEQUENCES = 12


def _kernel(folder: Path) -> AbstractAsyncContextManager[TrialKernel]:
    own = {"store.backend": "embedded", "store.embedder": "none", "kernel.log_level": "error"}
    return open_kernel({"knowledge": knowledge}, settings=own, folder=folder)


class World:
    """An installation, and what was acknowledged: texts by name, None for what was deleted."""

    def __init__(self, folder: Path, foreign: Path) -> None:
        self.folder = folder
        self.journal = folder / "state" / "journal.db"
        self.copy, self.foreign = folder / "copy.db", foreign
        self.acknowledged: dict[str, str | None] = {}
        self.keys: dict[str, str] = {}
        self.lost = False
        self.since: set[str] = set()
        self.count = 0

    async def record(self, kernel: TrialKernel, name: str) -> None:
        self.count += 1
        text = f"{name} {self.count}"
        given = {"collection": KIND, "properties": {"concept_name": name, "description": text}}
        done = await kernel.run("knowledge_ingest", given)
        assert done.error is None, done.error
        self.keys[name], self.acknowledged[name] = done.data["object_ids"][0], text
        self.since.add(name)

    async def delete(self, kernel: TrialKernel, name: str) -> None:
        if name in self.keys:
            await kernel.services.archive.forget([(KIND, self.keys[name])], origin="a test")
            self.acknowledged[name] = None
            self.since.add(name)

    async def fill(self, kernel: TrialKernel) -> None:
        await kernel.services.store.catch_up()
        before = await self.stored(kernel)
        await recover_with(kernel)
        await self.end_loss(kernel)
        assert set(before) <= set(await self.recorded(kernel)), "the store had it"

    async def begin_anew(self, kernel: TrialKernel) -> None:
        await kernel.services.store.restart(empty=True)
        await self.end_loss(kernel)

    async def end_loss(self, kernel: TrialKernel) -> None:
        """After a way out nothing is missed, and the store is what the journal is."""
        await kernel.services.store.catch_up()
        recorded = await self.recorded(kernel)
        assert await self.told(kernel) == ""
        assert recorded == await self.stored(kernel)
        gone = {name: None for name in self.keys if name not in recorded}
        self.acknowledged, self.lost = {**gone, **recorded}, False

    def lose(self, how: str) -> None:
        source = {"older": self.copy, "renamed": self.copy, "foreign": self.foreign}.get(how)
        if not self.journal.exists() or (source and not source.exists()):
            return
        self.lost, self.since = True, set()
        if how == "emptied":
            os.truncate(self.journal, 0)
        elif how != "renamed":
            for file in self.journal.parent.glob("journal.db*"):
                file.unlink()
        if source:
            shutil.copyfile(source, self.folder / "new.db")
            (self.folder / "new.db").replace(self.journal)

    async def examine(self, kernel: TrialKernel) -> None:
        """Acknowledged records are in the journal or in the store, or their loss is told."""
        told = await self.told(kernel)
        assert self.lost or not told, "nothing was lost"
        recorded = await self.recorded(kernel)
        await kernel.services.store.catch_up()
        stored = await self.stored(kernel)
        assert self.lost or recorded == stored
        for name in self.since:
            assert recorded.get(name) == stored.get(name) == self.acknowledged[name], name
        for name, text in self.acknowledged.items():
            kept = {each.get(name) for each in (recorded, stored)}
            assert (text in kept if text else kept == {None}) or told, (name, text)

    async def told(self, kernel: TrialKernel) -> str:
        await kernel.services.journal.last_seq()
        return await kernel.services.journal.continuity.lacks()

    async def recorded(self, kernel: TrialKernel) -> dict[str, str]:
        changes = await kernel.services.journal.changes(0)
        return dict(_named([each.fields for each in changes if each.fields is not None]))

    async def stored(self, kernel: TrialKernel) -> dict[str, str]:
        await kernel.services.store.status()
        page = await kernel.services.providers.get(Store).page(0, 1000)  # type: ignore[attr-defined]
        return dict(_named([record.fields for _, _, record in page]))


def _named(found: list[Any]) -> Iterator[tuple[str, str]]:
    for fields in found:
        yield fields["concept_name"], fields["description"]


LOSSES = st.sampled_from(["emptied", "deleted", "older", "renamed", "foreign"])
STEPS = st.one_of(
    st.tuples(st.sampled_from(["record", "delete"]), NAMES),
    st.tuples(st.sampled_from(["deliver", "restart", "copy", "fill", "begin_anew"])),
    st.tuples(st.just("lose"), LOSSES),
    st.tuples(st.just("lose at rest"), LOSSES),
)


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal of another installation."""
    folder = tmp_path_factory.mktemp("foreign")

    async def fill() -> None:
        world = World(folder, folder)
        async with _kernel(folder) as kernel:
            for name in "cdcde":
                await world.record(kernel, name)

    asyncio.run(fill())
    return folder / "state" / "journal.db"


@pytest.mark.parametrize(
    "steps",
    [
        [
            ("record", "b"),
            ("lose", "deleted"),
            ("record", "b"),
            ("lose", "deleted"),
            ("delete", "b"),
        ],
        [("record", "b"), ("lose", "foreign"), ("begin_anew",), ("record", "c")],
        [("record", "b"), ("lose", "foreign")],
        [("record", "a"), ("copy",), ("lose at rest", "older"), ("begin_anew",), ("restart",)],
    ],
    ids=["deleted twice", "given up in the same process", "before delivery", "given up at once"],
)
def test_sequences_that_once_went_wrong(
    foreign: Path, tmp_path: Path, steps: list[tuple[str, ...]]
) -> None:
    asyncio.run(_live(World(tmp_path, foreign), steps))


@pytest.mark.slow
@settings(max_examples=SEQUENCES, derandomize=True, phases=[Phase.generate])
@given(steps=st.lists(STEPS, min_size=3, max_size=9))
def test_nothing_acknowledged_is_lost_in_silence(
    foreign: Path, steps: list[tuple[str, ...]]
) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(_live(World(Path(folder), foreign), steps))


async def _live(world: World, steps: list[tuple[str, ...]]) -> None:
    left = iter(steps)
    going = True
    while going:
        going = False
        async with _kernel(world.folder) as kernel:
            for name, *arguments in left:
                if name in {"restart", "copy", "lose at rest"}:
                    going = True
                    break
                if name == "lose":
                    await asyncio.to_thread(world.lose, *arguments)
                elif name == "deliver":
                    await kernel.services.store.catch_up()
                else:
                    await getattr(world, name)(kernel, *arguments)
            await world.examine(kernel)
        if going and name == "copy" and world.journal.exists():
            shutil.copyfile(world.journal, world.copy)
        elif going and name == "lose at rest":
            world.lose(*arguments)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["older", "foreign"])
def test_the_store_alone_tells_it_where_the_ledger_is_lost_as_well(
    foreign: Path, tmp_path: Path, how: str
) -> None:
    world = World(tmp_path, foreign)
    asyncio.run(_live(world, [("record", "a"), ("copy",), ("record", "b"), ("deliver",)]))
    world.lose(how)
    for file in world.journal.parent.glob("jobs.db*"):
        file.unlink()

    async def told() -> list[str]:
        async with _kernel(tmp_path) as kernel:
            found = await kernel.run("knowledge_search", {"query": "b"})
            await world.examine(kernel)
            return list(found.data["notes"])

    assert any("begin-anew" in note for note in asyncio.run(told()))
