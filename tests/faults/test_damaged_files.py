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
from installation import SERVE
from vr_server import ToolClient, connect
from vr_testing import FakeGemini
from worked_kernel import PARTS, SECRET, Round, examine, files, go_round, kept, opened, work

pytestmark = pytest.mark.slow
SEED = 20261123
NAMES = (
    "digests.db", "jobs.db", "journal.db", "knowledge.db", "results.db", "rows.db", "usage.db",
    "vectors.db",
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


ROWS = {
    "digests.db": "UPDATE digest SET sha256 = ?",
    "jobs.db": "UPDATE job SET arguments = ? WHERE state = 'done'",
    "journal.db": "UPDATE record SET fields = ?",
    "knowledge.db": "UPDATE item SET fields = ?",
    "results.db": "UPDATE result SET value = ?",
    "rows.db": "UPDATE entry SET value = ? WHERE key LIKE 'session/%'",
    "usage.db": "UPDATE attempt SET input_tokens = ?",
    "vectors.db": "UPDATE vector SET value = ?",
}


def spoiled(path: Path, _older: Path, _chance: random.Random) -> None:
    """One value of one row is no text."""
    change = ROWS[path.name].replace("?", "CAST(? AS TEXT)")
    if change.startswith("UPDATE"):
        table = change.split()[1]
        pick = f"FROM {table} WHERE {change.partition(' WHERE ')[2] or 'true'} LIMIT 1)"
        change = f"{change.partition(' WHERE ')[0]} WHERE rowid = (SELECT rowid {pick}"
    with closing(sqlite3.connect(path)) as connection, connection:
        done = connection.execute(change, (b"\xff " + SECRET.encode(),))
        assert done.rowcount == 1


DAMAGES: tuple[Damage, ...] = (deleted, emptied, cut, flipped, older, foreign, spoiled)
TOLD = {"emptied", "flipped", "foreign", "spoiled"}
"""Damages at rest that a file itself tells; of a cut one the end may have been empty."""
REMADE = {"digests.db"}
"""Files that are looked into now and then, and whose loss nobody would notice."""
LASTING = {"journal.db", "jobs.db"}
"""Files that are never replaced."""
NEEDED_BY = {
    "journal.db": {
        "video_analyze", "knowledge_ingest", "video_continue_session",
    },
    "jobs.db": {"job_list"},
    "rows.db": {"video_list_sessions", "video_continue_session", "video_export_session"},
}  # fmt: skip
"""Tools that may fail while a file is damaged."""


@pytest.mark.parametrize("running", [False, True], ids=["at rest", "running"])
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda it: it.__name__)
@pytest.mark.parametrize("name", NAMES)
async def test_a_damaged_file_is_named_and_costs_nothing_else(
    world: World, name: str, damage: Damage, *, running: bool
) -> None:
    chance = random.Random(f"{SEED} {name} {damage.__name__} {running}")
    home = _fresh(world)
    path, before = _find(home, name), kept(home)
    older_copy = world.half / path.relative_to(home)
    if not running:
        damage(path, older_copy, chance)
    async with opened(home, world.gemini) as kernel:
        if running:
            await go_round(kernel, home, world.gemini)
            before = kept(home)
            damage(path, older_copy, chance)
        bytes_before = path.read_bytes() if path.exists() else b""
        done = await go_round(kernel, home, world.gemini)
        found = await examine(kernel)
    after = kept(home)
    said = "\n".join([*done.told, *found])
    where = f"seed {SEED}: {name}, {damage.__name__}, {'running' if running else 'at rest'}\n{said}"
    lost = {file: keys - after.get(file, set()) for file, keys in before.items()}
    # It is named, or nothing of it is gone that anybody could miss.
    named = name in said or (name == "knowledge.db" and "knowledge base" in said)
    replaced = (
        name == "digests.db" and damage is spoiled
    )  # the row of a copied file is written anew
    if not running and damage.__name__ in TOLD and not replaced:
        assert named, where
    elif running or name == "journal.db":
        assert named or name in REMADE or not lost.get(name), where
    if name == "journal.db" and lost.get(name):
        assert any("journal" in line for line in done.told), where
    assert SECRET not in said.replace(str(home), ""), where
    # Nothing else fails, is lost, or is paid again.
    assert set(done.failed) <= NEEDED_BY.get(name, set()), (where, done.failed)
    assert all(how.startswith("UNAVAILABLE ST") for how in done.failed.values()), done.failed
    assert {file: keys for file, keys in lost.items() if keys and file != name} == {}, where
    assert done.paid <= (len(PARTS) if name == "results.db" else 0), where
    _require_others(world.round, done, name, damage.__name__, where)
    if name in LASTING and done.failed:
        assert path.read_bytes() == bytes_before, where
        assert not [each for each in path.parent.iterdir() if ".damaged-" in each.name], where


