"""A file whose bytes were changed under the store: never a crash, never a wrong record."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import structlog
from knowledge_samples import (
    CARDS,
    NOTES,
    WORDS,
    Ledger,
    WordVectors,
    deliver,
    embed_words,
    quiet_log,
    scripted_changes,
)
from structlog.testing import capture_logs
from vr_kernel import Filter, Query, VrError
from vr_plugin_knowledge.embedded_store.health import readable
from vr_plugin_knowledge.embedded_store.store import EmbeddedStore
from vr_plugin_knowledge.rebuilt import REBUILT

CHANGES = 300
Damage = Callable[[bytearray, random.Random], None]


def flip(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice([1, 1, 8, 64])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def blank(data: bytearray, chance: random.Random) -> None:
    start, length = chance.randrange(len(data)), chance.choice([16, 512, 8192, 65536])
    data[start : start + length] = bytes(len(data[start : start + length]))


def scramble(data: bytearray, chance: random.Random) -> None:
    start, length = chance.randrange(len(data)), chance.choice([16, 512, 8192])
    data[start : start + length] = chance.randbytes(len(data[start : start + length]))


def cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


DAMAGES: tuple[Damage, ...] = (flip, blank, scramble, cut)


def ledger() -> Ledger:
    made = Ledger()
    for key, fields in scripted_changes(CHANGES):
        made.write("Notes", key, fields)
    return made


async def answers(store: EmbeddedStore, told: Ledger) -> None:
    """Ask for everything; what comes back must be what was recorded."""
    live = told.live("Notes")
    for key, fields in live.items():
        record = await store.get("Notes", key, "default")
        assert record is None or text_of(record.fields) == text_of(fields)
    for word in WORDS:
        vector = embed_words(word)
        for query in (
            Query(word, mode="keyword", limit=50),
            Query(word, vector, "hybrid", limit=10),
            Query("", vector, "semantic", filters=(Filter("stars", ">", 3),), kinds=("Notes",)),
        ):
            for hit in await store.search(query):
                assert text_of(hit.record.fields) == text_of(live[hit.record.key])
    await store.count("Notes", "default", "stars")
    await store.count("Notes", "default")
    await store.count("Cards", "default")


def text_of(fields: object) -> dict[str, object]:
    return {key: value for key, value in dict(fields).items() if key != "created_at"}  # type: ignore[call-overload]


async def asked_until_answered(store: EmbeddedStore, told: Ledger) -> int:
    """Ask and deliver again, as the kernel does, as often as the store says it was rebuilt."""
    for attempt in range(5):
        try:
            await answers(store, told)
            await deliver(store, told)
        except VrError as error:
            if error.category != REBUILT:
                raise
        else:
            return attempt
    return pytest.fail("the store does not come back")


def copy_damaged(whole: Path, path: Path, seed: int) -> None:
    data = bytearray(whole.read_bytes())
    DAMAGES[seed % len(DAMAGES)](data, random.Random(seed))
    path.write_bytes(data)


async def damage_and_ask(whole: Path, path: Path, seed: int) -> None:
    """Change bytes of a copy; ask it, fill it again, and look whether all is there.

    What no question meets, such as an index that lacks rows, is named by `vr doctor`.
    """
    told = ledger()
    copy_damaged(whole, path, seed)
    store = EmbeddedStore(path, WordVectors(), quiet_log())
    await store.open([NOTES, CARDS])
    await asked_until_answered(store, told)
    if not is_sound(path):
        await store.aclose()
        return
    live = told.live("Notes")
    for _ in range(3):
        # Background work may meet the damage only now; the next search delivers all again.
        if await store.count("Notes", "default") == {"": 0}:
            await asked_until_answered(store, told)
    assert await store.count("Notes", "default") == {"": len(live)}
    for key, fields in live.items():
        record = await store.get("Notes", key, "default")
        assert record
        assert text_of(record.fields) == text_of(fields)
    await store.aclose()


def is_sound(path: Path) -> bool:
    """True when `vr doctor` finds nothing wrong with the file."""
    try:
        return readable(path).level == "ok"
    except VrError:
        return False


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "knowledge.db"

    async def fill() -> None:
        store = EmbeddedStore(path, WordVectors(), quiet_log())
        await store.open([NOTES, CARDS])
        await deliver(store, ledger())
        await store.aclose()

    asyncio.run(fill())
    return path


# 62 and 158 once gave a record a wrong key, and a vector a length beyond all numbers.
@pytest.mark.parametrize("seed", [0, 2, 3, 10, 62, 126, 158])
async def test_a_damaged_file_answers_rightly_or_is_rebuilt(
    whole: Path, tmp_path: Path, seed: int
) -> None:
    await damage_and_ask(whole, tmp_path / "knowledge.db", seed)


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_two_hundred_damages(whole: Path, tmp_path: Path) -> None:
    for seed in range(200):
        folder = tmp_path / str(seed)
        folder.mkdir()
        await damage_and_ask(whole, folder / "knowledge.db", seed)


SECRET = "glacier"
SPOIL_RECORD = "UPDATE item SET fields = CAST(? AS TEXT) WHERE key = (SELECT min(key) FROM item)"


def spoil(path: Path, change: str) -> None:
    """Put into one row what is no text."""
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(change, (b"\xff " + SECRET.encode(),)).rowcount == 1


async def test_a_damaged_record_is_named_by_its_key_and_comes_back(
    whole: Path, tmp_path: Path
) -> None:
    path, told = tmp_path / "knowledge.db", ledger()
    shutil.copyfile(whole, path)
    spoil(path, SPOIL_RECORD)
    key = min(told.live("Notes"))
    found = readable(path)
    assert (found.level, found.what.endswith(f"item {key}.")) == ("fault", True)
    with capture_logs() as lines:
        store = EmbeddedStore(path, WordVectors(), structlog.get_logger())
        await store.open([NOTES, CARDS])
        await asked_until_answered(store, told)
        assert await store.count("Notes", "default") == {"": len(told.live("Notes"))}
        await store.aclose()
    assert any("damaged" in line["event"] for line in lines)
    assert SECRET not in f"{lines} {found}"
    assert is_sound(path)
