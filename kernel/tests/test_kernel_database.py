"""The SQLite file below journal, cache, digests and vectors."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from vr_kernel import VrError
from vr_kernel.storage.database import PAGE_BYTES, Database
from vr_testing.full_disk import no_room
from waiting import until

SCHEMA = "CREATE TABLE IF NOT EXISTS item (name TEXT PRIMARY KEY NOT NULL);"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(Database(tmp_path / "made" / "here" / "items.db", SCHEMA)) as database:
        yield database


def _add(*names: str | None):
    def work(connection: sqlite3.Connection) -> None:
        connection.executemany("INSERT INTO item VALUES (?)", [(name,) for name in names])

    return work


def _names(connection: sqlite3.Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT name FROM item ORDER BY name")]


async def test_work_is_committed_and_seen_by_another_connection(database: Database) -> None:
    await database.run(_add("a"))
    with closing(sqlite3.connect(database.path)) as other:
        assert _names(other) == ["a"]


async def test_nothing_is_made_before_first_use(database: Database) -> None:
    assert not database.path.parent.exists()
    await database.run(_names)
    assert database.path.is_file()


async def test_a_closed_file_opens_again(database: Database) -> None:
    await database.run(_add("a"))
    database.close()
    database.close()
    assert await database.run(_names) == ["a"]


async def test_who_only_reads_does_not_wait_for_a_writer(database: Database) -> None:
    await database.run(_add("a"))
    with (
        closing(Database(database.path, SCHEMA)) as opened_later,
        closing(sqlite3.connect(database.path, isolation_level=None)) as writer,
    ):
        writer.execute("BEGIN IMMEDIATE")
        _add("b")(writer)
        async with asyncio.timeout(5):  # half of what a writer waits before it gives up
            assert [await it.read(_names) for it in (database, opened_later)] == [["a"], ["a"]]
        writer.execute("COMMIT")
    assert await database.read(_names) == ["a", "b"]


async def test_work_that_fails_leaves_nothing_behind(database: Database) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        _add("a", "b")(connection)
        raise LookupError("half way")

    with pytest.raises(LookupError, match="half way"):
        await database.run(fail)
    with pytest.raises(VrError) as caught:
        await database.run(_add("c", None))
    assert caught.value.code == "UNAVAILABLE"
    await database.run(_add("d"))
    assert await database.run(_names) == ["d"]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Another writer has the file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        yield
        writer.execute("ROLLBACK")


async def test_who_writes_at_once_waits_for_the_disk_together(database: Database) -> None:
    names = [f"{number:03}" for number in range(100)]
    await database.run(_names)
    log = database.path.with_name("items.db-wal")
    before = log.stat().st_size
    with _locked(database.path):
        writing = [asyncio.ensure_future(database.run(_add(name))) for name in names]
        await asyncio.sleep(0)  # each has asked now; the lock is given back after that
    await asyncio.gather(*writing)
    assert await database.read(_names) == names
    assert log.stat().st_size - before < len(names) * PAGE_BYTES / 4  # a page a commit, at least


async def test_one_that_fails_costs_the_others_nothing(database: Database) -> None:
    await database.run(_names)
    with _locked(database.path):
        works = [_add("a"), _add("b", None), _add("c"), _add("a"), _add("d")]
        writing = [asyncio.ensure_future(database.run(work)) for work in works]
        await asyncio.sleep(0)
    outcomes = await asyncio.gather(*writing, return_exceptions=True)
    assert [getattr(it, "code", it) for it in outcomes] == [
        None, "UNAVAILABLE", None, "UNAVAILABLE", None
    ]  # fmt: skip
    assert await database.read(_names) == ["a", "c", "d"]


async def test_work_that_is_cancelled_before_its_turn_is_not_done(database: Database) -> None:
    await database.run(_names)
    with _locked(database.path):
        first = asyncio.ensure_future(database.run(_add("a")))
        await asyncio.sleep(0)
        await until(lambda: not database._waiting)  # its transaction waits for the lock
        second = asyncio.ensure_future(database.run(_add("b")))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait([second])
    await first
    assert await database.read(_names) == ["a"]


async def test_a_loop_that_closed_meanwhile_is_in_nobodys_way(database: Database) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def work(connection: sqlite3.Connection) -> None:
        begun.set()
        go_on.wait()
        _add("a")(connection)

    def leave() -> None:
        async def begin() -> None:
            waiting = asyncio.ensure_future(database.run(work))
            await asyncio.to_thread(begun.wait)
            waiting.cancel()

        asyncio.run(begin())

    await asyncio.to_thread(leave)
    others = [asyncio.ensure_future(database.run(_add(name))) for name in "bc"]
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(*others)
    assert await database.read(_names) == ["a", "b", "c"]


async def test_a_file_that_was_removed_is_made_anew_for_all_who_share_it(tmp_path: Path) -> None:
    path = tmp_path / "items.db"
    with closing(Database(path, SCHEMA)) as one, closing(Database(path, SCHEMA)) as other:
        await one.run(_add("before"))
        assert await other.read(_names) == ["before"]
        for file in await asyncio.to_thread(lambda: list(tmp_path.iterdir())):
            file.unlink()
        await other.run(_add("a"))
        await one.run(_add("b"))
        assert await one.read(_names) == await other.read(_names) == ["a", "b"]


async def _replaced(one: Database, backup: Path) -> None:
    """A backup is put in the place of the file, while what was recorded since stands in the log."""
    with closing(sqlite3.connect(one.path)) as connection:
        connection.execute("VACUUM INTO ?", (str(backup),))
    for number in range(60):
        await one.run(_add(f"after {number}", f"{number} after"))
    await asyncio.to_thread(backup.replace, one.path)


def _aside(folder: Path) -> list[str]:
    return [each.name.rpartition("-")[2] for each in folder.glob("items.db.damaged-*")]


def _soundness(connection: sqlite3.Connection) -> str:
    return str(connection.execute("PRAGMA integrity_check").fetchone()[0])


async def test_the_log_of_a_former_file_is_not_played_into_the_one_in_its_place(
    tmp_path: Path,
) -> None:
    path = tmp_path / "items.db"
    with closing(Database(path, SCHEMA)) as one, closing(Database(path, SCHEMA)) as other:
        await one.run(_add("before"))
        await other.run(_add("also before"))
        await _replaced(one, tmp_path / "backup")
        await one.run(_add("a"))
        await other.run(_add("b"))
        for each in (one, other):
            assert await each.read(_names) == ["a", "also before", "b", "before"]
            assert await each.read(_soundness) == "ok"
    assert _aside(tmp_path) == ["wal"], "what was recorded in the former file can be looked for"


async def test_a_log_that_somebody_uses_with_the_new_file_stays_with_it(tmp_path: Path) -> None:
    path = tmp_path / "items.db"
    with closing(Database(path, SCHEMA)) as one:
        await one.run(_add("before"))
        await _replaced(one, tmp_path / "backup")
        with closing(sqlite3.connect(path, isolation_level=None)) as another:
            another.execute("SELECT * FROM item").fetchone()
            log = path.with_name("items.db-wal").stat().st_ino
            await one.read(_names)
            assert path.with_name("items.db-wal").stat().st_ino == log
    assert not _aside(tmp_path)


@pytest.mark.parametrize("removed", [["wal"], ["shm"], ["wal", "shm"]], ids="+".join)
async def test_a_log_that_is_removed_under_an_open_file_loses_nothing(
    tmp_path: Path, removed: list[str]
) -> None:
    path, told = tmp_path / "items.db", []
    with closing(Database(path, SCHEMA, tell=told.append)) as one:
        for number in range(60):
            await one.run(_add(f"before {number}"))
        for ending in removed:
            path.with_name(f"items.db-{ending}").unlink()
        await one.run(_add("after"))
        with closing(sqlite3.connect(path)) as another:
            assert len(_names(another)) == 61
            assert _soundness(another) == "ok"
        assert len(await one.read(_names)) == 61
    (error,) = told
    assert "items.db was removed while it was open; nothing of it is lost." in error.message


OTHERS = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute(sys.argv[2])
connection.execute("INSERT INTO item VALUES ('theirs')")
print("written", flush=True)
sys.stdin.read()
"""


