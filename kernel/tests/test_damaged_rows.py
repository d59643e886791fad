"""A damaged row hides itself alone, and is named without a word of what it held."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from gemini_service import rows_of
from ledger_state import ledger_state
from vr_kernel import VrError
from vr_kernel.calls.result_cache import ResultCache
from vr_kernel.files.digests import Digests
from vr_kernel.gemini.registry import KeptAtGemini, Upload
from vr_kernel.generation import Usage
from vr_kernel.jobs.jobs import JobLedger
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.jobs.steps import Steps
from vr_kernel.journal.dead_letters import DeadLetters
from vr_kernel.log import Log
from vr_kernel.models.usage import UsageLedger
from vr_kernel.records import Change
from vr_kernel.state import Entry
from vr_kernel.state.sqlite.cache import SqliteCache
from vr_kernel.state.sqlite.journal.journal import SqliteJournal
from vr_kernel.state.sqlite.ledger import open_ledger
from vr_kernel.state.sqlite.rows import SqliteRows
from vr_kernel.state.sqlite.usage import SqliteUsage
from vr_kernel.state.usage import Attempt
from vr_kernel.storage.database import Database

SECRET = "glacier"
"""What damaged rows hold: it may stand in no line."""
NOT_TEXT = b"\xff\xfe " + SECRET.encode() + b" \x80"
Told = list[VrError]
Tell = Callable[[VrError], None]


@pytest.fixture
def told() -> Told:
    return []


def damage(path: Path, statement: str, value: object = NOT_TEXT) -> None:
    """Change what stands in a file behind everybody's back; bytes become text that is none."""
    place = "CAST(? AS TEXT)" if isinstance(value, bytes) else "?"
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(statement.replace("?", place), (value,)).rowcount == 1


def require_named(told: Told, *words: str) -> None:
    """One damage was told, once, with these words and nothing of the content."""
    (error,) = told
    assert error.category == "STATE_DAMAGED"
    assert all(word in error.message for word in words), error.message
    assert SECRET not in f"{error.message} {error.hint}"


SPOILED = [NOT_TEXT, 7, f'{{"title": "{SECRET}', "[1]"]
"""No UTF-8, of another type, broken JSON, JSON of another shape."""


@pytest.mark.parametrize("value", SPOILED)
@pytest.mark.parametrize("column", ["fields", "provenance"])
async def test_a_damaged_record_of_the_journal(
    tmp_path: Path, told: Told, column: str, value: object
) -> None:
    path = tmp_path / "journal.db"
    with closing(SqliteJournal(path, told.append)) as journal:
        for key in "abc":
            entry = Entry("Notes", key, {"title": f"{SECRET} {key}"})
            await journal.commit([entry], workspace="default", provenance={"tool": "t"})
        damage(path, f"UPDATE record SET {column} = ? WHERE key = 'b'", value)
        for _ in range(2):
            assert [change.key for change in await journal.changes(0)] == ["a", "c"]
            assert [change.key for change in await journal.changes(1, limit=1)] == ["c"]
        assert journal.left_out == 1
        require_named(told, "journal.db", "record 2")
        # What is recorded anew takes its place.
        await journal.commit(
            [Entry("Notes", "b", {"title": "new"}, merge=True)], workspace="default", provenance={}
        )
        assert [change.key for change in await journal.changes(0)] == ["a", "c", "b"]


async def test_a_damaged_former_version(tmp_path: Path, told: Told) -> None:
    path = tmp_path / "journal.db"
    with closing(SqliteJournal(path, told.append)) as journal:
        for number in range(3):
            entry = Entry("Notes", "a", {"title": f"{SECRET} {number}"}, history=True)
            await journal.commit([entry], workspace="default", provenance={})
        damage(
            path, "UPDATE former SET fields = ? WHERE fields LIKE '%0%' AND created_at IS NOT NULL"
        )
        former: list[Change] = await journal.former("default", "Notes", "a")
        assert [change.fields for change in former] == [{"title": f"{SECRET} 1"}]
        require_named(told, "journal.db", "former", "Notes / a")


