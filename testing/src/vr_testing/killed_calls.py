"""A contract for tools that pay: a call that is killed never pays twice for a committed reply."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

from vr_testing.gemini.faults import Fault
from vr_testing.gemini.request import RecordedRequest
from vr_testing.gemini.server import FakeGemini
from vr_testing.kernels import isolated_variables

Answering = Callable[[RecordedRequest, str], Any]
"""Makes the model's answer to a request; the answer must contain the given word."""
MOMENTS = (0, 250)
"""Numbers of function calls between an arrival and a kill."""


@dataclass(frozen=True)
class PaidCall:
    """A call of a tool that pays, to be repeated in fresh folders.

    Args:
        tool: its name.
        arguments: its arguments. In their texts `{home}` is the folder of the run, and a field name
            in braces is its value in the result of the previous call.
        answer: makes the model's answers.
        settings: by section and key, as in `--set`.
        variables: the environment.
        before: calls that are made once beforehand, each a tool and its arguments.
        resumed: the job is resumed, instead of an equal call being made.
        ordered: each request is sent only after the previous one was answered.
    """

    tool: str
    arguments: Mapping[str, Any]
    answer: Answering
    settings: Mapping[str, object] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    before: Sequence[tuple[str, Mapping[str, Any]]] = ()
    resumed: bool = False
    ordered: bool = True


@dataclass(frozen=True)
class Run:
    """One process that made the call: its requests, in order, and its result if it survived."""

    asked: list[str]
    ended: Mapping[str, Any] | None