@contextmanager
def _another_process(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """One that has written to the file, and has it open until its stdin ends."""
    command = [sys.executable, "-c", OTHERS, str(path), SCHEMA]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        yield process
        process.communicate()


@pytest.mark.parametrize("stays", [True, False])
async def test_where_another_process_began_a_log_what_was_in_the_lost_one_is_kept_apart(
    tmp_path: Path, stays: bool
) -> None:
    path, told = tmp_path / "items.db", []
    with closing(Database(path, SCHEMA, tell=told.append)) as one:
        await one.run(_add("before"))
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint")
        await one.run(_add("ours"))
        for ending in ("wal", "shm"):
            path.with_name(f"items.db-{ending}").unlink()
        with _another_process(path) as other:
            if not stays:
                other.communicate()
            await one.run(_add("after"))
            found = await one.read(_names)
            assert await one.read(_soundness) == "ok"
    (error,) = told
    kept = Path(error.message.rpartition("what was recorded until then is in ")[2][:-1])
    assert kept.name.startswith("items.db.parted-")
    with closing(sqlite3.connect(kept)) as copy:
        assert _names(copy) == ["before", "ours"]
        assert _soundness(copy) == "ok"
    if stays or sys.version_info >= (3, 12):  # before, SQLite writes the rest when it closes
        assert found == ["after", "before", "theirs"]
    assert {"after", "before"} <= {*found}


def _parted(folder: Path) -> list[Path]:
    return list(folder.glob("*.parted-*"))


async def test_without_room_no_half_of_a_lost_log_is_kept(tmp_path: Path) -> None:
    path, told = tmp_path / "items.db", []
    with closing(Database(path, SCHEMA, tell=told.append)) as one:
        await one.run(_add("ours"))
        for ending in ("wal", "shm"):
            path.with_name(f"items.db-{ending}").unlink()
        with _another_process(path):
            with no_room(PAGE_BYTES):
                await one.read(_names)
            assert "what was recorded last may be lost" in told[0].message
            assert not _parted(tmp_path)


async def test_calls_of_many_threads_take_turns(database: Database) -> None:
    busy = threading.Lock()

    def alone(connection: sqlite3.Connection) -> None:
        assert busy.acquire(blocking=False)
        _add(str(len(_names(connection))))(connection)
        busy.release()

    await asyncio.gather(*(database.run(alone) for _ in range(50)))
    assert len(await database.run(_names)) == 50


@pytest.mark.parametrize(
    "content",
    [
        b"no database at all, but long enough to have a header" * 9,
        b"SQLite format 3\0" + b"x" * 900,
    ],
)
async def test_a_damaged_file_is_left_alone_and_named(database: Database, content: bytes) -> None:
    database.path.parent.mkdir(parents=True)
    database.path.write_bytes(content)
    for _ in range(2):
        with pytest.raises(VrError) as caught:
            await database.run(_names)
        assert (caught.value.code, caught.value.category) == ("UNAVAILABLE", "STATE_DAMAGED")
        assert "items.db is damaged" in caught.value.message
        assert f"restore {database.path} from a backup" in caught.value.hint
        assert "move it away, with its -wal and -shm" in caught.value.hint
    assert database.path.read_bytes() == content


async def test_of_a_damaged_journal_it_is_said_how_its_records_are_saved(tmp_path: Path) -> None:
    with closing(Database(tmp_path / "journal.db", SCHEMA)) as journal:
        journal.path.write_bytes(b"no database at all" * 99)
        with pytest.raises(VrError) as caught:
            await journal.run(_names)
    assert "`vr doctor` then names the command" in caught.value.hint
    assert "to start a new one" not in caught.value.hint


def test_a_disposable_damaged_file_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "items.db"
    path.write_bytes(b"no database at all" * 99)
    with closing(Database(path, SCHEMA, disposable=True)) as database:
        database.run_blocking(_add("a"))
        assert database.run_blocking(_names) == ["a"]
    (aside,) = tmp_path.glob("items.db.damaged-*")
    assert aside.read_bytes() == b"no database at all" * 99


@pytest.mark.parametrize("disposable", [False, True])
async def test_a_folder_that_cannot_be_made_is_a_typed_error(
    tmp_path: Path, disposable: bool
) -> None:
    (tmp_path / "file").write_text("in the way")
    path = tmp_path / "file" / "items.db"
    with closing(Database(path, SCHEMA, disposable=disposable)) as database:
        for _ in range(2):
            with pytest.raises(VrError) as caught:
                await database.run(_names)
            assert caught.value.code == "UNAVAILABLE"
            assert caught.value.message.endswith(f"{path.parent} is in the place of a folder.")
            assert str(path.parent) in caught.value.hint


async def test_a_folder_in_the_place_of_the_file_is_a_typed_error(database: Database) -> None:
    database.path.mkdir(parents=True)
    with pytest.raises(VrError) as caught:
        await database.run(_names)
    assert caught.value.code == "UNAVAILABLE"


OPENER = """
import pathlib, sqlite3, sys
from vr_kernel.storage.database import Database

def add(connection):
    connection.execute("INSERT INTO item VALUES (?)", (sys.argv[1],))

print("ready", flush=True)
for line in sys.stdin:
    database = Database(pathlib.Path(line.strip()), sys.argv[2], synchronous="FULL")
    try:
        database.run_blocking(add)
        print("ok", flush=True)
    except Exception as error:
        print(repr(error), flush=True)
    database.close()
"""


def test_processes_that_open_a_new_file_at_once_all_get_in(tmp_path: Path) -> None:
    openers = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, str(number), SCHEMA],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    assert [opener.stdout.readline() for opener in openers] == ["ready\n"] * 4
    for attempt in range(60):
        path = tmp_path / f"{attempt}.db"
        for opener in openers:
            opener.stdin.write(f"{path}\n")
            opener.stdin.flush()
        assert [opener.stdout.readline() for opener in openers] == ["ok\n"] * 4
        with closing(sqlite3.connect(path)) as connection:
            assert _names(connection) == ["0", "1", "2", "3"]
    for opener in openers:
        opener.communicate()
        assert opener.returncode == 0


FULL_DISK = """
import pathlib, resource, sys
from vr_kernel.storage.database import Database
from vr_kernel.errors import VrError

database = Database(pathlib.Path(sys.argv[1]), sys.argv[2], synchronous="FULL")

def add(name):
    database.run_blocking(lambda c: c.execute("INSERT INTO item VALUES (?)", (name,)))

add("before")
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
for number in range(3):
    try:
        add(str(number) * 200_000)
    except VrError as error:
        print(error.code)
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
add("later")
print(database.run_blocking(lambda c: c.execute("SELECT name FROM item").fetchall()))
database.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file size limit to set")
def test_a_full_disk_is_a_typed_error_and_passes(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-B", "-c", FULL_DISK, str(tmp_path / "items.db"), SCHEMA],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["UNAVAILABLE"] * 3 + ["[('before',), ('later',)]"]