def _require_others(whole: Round, done: Round, name: str, damage: str, where: str) -> None:
    """Contents of other files are in the answers as if nothing had been."""
    lacking = {f"{SECRET} later"} if "knowledge_ingest" in done.failed else set()
    if (name, damage) != ("journal.db", "spoiled"):
        assert done.titles >= whole.titles - lacking, where
    if name != "rows.db":
        assert set(done.sessions) == set(whole.sessions), where
        assert all(turns >= 2 for turns in done.sessions.values()), where
    if name != "usage.db":
        assert done.calls >= whole.calls - 1 - len(done.failed), where
    if name != "jobs.db":
        assert done.jobs >= whole.jobs - 1 - len(done.failed), where


def _fresh(world: World) -> Path:
    """The folder as it was after the work, in its place: results and records name paths in it."""
    home = world.whole.with_name("home")
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(world.whole, home)
    return home


def _find(home: Path, name: str) -> Path:
    (path,) = (path for path in files(home) if path.name == name)
    return path


SERVED: list[tuple[str, Damage, bool]] = [
    ("journal.db", flipped, False),
    ("rows.db", cut, False),
    ("usage.db", foreign, True),
    ("results.db", deleted, True),
]
ASKED = {
    "infra_usage": {},
    "infra_cache": {},
    "video_list_sessions": {},
    "knowledge_stats": {},
    "knowledge_search": {"query": SECRET, "search_type": "keyword"},
}


@pytest.mark.parametrize(("name", "damage", "running"), SERVED, ids=[each[0] for each in SERVED])
def test_a_server_answers_and_says_which_file_is_damaged(
    world: World,
    tmp_path: Path,
    fresh_environment: Callable[..., dict[str, str]],
    name: str,
    damage: Damage,
    *,
    running: bool,
) -> None:
    home, log = _fresh(world), tmp_path / "log"
    folders = {f"VR_{part}_DIR": str(home / part.lower()) for part in ("STATE", "CACHE")}
    path, chance = _find(home, name), random.Random(f"{SEED} {name}")
    older_copy = world.half / path.relative_to(home)

    async def ask() -> dict[str, str]:
        """Names of the tools that fail once the file is damaged."""
        environment = fresh_environment(**folders)
        if not running:
            damage(path, older_copy, chance)
        async with connect(SERVE, env=environment, cwd=home, log_file=log) as server:
            if running:
                await _failing(server)
                damage(path, older_copy, chance)
            return await _failing(server)

    failing = asyncio.run(ask())
    said = log.read_text("utf-8")
    where = f"seed {SEED}\n{failing}\n{said}"
    assert set(failing) <= NEEDED_BY.get(name, set()), where
    assert name in said + "".join(failing.values()), where
    assert SECRET not in said + "".join(failing.values()), where


async def _failing(server: ToolClient) -> dict[str, str]:
    """Words of the tools that fail, by their names."""
    failing = {}
    for tool, arguments in ASKED.items():
        answer = await server.client.call_tool(tool, arguments, raise_on_error=False)
        if answer.is_error:
            failing[tool] = "".join(getattr(block, "text", "") for block in answer.content)
    return failing
