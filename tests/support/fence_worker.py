"""Processes that do one call each, and signal themselves at a chosen write of their state.

Run as a program it copies itself for each line of its stdin, as `paid_worker` does. A copy does
the order in the file `order` of its folder, and tells in the pipe `told` at which point it sent
itself the signal, and how its call ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import google.genai  # noqa: F401, TID253 - what is imported here, copies need not import
import paid_plugin
from paid_worker import MORE_RUNS, Nursery, copy_for_each_line
from vr_kernel import Kernel, load_config
from vr_kernel.config.paths import Paths
from vr_kernel.state.call_end import CallEnd, Finished
from vr_kernel.state.finishing import finish_in_order
from vr_kernel.state.sqlite.state import SqliteState

ENDING = ("journal.commit", "cache.put", "jobs.finish", "leases.release")
"""The commits of `finish`, as part and method."""
WRITES = (
    *ENDING,
    "jobs.begin",
    "leases.take",
    "leases.renew",
    "steps.commit",
    "usage.begin",
    "usage.end",
)
"""All that a running job writes."""
FIRST = "before leases.take"
WAIT_S = 60.0


@dataclass(frozen=True)
class Order:
    """A call that a process makes, and where it signals itself.

    Args:
        environ: all of its environment.
        job: the id of the call; without a tool, that of a job which it takes up.
        tool: what it calls.
        arguments: of the call.
        sign: the signal; 0 for none.
        at: the point, counted from 0: there is one before each write, and one after it.
        first: the name of a point instead, where it is passed for the first time.
        ending: counts within `finish` alone.
    """

    environ: Mapping[str, str]
    job: str
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    sign: int = 0
    at: int = -1
    first: str = ""
    ending: bool = False


class Worker:
    """A process that does an order, seen from the test that gave it.

    Args:
        nursery: makes it.
        folder: of the nursery.
        name: of its own folder, below that one.
        order: what it does.
    """

    def __init__(self, nursery: Nursery, folder: Path, name: str, order: Order) -> None:
        own = folder / name
        own.mkdir(parents=True)
        (own / "order").write_text(json.dumps(asdict(order)), "utf-8")
        os.mkfifo(own / "told")
        self.pid = nursery.start(name)
        self._told = (own / "told").open(encoding="utf-8")

    def heard(self) -> Any:
        """The next it tells, in JSON; None when it has ended."""
        line = self._told.readline()
        return json.loads(line) if line else None

    def ended(self) -> dict[str, Any]:
        """Wait for its end, and return what it told last."""
        last: dict[str, Any] = {}
        while (told := self.heard()) is not None:
            last = told
        self._told.close()
        return last


class Points:
    """The points that a process passes, at one of which it signals itself."""

    def __init__(self, order: Order, tell: Callable[[Any], None]) -> None:
        self._order = order
        self._tell = tell
        self.passed: list[str] = []
        self.finishing = 0
        self.writing = 0
        self.begun = order.ending

    def is_one(self, write: str) -> bool:
        """Say if that write has a point before it, and one after."""
        return bool(self.finishing) and write in ENDING if self._order.ending else write in WRITES

    async def take(self, name: str) -> None:
        """Pass a point; those before there is a job to be taken up do not count."""
        self.begun = self.begun or name == FIRST
        if not self.begun:
            return
        self.passed.append(name)
        if self._order.sign and self._is_chosen(name):
            while self.writing:  # noqa: ASYNC110 - who has the lock of a file would hold all up
                await asyncio.sleep(0)
            self._tell({"at": name})
            os.kill(os.getpid(), self._order.sign)

    def _is_chosen(self, name: str) -> bool:
        if self._order.first:
            return name == self._order.first and self.passed.count(name) == 1
        return len(self.passed) == self._order.at + 1


class WatchedPart:
    """A part of a state: all is forwarded to the real one, and each write passes two points."""

    def __init__(self, part: Any, name: str, points: Points) -> None:
        self._part = part
        self._name = name
        self._points = points

    def __getattr__(self, name: str) -> Any:
        found, write = getattr(self._part, name), f"{self._name}.{name}"
        if not iscoroutinefunction(found):
            return found

        async def passed(*values: Any, **named: Any) -> Any:
            is_point = self._points.is_one(write)
            if is_point:
                await self._points.take(f"before {write}")
            self._points.writing += 1
            try:
                result = await found(*values, **named)
            finally:
                self._points.writing -= 1
            if is_point:
                await self._points.take(f"after {write}")
            return result

        return passed


class WatchedState:
    """A SQLite state whose writes pass points."""

    def __init__(self, paths: Paths, lease_s: float, points: Points) -> None:
        self._state = SqliteState(paths, lease_s=lease_s)
        self._points = points

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._state, name)
        watched = {write.split(".")[0] for write in WRITES}
        return WatchedPart(found, name, self._points) if name in watched else found

    def cache(self, workspace: str = "") -> Any:
        """Results of a workspace."""
        return WatchedPart(self._state.cache(workspace), "cache", self._points)

    async def finish(self, end: CallEnd) -> Finished:
        """Write the end of a call, each part through its points."""
        self._points.finishing += 1
        try:
            return await finish_in_order(self, end)
        finally:
            self._points.finishing -= 1


async def work(folder: Path) -> None:
    """Do the order of that folder."""
    order = Order(**json.loads((folder / "order").read_text("utf-8")))
    with (folder / "told").open("w", encoding="utf-8") as pipe:

        def tell(what: Any) -> None:
            pipe.write(f"{json.dumps(what)}\n")
            pipe.flush()

        config = load_config(environ=order.environ, working_folder=folder)
        points = Points(order, tell)
        state: Any = WatchedState(config.paths, config.kernel.lease_s, points)
        async with Kernel.open(config, {"paid": paid_plugin}, roots=[], state=state) as kernel:
            kernel.services.jobs.most_runs = MORE_RUNS
            end = await (called(kernel, order) if order.tool else taken_up(kernel, order))
        tell({**end, "passed": points.passed})


async def called(kernel: Kernel, order: Order) -> dict[str, Any]:
    """Make the call of an order."""
    outcome = await kernel.run(order.tool, order.arguments, call_id=order.job)
    error = outcome.error.category if outcome.error else ""
    return {"result": outcome.data, "error": error}


async def taken_up(kernel: Kernel, order: Order) -> dict[str, Any]:
    """Take the job of an order up."""
    job = await kernel.services.jobs.wait(order.job, kernel.identity.principal, WAIT_S)
    return {"state": job.state, "result": (job.result or {}).get("result"), "error": job.error}


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    copy_for_each_line(Path(sys.argv[1]), work)