async def test_a_damaged_attempt_of_the_usage_ledger(tmp_path: Path, told: Told) -> None:
    path = tmp_path / "usage.db"
    with closing(UsageLedger(SqliteUsage(path, tell=told.append), told.append)) as ledger:
        for number in range(3):
            attempt = Attempt(SECRET, f"t_{number}", "t", "me", "p", "m", "generate", 1)
            row = await ledger.begin(attempt)
            await ledger.paid(row, "m", Usage(calls=1, input_tokens=10))
        damage(path, "UPDATE attempt SET input_tokens = ? WHERE id = 2")
        for _ in range(2):
            rows = await ledger.report("tool")
            assert [(row.key, row.input_tokens) for row in rows] == [("t_0", 10), ("t_2", 10)]
        require_named(told, "usage.db", "attempt 2")
        assert ["1" in remark for remark in ledger.remarks()] == [True]
        damage(path, "UPDATE attempt SET tool = ? WHERE id = 3")
        assert [row.key for row in await ledger.report("tool")] == ["t_0"]
        assert [row.attempts for row in await ledger.report("plugin")] == [2]
        assert len(await ledger.recent(9)) == 1


UPLOAD = Upload(
    digest="d",
    mime="video/mp4",
    account="a",
    uri=f"https://x/{SECRET}",
    name="files/1",
    size=3,
    expires_at=9e9,
    active=True,
)


@pytest.mark.parametrize("value", [NOT_TEXT, b'{"digest": "d"', b'{"digest": "d"}'])
async def test_a_damaged_upload(tmp_path: Path, told: Told, value: bytes) -> None:
    path = tmp_path / "rows.db"
    with closing(SqliteRows(path, told.append)) as space:
        registry = KeptAtGemini(rows_of(space), Log("critical", "console"))
        for mime in ("video/mp4", "video/webm"):
            await registry.keep_upload(UPLOAD.model_copy(update={"mime": mime}))
        damage(path, "UPDATE entry SET value = ? WHERE key = 'upload/d/video/mp4/a'", value)
        assert [each.mime for each in await registry.uploads_of("d")] == ["video/webm"]
        if value.endswith(b"}"):  # sound, but of another form
            assert told == []
        else:
            require_named(told, "rows.db", "gemini / upload/d/video/mp4/a")
        await registry.keep_upload(UPLOAD)
        assert len(await registry.uploads_of("d")) == 2


async def test_a_damaged_refusal(tmp_path: Path, told: Told) -> None:
    path = tmp_path / "rows.db"
    with closing(SqliteRows(path, told.append)) as space:
        letters = DeadLetters(rows_of(space))
        for key in "ab":
            change = Change(1, "default", "Notes", key, {}, {}, "")
            await letters.add("embedded", change, ValueError(SECRET), 5)
        damage(path, "UPDATE entry SET value = ? WHERE value LIKE '%\"a\"%'")
        assert [each.key for each in await letters.list("embedded")] == ["b"]
        require_named(told, "rows.db", "embedded/")


async def test_a_damaged_result(tmp_path: Path, told: Told) -> None:
    path = tmp_path / "results.db"
    with closing(
        ResultCache(SqliteCache(path, told.append), ttl_days=30, warn=told.append)
    ) as cache:
        for key in "ab":
            await cache.set(key, {"answer": f"{SECRET} {key}"}, content_id="c", tool="t")
        damage(path, "UPDATE result SET value = ? WHERE key = 'a'")
        damage(path, "UPDATE result SET tool = ? WHERE key = 'a'")
        assert {entry.tool for entry in await cache.entries(9)} == {"t", "(damaged)"}
        await cache.move("a", "z")
        assert await cache.get("a") is None
        assert await cache.get("b") == {"answer": f"{SECRET} b"}
        require_named(told, "results.db", "result a")
        assert (await cache.stats()).entries == 1


@pytest.mark.parametrize("value", [NOT_TEXT, "abc", 7])
async def test_a_damaged_digest(tmp_path: Path, told: Told, value: object) -> None:
    path, file = tmp_path / "digests.db", tmp_path / "clip.mp4"
    file.write_bytes(b"content")
    with closing(Digests(path)) as digests, file.open("rb") as opened:
        whole = await digests.sha256(opened)
    damage(path, "UPDATE digest SET sha256 = ?", value)
    with closing(Digests(path, told.append)) as digests, file.open("rb") as opened:
        assert await digests.sha256(opened) == whole
    require_named(told, "digests.db", "clip.mp4")


