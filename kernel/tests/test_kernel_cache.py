"""The result cache: right answers or none, whatever happened to its file."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vr_kernel import VrError, cache_key, load_config
from vr_kernel.calls.result_cache import ResultCache
from vr_kernel.state import CacheStats
from vr_kernel.state.sqlite.cache import SqliteCache

KEYS = [cache_key(content=number) for number in range(8)]
VALUES = {key: {"answer": number, "text": "x" * 300} for number, key in enumerate(KEYS)}
MUTATIONS = 1000
PARTS = 40
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
few = settings(max_examples=10)
Warnings = list[VrError]


@pytest.fixture
def warnings() -> Warnings:
    return []


@pytest.fixture
def cache(tmp_path: Path, warnings: Warnings) -> Iterator[ResultCache]:
    with closing(
        ResultCache(SqliteCache(tmp_path / "results.db"), ttl_days=30, warn=warnings.append)
    ) as cache:
        yield cache


@few
@given(values=st.dictionaries(st.text(), st.dictionaries(st.text(), json_values), max_size=5))
def test_what_was_set_comes_back(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "round-trip.db"

    async def round_trip() -> None:
        with closing(ResultCache(SqliteCache(path), ttl_days=30, warn=_fail)) as cache:
            await cache.clear()
            for key, value in values.items():
                await cache.set(key, value)
            assert {key: await cache.get(key) for key in values} == values
            assert await cache.get("".join(values) + "?") is None

    asyncio.run(round_trip())


@pytest.mark.parametrize(("age_days", "found"), [(0, True), (29.9, True), (30.1, False)])
async def test_a_value_past_its_age_is_missing(
    cache: ResultCache, age_days: float, found: bool
) -> None:
    await cache.set("key", {"answer": 1})
    cache.close()
    _execute(cache.path, f"UPDATE result SET cached_at = cached_at - {age_days * 86_400}")
    assert (await cache.get("key") is not None) is found
    await cache.set("key", {"answer": 2})
    assert await cache.get("key") == {"answer": 2}


async def test_the_age_limit_is_a_setting(
    start: Any, environ: dict[str, str], tmp_path: Path
) -> None:
    for days, found in (("30", True), ("2", False)):
        given_days = environ | {"GEMINI_CACHE_TTL_DAYS": days}
        kernel = await start(config=load_config(given_days, working_folder=tmp_path))
        if found:
            await kernel.services.cache.set("key", {"answer": 1})
            _execute(
                kernel.services.cache.path, "UPDATE result SET cached_at = cached_at - 3 * 86400"
            )
        assert (await kernel.services.cache.get("key") is not None) is found


def test_every_part_changes_the_key() -> None:
    parts: dict[str, Any] = {
        "content": "a" * 64,
        "tool": "video_analyze",
        "instruction": "What is said?",
        "start": 0.0,
        "end": None,
        "models": ["a", "b"],
        "schema": {"type": "object"},
        "prompt_version": 1,
        "language": "",
    }
    others: dict[str, Any] = {
        "content": "b" * 64,
        "tool": "video_scenes",
        "instruction": "What is said? ",
        "start": 0.5,
        "end": 0,
        "models": ["b", "a"],
        "schema": {"type": "array"},
        "prompt_version": "1",
        "language": None,
    }
    variants = [parts, *(parts | {name: value} for name, value in others.items())]
    variants += [{k: v for k, v in parts.items() if k != name} for name in parts]
    keys = [cache_key(**variant) for variant in variants]
    assert all(one != other for one, other in combinations(keys, 2))
    assert cache_key(**dict(reversed(parts.items()))) == keys[0]


@few
@given(one=st.dictionaries(st.text(), json_values), other=st.dictionaries(st.text(), json_values))
def test_keys_are_equal_only_for_equal_parts(one: dict[str, Any], other: dict[str, Any]) -> None:
    def canonical(parts: dict[str, Any]) -> str:
        return json.dumps(parts, sort_keys=True)

    assert (cache_key(**one) == cache_key(**other)) is (canonical(one) == canonical(other))


async def test_a_folder_that_cannot_be_written_means_no_cache_and_one_warning(
    tmp_path: Path, warnings: Warnings
) -> None:
    (tmp_path / "file").write_text("in the way")
    with closing(
        ResultCache(
            SqliteCache(tmp_path / "file" / "results.db"), ttl_days=30, warn=warnings.append
        )
    ) as cache:
        for number in range(3):
            await cache.set("key", {"answer": number})
            assert await cache.get("key") is None
        assert await cache.entries(10) == []
        assert await cache.clear() == 0
        assert await cache.stats() == CacheStats(0, 0)
    (warning,) = warnings
    assert warning.code == "UNAVAILABLE"
    assert str(tmp_path / "file") in warning.hint


async def test_a_kernel_works_without_a_cache_and_warns_once(
    start: Any, environ: dict[str, str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    blocked = environ | {"VR_CACHE_DIR": str(tmp_path / "file")}
    kernel = await start(config=load_config(blocked, working_folder=tmp_path))
    for _ in range(3):
        report = await kernel.call("infra_cache", action="stats")
        assert report.total_files == 0
    output = capfd.readouterr()
    assert output.err.count("results are not cached") == 1
    assert output.out == ""


OTHER_PROCESS = """
import asyncio, pathlib, sys
from vr_kernel.calls.result_cache import ResultCache
from vr_kernel.state.sqlite.cache import SqliteCache