class KilledCalls:
    """Makes a call in processes that are killed during it, and in one that survives.

    Args:
        plugins: by name, the module of each.
        folder: empty; below it, in `home`, is the state of one run at a time.
        files: copied into `home` before anything is called.
    """

    def __init__(
        self, plugins: Mapping[str, str], folder: Path, files: Sequence[Path] = ()
    ) -> None:
        self.gemini = FakeGemini()
        self.home = folder / "home"
        self._start = folder / "start"
        self._files = files
        self._known: dict[str, Any] = {}
        self._asked: list[str] = []
        self._said: dict[str, list[str]] = {}
        self._answers = 0
        self._die_at = 0
        self._pid = 0
        self._program = subprocess.Popen(
            [sys.executable, "-m", "vr_testing.killed_process", json.dumps(plugins)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        self.gemini.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._program:
            assert self._program.stdin
            self._program.stdin.close()
        self.gemini.close()

    def check(self, call: PaidCall) -> int:
        """Kill the call at every request and arrival, and make it once more each time.

        Returns how often it was killed. Asserts that no committed reply is paid again, that every
        reply is committed before the next request is sent, that the second call succeeds, and that
        the ledger has the whole bill.
        """
        self._prepare(call)
        whole = self._run(call)
        assert whole.ended, f"{call.tool} did not end"
        assert whole.ended["state"] == "done", whole.ended
        assert whole.asked, f"{call.tool} asked nothing"
        if not call.resumed:
            assert self._run(call).asked == [], f"an equal {call.tool} is paid again"
        kills = [("request", n, 0) for n in range(1, len(whole.asked) + 1)]
        arrivals = range(1, int(whole.ended["arrived"]) + 1)
        kills += [("arrival", n, moment) for n in arrivals for moment in MOMENTS]
        for kind, number, moment in kills:
            self._kill(call, kind, number, moment)
        return len(kills)

    def _kill(self, call: PaidCall, kind: str, number: int, moment: int) -> None:
        at = f"{call.tool}, killed at {kind} {number} + {moment}"
        self._restore()
        books = _books(self.home)
        bill = self.gemini.bill.calls
        if kind == "request":
            self._die_at = number
            died = self._run(call)
            self._die_at = 0
        else:
            died = self._run(call, after=number, calls=moment)
        assert died.ended is None, at
        _outlive_leases(self.home)
        kept = [key for key in died.asked if self._is_committed(key)]
        if kind == "request" and call.ordered:
            assert kept == died.asked[:-1], f"{at}: of {died.asked} only {kept} was committed"
        again = self._run(call)
        assert again.ended, at
        assert again.ended["state"] == "done", (at, again.ended)
        twice = [key for key in again.asked if key in kept]
        assert not twice, f"{at}: paid again though it was committed: {twice}"
        for path in _databases(self.home):
            assert _rows(path, "PRAGMA integrity_check") == [("ok",)], (at, path.name)
        paid = self.gemini.bill.calls - bill
        now = _books(self.home) - books
        assert now["paid"] <= paid <= now.total() - now["free"], (at, now, paid)

    def _prepare(self, call: PaidCall) -> None:
        self.gemini.heal()
        self.gemini.fail(Fault.hang(), when=self._notice, times=None)
        self.gemini.answer(partial(self._answer, call))
        for folder in (self.home, self._start):
            shutil.rmtree(folder, ignore_errors=True)
        self.home.mkdir()
        for file in self._files:
            shutil.copy(file, self.home)
        self._known = {"home": str(self.home)}
        for tool, arguments in call.before:
            earlier = self._order(call, tool, arguments)
            assert earlier.ended, tool
            assert earlier.ended["state"] == "done", earlier.ended
            self._known = {"home": str(self.home), **earlier.ended["data"]}
        shutil.copytree(self.home, self._start)

    def _restore(self) -> None:
        shutil.rmtree(self.home)
        shutil.copytree(self._start, self.home)

    def _run(self, call: PaidCall, **death: int) -> Run:
        job = _open_job(self.home) if call.resumed else ""
        return self._order(call, call.tool, call.arguments, job=job, **death)

    def _order(
        self, call: PaidCall, tool: str, arguments: Mapping[str, Any], **more: str | int
    ) -> Run:
        order = {
            "folder": str(self.home),
            "flags": {name: str(value) for name, value in call.settings.items()},
            "variables": {
                **isolated_variables(self.home),
                "GEMINI_API_KEY": "a-key",
                "GOOGLE_GEMINI_BASE_URL": self.gemini.url,
                **call.variables,
            },
            "tool": tool,
            "arguments": arguments,
            "job": "",
            "after": 0,
            "calls": 0,
            **more,
        }
        self._asked = []
        assert self._program.stdin
        assert self._program.stdout
        line = json.dumps(order)
        for name, value in self._known.items():
            line = line.replace(f"{{{name}}}", str(value))
        self._program.stdin.write(f"{line}\n")
        self._program.stdin.flush()
        self._pid = int(self._program.stdout.readline())
        ended = json.loads(self._program.stdout.readline())
        return Run(self._asked, ended)

    def _notice(self, request: RecordedRequest) -> bool:
        """Count a paid request; kill the process and return True if it has to die at this one."""
        if request.asks_model:
            self._asked.append(_name(request))
            if self._die_at == len(self._asked):
                os.kill(self._pid, signal.SIGKILL)
                return True
        return False

    def _answer(self, call: PaidCall, request: RecordedRequest) -> Any:
        self._answers += 1
        said = self._said.setdefault(_name(request), [])
        said.append(f"731{self._answers:05}")
        return call.answer(request, said[-1])

    def _is_committed(self, key: str) -> bool:
        # The kernel keeps a vector by its text; the provider sends a task prefix before the text.
        embedded = hashlib.sha256(key.rpartition(": ")[2].encode()).hexdigest()
        marks = [embedded, *self._said.get(key, [])]
        return any(mark in _text_of(path) for path in _databases(self.home) for mark in marks)


def _name(request: RecordedRequest) -> str:
    watched = (
        hashlib.sha256(json.dumps(request.media).encode()).hexdigest() if request.media else ""
    )
    return f"{request.action} {watched[:8]}: {request.text}"


def _open_job(home: Path) -> str:
    path = home / "state" / "jobs.db"
    rows = _rows(path, "SELECT id FROM job WHERE state != 'done'") if path.exists() else []
    return str(rows[0][0]) if rows else ""


def _outlive_leases(home: Path) -> None:
    """Expire the leases of a dead process, as happens after some time."""
    path = home / "state" / "jobs.db"
    if path.exists():
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE lease SET expires_at = 0")


def _books(home: Path) -> Counter[str]:
    """Count the attempts in the ledger by how they ended."""
    path = home / "state" / "usage.db"
    rows = _rows(path, "SELECT state FROM attempt") if path.exists() else []
    return Counter(state for (state,) in rows)


def _databases(home: Path) -> list[Path]:
    return sorted([*home.glob("state/**/*.db"), *home.glob("cache/**/*.db")])


def _text_of(path: Path) -> str:
    """Everything that is committed in a database."""
    tables = _rows(path, "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
    return "\n".join(
        value.decode("latin-1") if isinstance(value, bytes) else str(value)
        for (table,) in tables
        for row in _rows(path, f'SELECT * FROM "{table}"')  # noqa: S608 - a name of its own
        for value in row
    )


def _rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()
