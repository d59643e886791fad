"""A process that dies while it takes over the files of an earlier version: the next one goes on."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(os.name == "nt", reason="forks are POSIX"),
]
KILLS = 50
ROWS = {"refused.db": 50, "gemini.db": 60, "sessions.db": 502}
"""Rows that are added to each table of a file; 500 are taken over at a time."""
TESTS = Path(__file__).parents[1]
LARGER = {
    "refused.db": """
        INSERT INTO refused SELECT store, workspace, kind, 'more ' || n.value, reason, tries,
        refused_at FROM refused, n WHERE key = 'refused 0';
    """,
    "gemini.db": """
        INSERT INTO upload SELECT digest, mime || n.value, account, uri || '/' || n.value, name,
        size, expires_at, active FROM upload, n WHERE digest LIKE '0%';
        INSERT INTO context SELECT content || n.value, model, system, account, name || n.value,
        content_id, tokens, expires_at FROM context, n WHERE name LIKE '%1';
        INSERT INTO refusal SELECT content || n.value, model, system, until FROM refusal, n;
    """,
    "sessions.db": """
        INSERT INTO turn SELECT session_id || n.value, number, call_id || n.value, prompt,
        response, model, asked_at FROM turn, session, n
        WHERE session.id = session_id AND title = 'before';
        INSERT INTO session SELECT id || n.value, principal, workspace, video_id, title, address,
        path, digest, duration, description, created_at, last_active, turn_count FROM session, n
        WHERE title = 'before';
    """,
}
"""Statements that add rows like those that are there, one for each number."""


@pytest.fixture
def larger(tmp_path: Path) -> Path:
    """A state folder of the version before, with many rows in each former file."""
    folder = tmp_path / "former"
    with zipfile.ZipFile(TESTS / "data" / "state_of_0_1_worked.zip") as kept:
        kept.extractall(folder)
    for name, statements in LARGER.items():
        with closing(sqlite3.connect(folder / "state" / name)) as connection, connection:
            connection.execute("CREATE TEMP TABLE n (value INTEGER)")
            connection.executemany("INSERT INTO n VALUES (?)", ((it,) for it in range(ROWS[name])))
            connection.executescript(statements)
    return folder


@pytest.fixture
def worker() -> Iterator[subprocess.Popen[str]]:
    program = [sys.executable, str(TESTS / "support" / "takeover_worker.py")]
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def test_what_a_killed_process_began_to_take_over_is_finished(
    larger: Path, worker: subprocess.Popen[str], tmp_path: Path
) -> None:
    chance = random.Random(15)
    whole = _copied(larger, tmp_path, 0)
    calls = _run(worker, whole)
    assert calls is not None
    expected = _kept(whole)
    assert len(expected) > 1500
    killed = number = begun = 0
    while killed < KILLS:
        number += 1
        folder = _copied(larger, tmp_path, number)
        while _run(worker, folder, chance.randrange(1, calls * 3 // 2)) is None:
            killed += 1
            begun += bool(_kept(folder))
        assert _kept(folder) == expected, (number, killed)
        shutil.rmtree(folder)
    assert begun > KILLS // 2


def _copied(larger: Path, tmp_path: Path, number: int) -> Path:
    folder = tmp_path / f"copy{number}"
    shutil.copytree(larger, folder)
    return folder


def _run(worker: subprocess.Popen[str], folder: Path, after: int = 0) -> int | None:
    """Open a folder, and die after so many function calls; returns how many there were."""
    ledger = folder / "state" / "jobs.db"
    with closing(sqlite3.connect(ledger)) as connection, connection:
        connection.execute("UPDATE lease SET expires_at = 0")  # as happens after some time
    environ = {f"VR_{each.upper()}_DIR": str(folder / each) for each in ("state", "cache")}
    environ |= {"HOME": str(folder), "VR_CONFIG_DIR": str(folder / "config")}
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(json.dumps({"environ": environ, "after": after}) + "\n")
    worker.stdin.flush()
    answer: int | None = json.loads(worker.stdout.readline())
    return answer


def _kept(folder: Path) -> set[tuple[Any, ...]]:
    """All rows without their versions, and the former files by their names."""
    state = folder / "state"
    names = {(path.name,) for each in LARGER for path in state.glob(f"{each}*")}
    if not (state / "rows.db").exists():
        return set()
    with closing(sqlite3.connect(state / "rows.db")) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'entry'").fetchone():
            return set()
        rows = connection.execute(
            "SELECT namespace, workspace, principal, key, value, expires_at FROM entry"
        ).fetchall()
    return {*rows, *names} if rows else set()
