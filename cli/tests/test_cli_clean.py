"""`vr clean` removes what can be done without, and nothing else."""

from __future__ import annotations

import asyncio
import os
import pty
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from command_fork import FreshVr, run_vr
from command_host import Ended
from ledger_state import ledger_state
from plugin_zoo import Zoo, vr_command
from vr_kernel.calls.result_cache import ResultCache
from vr_kernel.errors import VrError
from vr_kernel.files.artifacts import Artifacts
from vr_kernel.jobs.jobs import JobLedger
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.state import Entry
from vr_kernel.state.sqlite.cache import SqliteCache
from vr_kernel.state.sqlite.journal.journal import SqliteJournal
from vr_kernel.state.sqlite.ledger import open_ledger
from vr_testing.full_disk import fill_up, small_disk

KINDS = ["artifacts", "cache", "downloads", "damaged", "adopted"]
OLD = time.time() - 40 * 86_400
DONE, RUNNING = "1" * 32, "2" * 32


def unexpected(error: VrError) -> None:
    """The cache works in these tests."""
    raise error


class Installation:
    """Folders full of things, and `vr clean` on them."""

    def __init__(self, zoo: Zoo) -> None:
        self.zoo = zoo
        self.state, self.cache = zoo.folder / "state", zoo.folder / "cache"
        self.picture = (
            Artifacts(self.state / "artifacts").add(b"a picture" * 1000, "image/png").path
        )
        self.other = Artifacts(self.state / "artifacts").add(b"a report", "text/markdown").path
        os.utime(self.other, (OLD, OLD))
        asyncio.run(self._fill())
        (self.state / "logs").mkdir()
        (self.cache / "downloads").mkdir()
        self.download = self.write(self.cache / "downloads" / "talk.mp4")
        self.damaged = self.write(self.cache / "results.db.damaged-17")
        self.adopted = self.write(self.state / "gemini.db.adopted")
        os.utime(self.adopted, (OLD, OLD))
        self.kept = [
            self.write(self.state / "refused.db.adopted"),
            self.write(self.state / "journal.db.damaged-17"),
            self.write(self.state / "notes.txt"),
            self.write(self.cache / "downloads" / ".talk.mp4.part"),
            self.write(self.state / "artifacts" / "mine.png"),
            self.write(self.state / "logs" / "server.log"),
            self.write(self.state / "knowledge.db"),
            self.write(self.state / "usage.db"),
        ]

    async def _fill(self) -> None:
        journal = SqliteJournal(self.state / "journal.db")
        entry = Entry("Notes", "k", {"text": f"see {self.picture}"})
        await journal.commit([entry], workspace="default", provenance={})
        journal.close()
        results = self.results()
        await results.set("names-picture", {"path": str(self.picture)}, tool="t")
        await results.set("names-nothing", {"text": "x"}, tool="t")
        results.close()
        ledger = open_ledger(self.state / "jobs.db")
        leases = LedgerLeases(ledger_state(ledger, lease_s=20))
        jobs = JobLedger(leases.state, leases)
        for job in (DONE, RUNNING):
            await jobs.table.create(
                id=job, tool="t", arguments={}, principal="me", workspace="default"
            )
        lease = await jobs.begin(DONE)
        assert lease
        await jobs.finish(DONE, lease, result={"text": "done"}, state="done")
        await leases.aclose()
        ledger.close()

    async def remember(self, key: str, picture: Path) -> None:
        """Cache a result that names a file."""
        results = self.results()
        await results.set(key, {"path": str(picture)}, tool="t")
        results.close()

    def write(self, path: Path) -> Path:
        """A file of 100 bytes."""
        path.write_bytes(b"x" * 100)
        return path

    def results(self) -> ResultCache:
        """The result cache."""
        return ResultCache(SqliteCache(self.cache / "results.db"), ttl_days=30, warn=unexpected)

    def cached(self) -> set[str]:
        """Return the names of the two results that are still in the cache."""

        async def ask() -> set[str]:
            results = self.results()
            found = {k for k in ("names-picture", "names-nothing") if await results.get(k)}
            results.close()
            return found

        return asyncio.run(ask())

    def jobs(self) -> set[str]:
        """Return the ids of the two jobs that are still in the ledger."""

        async def ask() -> set[str]:
            ledger = open_ledger(self.state / "jobs.db")
            state = ledger_state(ledger, lease_s=20)
            jobs = await state.jobs.list("me")
            ledger.close()
            return {job.id for job in jobs}

        return asyncio.run(ask())

    def records(self) -> int:
        """Count the records of the journal."""

        async def ask() -> int:
            journal = SqliteJournal(self.state / "journal.db")
            changes = await journal.changes(0)
            journal.close()
            return len(changes)

        return asyncio.run(ask())


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk."""
    with small_disk(tmp_path / "disk") as folder:
        yield folder


@pytest.fixture
def full(tmp_path: Path) -> Installation:
    """An installation with something of every kind."""
    return Installation(Zoo(tmp_path / "zoo"))


@pytest.fixture
def host(full: Installation) -> FreshVr:
    """Runs command lines there."""
    return FreshVr(full.zoo.environment(), full.zoo.work)


def counts(ended: Ended) -> dict[str, int]:
    """The number of things of each kind that a report names."""
    return {item["kind"]: item["count"] for item in ended.data["items"]}


def test_a_dry_run_shows_all_kinds_and_removes_nothing(full: Installation, host: FreshVr) -> None:
    before = {p: p.stat().st_size for p in full.zoo.folder.rglob("*") if p.is_file()}
    ended = host.run("clean", "--dry-run", "--json")
    assert ended.code == 0
    assert counts(ended) == dict.fromkeys(KINDS, 1) | {"artifacts": 2, "cache": 2}
    assert not ended.data["removed"]
    sizes = {item["kind"]: item["bytes"] for item in ended.data["items"]}
    assert sizes["artifacts"] == 9008
    assert sizes["damaged"] == sizes["downloads"] == 100
    assert ended.data["bytes"] == sum(sizes.values())
    assert all(before[p] == p.stat().st_size for p in before)


def test_everything_goes_that_can_be_done_without(full: Installation, host: FreshVr) -> None:
    ended = host.run("clean", "--yes", "--json")
    assert (ended.code, ended.data["removed"]) == (0, True)
    assert all(item["removed"] for item in ended.data["items"])
    for gone in (full.picture, full.other, full.download, full.damaged, full.adopted):
        assert not gone.exists()
    assert (full.cached(), full.jobs(), full.records()) == (set(), {DONE, RUNNING}, 1)
    assert all(path.exists() for path in full.kept)
    assert sum(counts(host.run("clean", "--dry-run", "--json")).values()) == 0


def test_a_folder_that_a_killed_download_left_goes(full: Installation, host: FreshVr) -> None:
    left, running = (full.cache / "downloads" / f".{n}.part" for n in ("killed", "running"))
    for folder in (left, running):
        (folder / "inside").mkdir(parents=True)
        full.write(folder / "inside" / "talk.mp4")
    for path in (left / "inside" / "talk.mp4", left / "inside", left, running / "inside", running):
        os.utime(path, (OLD, OLD))
    ended = host.run("clean", "--downloads", "--yes", "--json")
    assert ended.code == 0
    (item,) = ended.data["items"]
    assert (item["count"], item["bytes"]) == (2, 200)
    assert not left.exists()
    assert (running / "inside" / "talk.mp4").exists()


def test_results_that_name_a_removed_artifact_are_forgotten(
    full: Installation, host: FreshVr
) -> None:
    ended = host.run("clean", "--artifacts", "--yes")
    assert ended.code == 0
    assert "Cached results that name them are forgotten" in ended.stdout
    assert not full.picture.exists()
    assert full.cached() == {"names-nothing"}
    assert full.jobs() == {DONE, RUNNING}


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_named_kind_goes(kind: str, full: Installation, host: FreshVr) -> None:
    before = counts(host.run("clean", "--dry-run", "--json"))
    ended = host.run("clean", f"--{kind}", "--yes", "--json")
    assert counts(ended) == {kind: before[kind]}
    after = counts(host.run("clean", "--dry-run", "--json"))
    assert after[kind] == 0
    changed = {name for name in KINDS if after[name] != before[name]} - {kind}
    assert changed <= ({"cache"} if kind == "artifacts" else set())


@pytest.mark.parametrize("options", [["--logs"], ["--jobs"], ["--logs", "--jobs", "--yes"]])
def test_kinds_that_are_gone_are_accepted_without_effect(
    options: list[str], full: Installation, host: FreshVr
) -> None:
    ended = host.run("clean", *options, "--json")
    assert (ended.code, ended.data["items"]) == (0, [])
    assert ended.stderr.startswith("Note: --logs and --jobs have no effect")
    assert full.jobs() == {DONE, RUNNING}
    assert all(path.exists() for path in (*full.kept, full.picture, full.download))


def test_what_is_younger_stays(full: Installation, host: FreshVr) -> None:
    ended = host.run("clean", "--older-than", "30", "--yes", "--json")
    assert counts(ended) == dict.fromkeys(KINDS, 0) | {"artifacts": 1, "adopted": 1}
    assert full.picture.exists()
    assert not full.other.exists()
    assert full.cached() == {"names-picture", "names-nothing"}


def test_nobody_to_ask_means_no(full: Installation) -> None:
    done = run_vr(full.zoo.environment(), full.zoo.work, "clean")
    assert done.code == 2
    assert "--yes" in done.stderr
    assert full.picture.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
@pytest.mark.parametrize(("answer", "there"), [("n", True), ("", True), ("y", False)])
def test_it_asks_on_a_terminal(answer: str, there: bool, full: Installation) -> None:
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen(
            vr_command("clean"),
            env=full.zoo.environment(),
            cwd=full.zoo.work,
            stdin=theirs,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as process:
            os.write(ours, f"{answer}\n".encode())
            _, said = process.communicate(timeout=60)
    finally:
        os.close(ours)
        os.close(theirs)
    assert b"Remove all this?" in said
    assert (process.returncode, full.picture.exists()) == (0, there)


def test_an_empty_installation_is_clean(tmp_path: Path) -> None:
    zoo = Zoo(tmp_path / "zoo")
    host = FreshVr(zoo.environment(), zoo.work)
    ended = host.run("clean")
    assert ended.code == 0
    assert "in all" in ended.stdout
    assert not (zoo.folder / "state").exists()


@pytest.mark.parametrize("days", ["-1", "soon", "nan"])
def test_a_bad_age_is_refused(days: str, full: Installation, host: FreshVr) -> None:
    assert host.run("clean", "--older-than", days, "--yes").code == 2
    assert full.picture.exists()


@pytest.mark.parametrize("name", ["results.db", "jobs.db"])
def test_a_damaged_file_is_no_matter(name: str, full: Installation, host: FreshVr) -> None:
    folder = full.cache if name == "results.db" else full.state
    for suffix in ("", "-wal", "-shm"):
        (folder / f"{name}{suffix}").unlink(missing_ok=True)
    (folder / name).write_bytes(b"no database at all " * 100)
    ended = host.run("clean", "--yes", "--json")
    assert ended.code == 0
    assert not full.picture.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links need a permission there")
def test_links_are_not_followed(full: Installation, host: FreshVr, tmp_path: Path) -> None:
    outside = tmp_path / "outside.png"
    outside.write_bytes(b"mine")
    link = full.state / "artifacts" / f"{'0' * 64}.png"
    link.symlink_to(outside)
    assert host.run("clean", "--yes").code == 0
    assert link.is_symlink()
    assert outside.read_bytes() == b"mine"


@pytest.mark.slow
def test_a_locked_cache_is_reported(full: Installation) -> None:
    program = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('BEGIN EXCLUSIVE'); print('held', flush=True); sys.stdin.read()"
    )
    holder = [sys.executable, "-c", program, str(full.cache / "results.db")]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(holder, **pipes) as process:
        assert process.stdout
        assert process.stdout.readline().strip() == b"held"
        host = FreshVr(full.zoo.environment(), full.zoo.work)
        ended = host.run("clean", "--cache", "--yes", "--json")
        process.kill()
    assert ended.code == 1
    assert "Another process holds results.db" in ended.stderr
    assert full.cached() == {"names-picture", "names-nothing"}


def leave_log(file: Path) -> None:
    """Leave a log of writes beside a database, as a killed process does."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("UPDATE result SET cached_at = cached_at - 1")
        kept = [(path, path.read_bytes()) for path in (file, file.with_name(f"{file.name}-wal"))]
    assert all(content for _, content in kept)
    for path, content in kept:
        path.write_bytes(content)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "count", "cached"),
    [
        ([], 9, set()),
        (["--cache"], 3, set()),
        (["--artifacts"], 3, {"names-nothing"}),
    ],
)
def test_a_full_disk_is_cleaned(
    options: list[str], count: int, cached: set[str], disk: Path
) -> None:
    there = Installation(Zoo(disk / "zoo"))
    film = Artifacts(there.state / "artifacts").add(b"a film" * 100_000, "video/mp4").path
    asyncio.run(there.remember("names-film", film))
    leave_log(there.cache / "results.db")
    fill_up(disk / "hog")
    host = FreshVr(there.zoo.environment(), there.zoo.work)
    before = counts(host.run("clean", *options, "--dry-run", "--json"))
    ended = host.run("clean", *options, "--yes", "--json")
    assert (ended.code, ended.stderr) == (0, "")
    assert before == counts(ended)
    assert sum(before.values()) == count
    assert there.picture.exists() is film.exists() is (options == ["--cache"])
    (disk / "hog").unlink()
    assert there.cached() == cached
    assert there.records() == 1


@pytest.mark.slow
def test_where_nothing_may_be_written_it_says_so(disk: Path) -> None:
    there = Installation(Zoo(disk / "zoo"))
    host = FreshVr(there.zoo.environment(), there.zoo.work)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    shown = host.run("clean", "--dry-run", "--json")
    ended = host.run("clean", "--yes")
    assert shown.code == 0
    assert counts(shown) == dict.fromkeys(KINDS, 1) | {"artifacts": 2, "cache": 2}
    told = ended.stderr.splitlines()
    assert ended.code == 1
    assert len(told) == len(KINDS)
    for line in told:
        assert str(disk) in line
        assert "writ" in line
    assert there.picture.exists()
