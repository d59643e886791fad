"""Processes that make one call each, and die during it at a given moment.

Run as a program with a JSON object of plugins, it imports them, and then forks for each order, a
line of its stdin; it answers with a line on how the fork ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

from vr_kernel.config.config import load_config
from vr_kernel.kernel import Kernel

ARRIVES = "data_received"
"""The name of the function that receives data from a socket."""


class Death:
    """Kills this process a number of function calls after data came over a socket.

    Args:
        after: the number of arrivals before; 0 for never.
        calls: function calls in the main thread after that arrival.
    """

    def __init__(self, after: int, calls: int) -> None:
        self.arrived = 0
        self._after = after
        self._left = calls

    def watch(self, frame: FrameType, event: str, _given: object) -> None:
        """A profiler's hook."""
        if event != "call":
            return
        if frame.f_code.co_name == ARRIVES:
            self.arrived += 1
        if self._after and self.arrived >= self._after:
            if self._left == 0:
                die()
            self._left -= 1


def die() -> None:
    """End at once, as by SIGKILL from outside."""
    os.kill(os.getpid(), signal.SIGKILL)


async def obey(order: Mapping[str, Any], plugins: Mapping[str, object]) -> dict[str, Any]:
    """Make the call of an order, or wait for its job; die during it if the order says so."""
    folder = Path(order["folder"])
    config = load_config(order["variables"], order["flags"], folder)
    death = Death(order["after"], order["calls"])
    async with Kernel.open(config, plugins, roots=[folder]) as kernel:
        kernel.services.jobs.most_runs = 1000  # type: ignore[attr-defined]  # killed again and again
        sys.setprofile(death.watch)
        try:
            outcome = await _outcome(kernel, order)
        finally:
            sys.setprofile(None)
        if order["after"]:
            die()
    return {**outcome, "arrived": death.arrived}


async def _outcome(kernel: Kernel, order: Mapping[str, Any]) -> dict[str, Any]:
    if order["job"]:
        job = await kernel.services.jobs.wait(order["job"], kernel.identity.principal, 60)
        return {"state": job.state, "error": job.error, "data": job.result}
    ended = await kernel.run(order["tool"], order["arguments"])
    error = ended.error and ended.error.as_dict(ended.call_id)
    return {"state": "failed" if error else "done", "error": error, "data": ended.data}


def main(plugins: Mapping[str, object]) -> None:
    """Fork this process for each order."""
    for line in sys.stdin:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            os.dup2(2, 1)
            told = asyncio.run(obey(json.loads(line), plugins))
            with os.fdopen(writing, "w") as answer:
                answer.write(json.dumps([told, [*sys.modules]], default=str))
            os._exit(0)
        os.close(writing)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
        with os.fdopen(reading) as answer:
            told, modules = json.loads(answer.read() or "[null, []]")
        os.waitpid(pid, 0)
        for name in modules:  # so that no fork need import it
            with suppress(ImportError):
                import_module(name)
        sys.stdout.write(f"{json.dumps(told)}\n")
        sys.stdout.flush()


def _plugin(place: str) -> object:
    """The module of that name, or an instance of its class when one is named after a colon."""
    name, _, kind = place.partition(":")
    module = import_module(name)
    return getattr(module, kind)() if kind else module


if __name__ == "__main__":
    main({name: _plugin(place) for name, place in json.loads(sys.argv[1]).items()})
