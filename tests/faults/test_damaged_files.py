"""Each file of state and cache, damaged in each way, at rest and under a running kernel.

Kernels start and answer, name the file, and lose nothing else. A thousand damages of single files
are in the tests of the cache, the job ledger and the store; these are one of each, side by side.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from vr_kernel.testing import FakeGemini
from worked_kernel import PARTS, SECRET, Round, examine, files, go_round, kept, opened, work

pytestmark = pytest.mark.slow
SEED = 20261123
NAMES = (
    "digests.db", "gemini.db", "jobs.db", "journal.db", "knowledge.db", "notes.db", "refused.db",
    "results.db", "sessions.db", "usage.db", "vectors.db",
)  # fmt: skip
LONG_AGO = 1_700_000_000


class World(NamedTuple):
    """A folder after the whole work, one after half of it, and the service that both asked."""

    whole: Path
    half: Path
    gemini: FakeGemini
    round: Round


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("world")
    home, half, whole = (folder / name for name in ("home", "half", "whole"))
    (home / "notes").mkdir(parents=True)

    async def make(gemini: FakeGemini) -> Round:
        for part, copy in zip(PARTS, (half, whole), strict=True):
            async with opened(home, gemini) as kernel:
                await work(kernel, home, part)
                await examine(kernel)
            await asyncio.to_thread(shutil.copytree, home, copy)
        async with opened(home, gemini) as kernel:
            return await go_round(kernel, home, gemini)

    with FakeGemini() as gemini:
        done = asyncio.run(make(gemini))
        shutil.rmtree(home)
        yield World(whole, half, gemini, done)


# Damages; each takes the file, its older copy, and chance.

Damage = Callable[[Path, Path, random.Random], None]


def deleted(path: Path, _older: Path, _chance: random.Random) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def emptied(path: Path, _older: Path, _chance: random.Random) -> None:
    os.truncate(path, 0)
    os.utime(path, (LONG_AGO, LONG_AGO))


def cut(path: Path, _older: Path, _chance: random.Random) -> None:
    os.truncate(path, path.stat().st_size * 3 // 5)


def flipped(path: Path, _older: Path, chance: random.Random) -> None:
    with path.open("r+b") as file:
        size = path.stat().st_size
        for _ in range(200):
            place = chance.randrange(100, size)
            file.seek(place)
            (old,) = file.read(1)
            file.seek(place)
            file.write(bytes([old ^ 1 << chance.randrange(8)]))


def older(path: Path, copy: Path, chance: random.Random) -> None:
    deleted(path, copy, chance)
    if copy.exists():
        shutil.copyfile(copy, path)


def foreign(path: Path, copy: Path, chance: random.Random) -> None:
    deleted(path, copy, chance)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE {SECRET} (title TEXT)")
        connection.execute(f"INSERT INTO {SECRET} VALUES ('{SECRET}')")


DAMAGES: tuple[Damage, ...] = (deleted, emptied, cut, flipped, older, foreign)


@pytest.mark.parametrize("running", [False, True], ids=["at rest", "running"])
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda it: it.__name__)
@pytest.mark.parametrize("name", NAMES)
async def test_a_damaged_file_is_named_and_costs_nothing_else(
    world: World, tmp_path: Path, name: str, damage: Damage, *, running: bool
) -> None:
    chance = random.Random(f"{SEED} {name} {damage.__name__} {running}")
    home = world.whole.with_name("home")  # results and records name paths in it
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(world.whole, home)
    path, before = _find(home, name), kept(home)
    older_copy = world.half / path.relative_to(home)
    if not running:
        damage(path, older_copy, chance)
    async with opened(home, world.gemini) as kernel:
        if running:
            await go_round(kernel, home, world.gemini)
            before = kept(home)
            damage(path, older_copy, chance)
        asked = path.read_bytes() if path.exists() else b""
        done = await go_round(kernel, home, world.gemini)
        found = await examine(kernel)
    after = kept(home)
    said = "\n".join([*done.told, *found])
    where = f"seed {SEED}: {name} {damage.__name__} {'running' if running else 'at rest'}"
    print(
        where,
        done.failed,
        done.paid,
        len(done.titles),
        len(done.sessions),
        done.jobs,
        done.calls,
        "NAMED" if name in said else "UNNAMED",
        "SECRET" if SECRET in said else "",
        {
            n: len(before[n] - after.get(n, set()))
            for n in before
            if before[n] - after.get(n, set())
        },
        said if SECRET in said else "",
    )


def _find(home: Path, name: str) -> Path:
    (path,) = (path for path in files(home) if path.name == name)
    return path