async def test_damaged_rows_of_the_job_ledger(tmp_path: Path, told: Told) -> None:
    path = tmp_path / "jobs.db"
    ids = [number * 32 for number in "ab"]
    with closing(open_ledger(path, told.append)) as ledger:
        leases = LedgerLeases(ledger_state(ledger, lease_s=20))
        jobs, steps = JobLedger(leases.state, leases), Steps(ledger_state(ledger))
        for each in ids:
            arguments = {"text": SECRET}
            await jobs.table.create(
                id=each, tool="t", arguments=arguments, principal="me", workspace="default"
            )
            await steps.commit("scope", each, SECRET)
        damage(path, f"UPDATE job SET arguments = ? WHERE id = '{ids[0]}'")
        found = {job.id: job.error and job.error["category"] for job in await jobs.table.list("me")}
        assert found == {ids[0]: "JOB_DAMAGED", ids[1]: None}
        require_named(told, "jobs.db", f"job {ids[0]}")
        told.clear()
        damage(path, f"UPDATE step SET reply = ? WHERE key = '{ids[0]}'")
        assert [await steps.find("scope", each) for each in ids] == [None, SECRET]
        require_named(told, "jobs.db", f"step scope / {ids[0]}")
        await leases.aclose()


@pytest.mark.parametrize(
    ("column", "value"), [("name", NOT_TEXT), ("opening", NOT_TEXT), ("seq", "x")]
)
async def test_a_damaged_position_of_the_journal(
    tmp_path: Path, told: Told, column: str, value: object
) -> None:
    entry = Entry("Things", "one", {"text": "x"})
    for run in range(2):
        with closing(open_ledger(tmp_path / "jobs.db", told.append)) as ledger:
            journal = SqliteJournal(tmp_path / "journal.db", ledger=lambda: ledger)
            await journal.commit([entry], workspace="default", provenance={})
            await journal.aclose()
        if run == 0:
            damage(tmp_path / "jobs.db", f"UPDATE journal SET {column} = ?", value)
    require_named(told, "jobs.db", "journal")


FOREIGN = "CREATE TABLE glacier (title TEXT)"
Spoil = Callable[[Path], None]


def overwrite(path: Path) -> None:
    path.write_bytes(f"{SECRET} no database at all ".encode() * 400)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def replace(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(FOREIGN)


def spoil_names(path: Path) -> None:
    """Let the schema hold text of a record, which SQLite's sentences quote."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = 'CREATE glacier' WHERE name = 'item'")


def listing(folder: Path) -> list[Path]:
    return [*folder.iterdir()]


SCHEMA = "CREATE TABLE IF NOT EXISTS item (name TEXT PRIMARY KEY NOT NULL, size INTEGER);"


def _fill(connection: sqlite3.Connection) -> None:
    connection.executemany(
        "INSERT INTO item VALUES (?, 1)", [(f"{SECRET} {number}",) for number in range(2000)]
    )


def _read(connection: sqlite3.Connection) -> list[Any]:
    return connection.execute("SELECT name FROM item WHERE name > ''").fetchall()


@pytest.mark.parametrize("disposable", [False, True])
@pytest.mark.parametrize("spoil", [overwrite, cut, replace, spoil_names])
async def test_a_damaged_file_is_called_so_and_quoted_nowhere(
    tmp_path: Path, told: Told, spoil: Spoil, *, disposable: bool
) -> None:
    path = tmp_path / "items.db"
    with closing(Database(path, SCHEMA)) as database:
        await database.run(_fill)
    spoil(path)
    before = path.read_bytes()
    with closing(Database(path, SCHEMA, disposable=disposable, tell=told.append)) as database:
        if disposable:
            assert await database.read(_read) == []
        else:
            with pytest.raises(VrError) as caught:
                await database.read(_read)
            told.append(caught.value)
            assert caught.value.__cause__ is None
    require_named(told, "items.db", "damaged")
    if disposable:
        (kept,) = [each for each in listing(tmp_path) if ".damaged-" in each.name]
        assert str(kept) in told[0].hint
        assert kept.read_bytes() == before
    else:
        assert path.read_bytes() == before