async def main():
    path, warn = pathlib.Path(sys.argv[1]), lambda error: sys.exit(str(error))
    cache = ResultCache(SqliteCache(path), ttl_days=30, warn=warn)
    for number in range(100):
        await cache.set(f"{sys.argv[2]} {number}", {"from": sys.argv[2], "number": number})
    print(await cache.get("from the test"))
    cache.close()

asyncio.run(main())
"""


async def test_processes_share_a_cache(cache: ResultCache) -> None:
    await cache.set("from the test", {"answer": 42})
    others = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", OTHER_PROCESS, str(cache.path), name, stdout=subprocess.PIPE
        )
        for name in ("one", "two")
    ]
    for number in range(100):
        await cache.set(f"own {number}", {"from": "own", "number": number})
    for other in others:
        output, _ = await other.communicate()
        assert output.decode().strip() == "{'answer': 42}"
        assert other.returncode == 0
    for name in ("own", "one", "two"):
        found = [await cache.get(f"{name} {number}") for number in range(100)]
        assert found == [{"from": name, "number": number} for number in range(100)]


def _execute(path: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


# What may happen to a cache file. Each mutation gets the file and a source of randomness.


def _flip_bytes(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice([1, 1, 3, 30, 300])):
        data[chance.randrange(len(data))] = chance.randrange(256)
    path.write_bytes(data)


def _flip_header(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[chance.randrange(100)] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def _truncate(path: Path, chance: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: chance.randrange(len(data))])


def _append(path: Path, chance: random.Random) -> None:
    path.write_bytes(path.read_bytes() + chance.randbytes(chance.randrange(1, 9000)))


def _zero_a_page(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    start = 4096 * chance.randrange(len(data) // 4096)
    data[start : start + 4096] = bytes(4096)
    path.write_bytes(data)


def _text_file(path: Path, chance: random.Random) -> None:
    path.write_text("Dear diary, this is no database.\n" * chance.randrange(1, 500))


def _noise_file(path: Path, chance: random.Random) -> None:
    path.write_bytes(chance.randbytes(chance.randrange(1, 20_000)))


def _foreign_journal_files(path: Path, chance: random.Random) -> None:
    for suffix in chance.sample(["-wal", "-shm", "-journal"], chance.randrange(1, 4)):
        path.with_name(path.name + suffix).write_bytes(chance.randbytes(chance.randrange(5000)))


def _damage_and_block_healing(path: Path, chance: random.Random) -> None:
    _text_file(path, chance)
    path.with_name(path.name + "-wal").mkdir()


def _foreign_value(path: Path, chance: random.Random) -> None:
    value = chance.choice(
        ["", "[]", "null", "1", '"text"', "{", '{"answer": 99}', "[[[", b"\xff\xfe", b"{}", 7, 1.5]
    )
    column = chance.choice(["value", "checksum", "cached_at", "content_id", "tool", "model"])
    _execute(path, f"UPDATE result SET {column} = ? WHERE key = ?", value, chance.choice(KEYS))


def _text_that_is_no_utf8(path: Path, chance: random.Random) -> None:
    column = chance.choice(["value", "checksum", "content_id", "tool", "model"])
    _execute(path, f"UPDATE result SET {column} = CAST(x'fffe41' AS TEXT)")


def _swapped_answers(path: Path, chance: random.Random) -> None:
    one, other = chance.sample(KEYS, 2)
    _execute(
        path,
        "INSERT OR REPLACE INTO result SELECT ?, value, checksum, content_id, tool, model,"
        " cached_at FROM result WHERE key = ?",
        one,
        other,
    )


FOREIGN_SCHEMAS = [
    "CREATE TABLE other (a)",
    "CREATE TABLE result (a, b)",
    "CREATE TABLE result (key TEXT, value TEXT)",
    "CREATE TABLE result (key INTEGER PRIMARY KEY, {columns})",
    "CREATE TABLE result (key, {columns}, extra NOT NULL)",
    "CREATE TABLE result (key CHECK (key = 'no'), {columns})",
    "CREATE VIEW result AS SELECT 1 AS key, '{{}}' AS value, '' AS checksum",
]


def _foreign_schema(path: Path, chance: random.Random) -> None:
    path.unlink()
    columns = "value, checksum, content_id, tool, model, cached_at"
    _execute(path, chance.choice(FOREIGN_SCHEMAS).format(columns=columns))


def _foreign_trigger(path: Path, chance: random.Random) -> None:
    moment = chance.choice(["BEFORE INSERT", "AFTER INSERT", "BEFORE DELETE", "AFTER DELETE"])
    action = chance.choice(
        ["SELECT RAISE(ABORT, 'no')", "SELECT RAISE(IGNORE)", "UPDATE result SET value = '{}'"]
    )
    _execute(path, f"CREATE TRIGGER t {moment} ON result BEGIN {action}; END")


def _empty_file(path: Path, chance: random.Random) -> None:
    path.write_bytes(b"")


HEALED: list[Callable[[Path, random.Random], None]] = [
    _flip_bytes,
    _flip_bytes,
    _flip_bytes,
    _flip_header,
    _truncate,
    _truncate,
    _append,
    _zero_a_page,
    _text_file,
    _noise_file,
    _foreign_journal_files,
    _foreign_value,
    _foreign_value,
    _text_that_is_no_utf8,
    _swapped_answers,
    _foreign_schema,
    _empty_file,
]
UNHEALED = [_damage_and_block_healing, _foreign_trigger]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache file with an answer for every key."""

    async def fill() -> Path:
        path = tmp_path_factory.mktemp("filled") / "results.db"
        with closing(ResultCache(SqliteCache(path), ttl_days=30, warn=_fail)) as cache:
            for key, value in VALUES.items():
                await cache.set(key, value, content_id="c", tool="t_x", model="m")
        return path

    return asyncio.run(fill())


async def _require_truth(cache: ResultCache) -> None:
    for key, value in VALUES.items():
        assert await cache.get(key) in (value, None)
    await cache.stats()
    await cache.entries(100)


async def _require_healed(cache: ResultCache) -> None:
    """Damage may show only when its page is read; then the file is new, and the next try works."""
    new = {key: {"new": key} for key in KEYS[:3]}
    for _attempt in range(2):
        for key, value in new.items():
            await cache.set(key, value)
        listed, stats = await cache.entries(100), await cache.stats()
        if {key: await cache.get(key) for key in new} == new and listed:
            assert stats.entries == len(listed) >= len(new)
            return
    pytest.fail("it did not heal")


@pytest.mark.parametrize(
    "part", [*range(2), *(pytest.param(part, marks=pytest.mark.slow) for part in range(2, PARTS))]
)
async def test_a_damaged_file_gives_no_error_and_no_wrong_answer_and_heals(
    filled: Path, tmp_path: Path, part: int
) -> None:
    async def check(number: int) -> None:
        path = tmp_path / str(number) / "results.db"
        path.parent.mkdir()
        shutil.copyfile(filled, path)
        mutate = HEALED[number // PARTS % len(HEALED)]
        mutate(path, random.Random(number))
        with closing(
            ResultCache(SqliteCache(path), ttl_days=30, warn=_fail_of(mutate, number))
        ) as cache:
            await _require_truth(cache)
            await _require_healed(cache)

    await asyncio.gather(*map(check, range(part, MUTATIONS, PARTS)))


@pytest.mark.parametrize("mutate", UNHEALED)
async def test_what_cannot_be_healed_is_no_error_either(
    filled: Path, tmp_path: Path, mutate: Callable[[Path, random.Random], None]
) -> None:
    for number in range(30):
        path = tmp_path / str(number) / "results.db"
        path.parent.mkdir()
        shutil.copyfile(filled, path)
        mutate(path, random.Random(number))
        warnings: Warnings = []
        with closing(ResultCache(SqliteCache(path), ttl_days=30, warn=warnings.append)) as cache:
            await _require_truth(cache)
            await cache.set(KEYS[0], {"new": 1})
            assert await cache.get(KEYS[0]) in ({"new": 1}, VALUES[KEYS[0]], None)
        assert len(warnings) <= 1


@pytest.mark.parametrize("mutate", [_flip_bytes, _truncate, _text_file, _zero_a_page])
async def test_damage_under_an_open_cache_gives_no_wrong_answer(
    filled: Path, tmp_path: Path, mutate: Callable[[Path, random.Random], None]
) -> None:
    for number in range(25):
        path = tmp_path / str(number) / "results.db"
        path.parent.mkdir()
        shutil.copyfile(filled, path)
        with closing(
            ResultCache(SqliteCache(path), ttl_days=30, warn=_fail_of(mutate, number))
        ) as cache:
            assert await cache.get(KEYS[0]) == VALUES[KEYS[0]]
            mutate(path, random.Random(number))
            await _require_truth(cache)
        with closing(
            ResultCache(SqliteCache(path), ttl_days=30, warn=_fail_of(mutate, number))
        ) as cache:
            await _require_truth(cache)
            await _require_healed(cache)


def _fail(error: VrError) -> None:
    pytest.fail(str(error))


def _fail_of(mutate: Any, number: int) -> Callable[[VrError], None]:
    def fail(error: VrError) -> None:
        pytest.fail(f"{mutate.__name__} {number}: {error} ({error.hint})")

    return fail
